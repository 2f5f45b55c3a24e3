# The libraries of the engines that pubsub::bridge has bridges to: librdkafka, cnats and hiredis, from their headers and
# libraries, as distributions have them: the target BridgeEngines::all.
# SPDX-License-Identifier: BSD-3-Clause
find_path(RDKAFKA_INCLUDE_DIR librdkafka/rdkafka.h)
find_library(RDKAFKA_LIBRARY rdkafka)
find_path(CNATS_INCLUDE_DIR nats/nats.h)
find_library(CNATS_LIBRARY nats)
find_path(HIREDIS_INCLUDE_DIR hiredis/hiredis.h)
find_library(HIREDIS_LIBRARY hiredis)
mark_as_advanced(RDKAFKA_INCLUDE_DIR RDKAFKA_LIBRARY CNATS_INCLUDE_DIR CNATS_LIBRARY HIREDIS_INCLUDE_DIR HIREDIS_LIBRARY)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(BridgeEngines REQUIRED_VARS RDKAFKA_LIBRARY RDKAFKA_INCLUDE_DIR CNATS_LIBRARY
                                  CNATS_INCLUDE_DIR HIREDIS_LIBRARY HIREDIS_INCLUDE_DIR)
if(BridgeEngines_FOUND AND NOT TARGET BridgeEngines::all)
  add_library(BridgeEngines::all INTERFACE IMPORTED)
  set_target_properties(BridgeEngines::all PROPERTIES
    INTERFACE_INCLUDE_DIRECTORIES "${RDKAFKA_INCLUDE_DIR};${CNATS_INCLUDE_DIR};${HIREDIS_INCLUDE_DIR}"
    INTERFACE_LINK_LIBRARIES "${RDKAFKA_LIBRARY};${CNATS_LIBRARY};${HIREDIS_LIBRARY}")
endif()
