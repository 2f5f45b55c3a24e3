# Installs headers, libraries, the CMake package and the pkg-config files. The result can be moved. Install components:
# `runtime` is what programs need to run, `cluster` what members of Zeek clusters need beside that and `bridge` what bridges to
# engines do, `dev` what it takes to build them.
# SPDX-License-Identifier: BSD-3-Clause
if(SKBUILD)
  return()
endif()
include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/libpubsub)
install(DIRECTORY include/pubsub DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT dev FILES_MATCHING PATTERN "*.hpp")
if(NOT PUBSUB_DEBIAN_PACKAGES) # where it is the file copyright of each package
  install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT dev)
endif()

# pkg-config finds the prefix from where the .pc file lies, unless the configuration fixes a folder. What belongs
# to the system is not moved, and its folders are left out of the flags only where they are spelled as usual.
set(pc_prefix ${CMAKE_INSTALL_PREFIX})
set(pc_libdir ${CMAKE_INSTALL_FULL_LIBDIR})
set(pc_includedir ${CMAKE_INSTALL_FULL_INCLUDEDIR})
if(NOT CMAKE_INSTALL_PREFIX STREQUAL "/usr" AND NOT IS_ABSOLUTE "${CMAKE_INSTALL_LIBDIR}" AND NOT IS_ABSOLUTE "${CMAKE_INSTALL_INCLUDEDIR}")
  file(RELATIVE_PATH up /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
  string(REGEX REPLACE "/$" "" up "${up}")
  set(pc_prefix "\${pcfiledir}/${up}")
  set(pc_libdir "\${prefix}/${CMAKE_INSTALL_LIBDIR}")
  set(pc_includedir "\${prefix}/${CMAKE_INSTALL_INCLUDEDIR}")
endif()

# The shared library brings along what it needs; with the static one the program must link that.
set(pc_private "")
if(PUBSUB_BUILD_SHARED)
  set(pc_private ".private")
endif()

# One export set a component and kind: the core's users do without what a component needs, and those of the shared
# library without what the static one needs.
get_property(components DIRECTORY PROPERTY PUBSUB_COMPONENTS)
set(component_calls "")
foreach(name ${components})
  get_property(description DIRECTORY PROPERTY PUBSUB_COMPONENT_${name})
  list(GET description 0 package)
  list(GET description 1 pc_module)
  set(pc_library_needed "")
  if(pc_module MATCHES "^-l") # a library that pkg-config does not know
    set(pc_library_needed " ${pc_module}")
    set(pc_module "")
  endif()
  list(GET description 2 debian)
  list(GET description 3 pc_description)
  list(GET description 4 needs)
  if(name STREQUAL "core")
    set(target pubsub)
    set(pc_name libpubsub)
    set(pc_core "")
  else()
    set(target pubsub_${name})
    set(pc_name libpubsub-${name})
    set(pc_core "Requires: libpubsub = ${PROJECT_VERSION}\n")
    if(needs)
      set(pc_core "Requires: libpubsub = ${PROJECT_VERSION} libpubsub-${needs} = ${PROJECT_VERSION}\n")
    endif()
  endif()
  get_target_property(exported ${target} EXPORT_NAME)
  string(REGEX REPLACE "_static$" "" exported ${exported})
  string(APPEND component_calls "libpubsub_component(${name} ${exported} ${package} \"${debian}\" \"${needs}\")\n")

  install(TARGETS ${target} EXPORT pubsub_${name}_static ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT dev)
  install(EXPORT pubsub_${name}_static NAMESPACE pubsub:: DESTINATION ${package_dir} COMPONENT dev)
  if(PUBSUB_BUILD_SHARED)
    set(deb runtime)
    if(name MATCHES "^(cluster|bridge)$")
      set(deb ${name}) # a package of its own, so that a system with the core alone needs no libzmq, no librdkafka
    endif()
    install(TARGETS ${target}_shared EXPORT pubsub_${name}_shared
            LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT ${deb} NAMELINK_COMPONENT dev)
    install(EXPORT pubsub_${name}_shared NAMESPACE pubsub:: DESTINATION ${package_dir} COMPONENT dev)
  endif()
  set(pc_library ${target})
  configure_file(libpubsub.pc.in ${CMAKE_CURRENT_BINARY_DIR}/${pc_name}.pc @ONLY)
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/${pc_name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT dev)
endforeach()

configure_package_config_file(libpubsub-config.cmake.in ${CMAKE_CURRENT_BINARY_DIR}/libpubsub-config.cmake
                              INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/libpubsub-config-version.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/libpubsub-config.cmake ${PROJECT_SOURCE_DIR}/cmake/Findre2.cmake
              ${PROJECT_SOURCE_DIR}/cmake/FindCAF.cmake ${PROJECT_SOURCE_DIR}/cmake/FindBroker.cmake
              ${PROJECT_SOURCE_DIR}/cmake/FindBridgeEngines.cmake
              ${CMAKE_CURRENT_BINARY_DIR}/libpubsub-config-version.cmake DESTINATION ${package_dir} COMPONENT dev)
