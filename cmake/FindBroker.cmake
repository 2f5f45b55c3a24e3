# Broker: from its own CMake package where that is installed (Broker 2), otherwise (as in Debian 12: Broker 1.4, on CAF
# 0.17) from headers and libraries. The target Broker::broker; BROKER_IS_2 says which of the two it is.
# SPDX-License-Identifier: BSD-3-Clause
find_package(Broker CONFIG QUIET)
if(Broker_FOUND AND BROKER_LIBRARY AND TARGET ${BROKER_LIBRARY})
  get_target_property(Broker_headers ${BROKER_LIBRARY} INTERFACE_INCLUDE_DIRECTORIES)
  find_file(BROKER_HUB_HEADER broker/hub.hh PATHS ${Broker_headers} NO_DEFAULT_PATH)
  mark_as_advanced(BROKER_HUB_HEADER)
  if(BROKER_HUB_HEADER)
    set(BROKER_IS_2 TRUE)
    if(NOT TARGET Broker::broker)
      add_library(Broker::broker INTERFACE IMPORTED)
      target_link_libraries(Broker::broker INTERFACE ${BROKER_LIBRARY})
      set_target_properties(Broker::broker PROPERTIES INTERFACE_SYSTEM_INCLUDE_DIRECTORIES "${Broker_headers}")
    endif()
    return()
  endif()
  set(Broker_FOUND FALSE)
  set(Broker_NOT_FOUND_MESSAGE "Broker 2 before 2.8 has no hubs")
  return()
endif()
set(BROKER_IS_2 FALSE)
find_path(BROKER_INCLUDE_DIR broker/mixin/notifier.hh) # which Broker 2 does not have
find_path(CAF_INCLUDE_DIR caf/stream_sink.hpp)
find_library(BROKER_SHARED_LIBRARY broker)
find_library(CAF_CORE_LIBRARY caf_core)
find_library(CAF_IO_LIBRARY caf_io)
mark_as_advanced(BROKER_INCLUDE_DIR CAF_INCLUDE_DIR BROKER_SHARED_LIBRARY CAF_CORE_LIBRARY CAF_IO_LIBRARY)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Broker REQUIRED_VARS BROKER_SHARED_LIBRARY BROKER_INCLUDE_DIR CAF_INCLUDE_DIR
                                  CAF_CORE_LIBRARY CAF_IO_LIBRARY)
if(Broker_FOUND AND NOT TARGET Broker::broker)
  add_library(Broker::broker UNKNOWN IMPORTED)
  set_target_properties(Broker::broker PROPERTIES
    IMPORTED_LOCATION ${BROKER_SHARED_LIBRARY}
    INTERFACE_INCLUDE_DIRECTORIES "${BROKER_INCLUDE_DIR};${CAF_INCLUDE_DIR}"
    INTERFACE_SYSTEM_INCLUDE_DIRECTORIES "${BROKER_INCLUDE_DIR};${CAF_INCLUDE_DIR}"
    INTERFACE_LINK_LIBRARIES "${CAF_CORE_LIBRARY};${CAF_IO_LIBRARY}")
endif()
