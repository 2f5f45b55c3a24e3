# Installs headers, libraries, the CMake package and the pkg-config files. The result can be moved.
include(CMakePackageConfigHelpers)

if(NOT SKBUILD)
  install(DIRECTORY include/pubsub DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.hpp")
  install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
  set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/libpubsub)

  # One export set a component: the core's users do without what a component needs.
  install(TARGETS pubsub EXPORT pubsub_targets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
  install(EXPORT pubsub_targets NAMESPACE pubsub:: DESTINATION ${package_dir})
  if(TARGET pubsub_json)
    install(TARGETS pubsub_json EXPORT pubsub_json_targets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
    install(EXPORT pubsub_json_targets NAMESPACE pubsub:: DESTINATION ${package_dir})
  endif()

  configure_package_config_file(libpubsub-config.cmake.in ${CMAKE_CURRENT_BINARY_DIR}/libpubsub-config.cmake
                                INSTALL_DESTINATION ${package_dir})
  write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/libpubsub-config-version.cmake
                                   COMPATIBILITY SameMinorVersion)
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/libpubsub-config.cmake
                ${CMAKE_CURRENT_BINARY_DIR}/libpubsub-config-version.cmake DESTINATION ${package_dir})

  # pkg-config finds the prefix from where the .pc file lies, unless a folder was fixed by whoever configured.
  set(pc_prefix ${CMAKE_INSTALL_PREFIX})
  set(pc_libdir ${CMAKE_INSTALL_FULL_LIBDIR})
  set(pc_includedir ${CMAKE_INSTALL_FULL_INCLUDEDIR})
  if(NOT IS_ABSOLUTE "${CMAKE_INSTALL_LIBDIR}" AND NOT IS_ABSOLUTE "${CMAKE_INSTALL_INCLUDEDIR}")
    file(RELATIVE_PATH up /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
    string(REGEX REPLACE "/$" "" up "${up}")
    set(pc_prefix "\${pcfiledir}/${up}")
    set(pc_libdir "\${prefix}/${CMAKE_INSTALL_LIBDIR}")
    set(pc_includedir "\${prefix}/${CMAKE_INSTALL_INCLUDEDIR}")
  endif()
  configure_file(libpubsub.pc.in ${CMAKE_CURRENT_BINARY_DIR}/libpubsub.pc @ONLY)
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/libpubsub.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
  if(TARGET pubsub_json)
    configure_file(libpubsub-json.pc.in ${CMAKE_CURRENT_BINARY_DIR}/libpubsub-json.pc @ONLY)
    install(FILES ${CMAKE_CURRENT_BINARY_DIR}/libpubsub-json.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
  endif()
endif()
