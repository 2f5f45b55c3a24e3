# Installs headers, libraries, the CMake package and the pkg-config file.
include(CMakePackageConfigHelpers)

if(NOT SKBUILD)
  install(DIRECTORY include/pubsub DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.hpp")
  install(TARGETS pubsub EXPORT pubsub_targets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
  if(TARGET pubsub_json)
    install(TARGETS pubsub_json EXPORT pubsub_targets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
  endif()
  set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/libpubsub)
  install(EXPORT pubsub_targets NAMESPACE pubsub:: DESTINATION ${package_dir})
  configure_package_config_file(libpubsub-config.cmake.in ${CMAKE_CURRENT_BINARY_DIR}/libpubsub-config.cmake
                                INSTALL_DESTINATION ${package_dir})
  write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/libpubsub-config-version.cmake
                                   COMPATIBILITY SameMinorVersion)
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/libpubsub-config.cmake
                ${CMAKE_CURRENT_BINARY_DIR}/libpubsub-config-version.cmake DESTINATION ${package_dir})
  configure_file(libpubsub.pc.in ${CMAKE_CURRENT_BINARY_DIR}/libpubsub.pc @ONLY)
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/libpubsub.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endif()
