# CAF, the C++ actor framework, from its own CMake package where that is installed (0.18 and later), otherwise (as in
# Debian 12, 0.17) from its header and library: the target CAF::core.
# SPDX-License-Identifier: BSD-3-Clause
find_package(CAF CONFIG QUIET COMPONENTS core)
if(TARGET CAF::core)
  set_target_properties(CAF::core PROPERTIES IMPORTED_GLOBAL TRUE) # for those who link what stands on it
  set(CAF_FOUND TRUE)
  return()
endif()
find_path(CAF_INCLUDE_DIR caf/actor_system.hpp)
find_library(CAF_CORE_LIBRARY caf_core)
mark_as_advanced(CAF_INCLUDE_DIR CAF_CORE_LIBRARY)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(CAF REQUIRED_VARS CAF_CORE_LIBRARY CAF_INCLUDE_DIR)
if(CAF_FOUND)
  add_library(CAF::core UNKNOWN IMPORTED GLOBAL)
  set_target_properties(CAF::core PROPERTIES IMPORTED_LOCATION ${CAF_CORE_LIBRARY}
                                             INTERFACE_INCLUDE_DIRECTORIES ${CAF_INCLUDE_DIR})
endif()
