# Debian packages, one for each install component; `tools/packages` configures, builds and packs. What belongs to a
# package is said where it is installed: install(... COMPONENT runtime|cluster|bridge|dev|tools|python).
# SPDX-License-Identifier: BSD-3-Clause
set(soversion ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
set(PUBSUB_MAINTAINER "libpubsub packager <packager@libpubsub.invalid>" CACHE STRING "Maintainer of Debian packages")
set(package_maintainer ${PUBSUB_MAINTAINER})
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(package_version ${PROJECT_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE})

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME libpubsub)
set(CPACK_PACKAGE_VENDOR libpubsub)
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "") # each package has its own
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE
    WORLD_READ WORLD_EXECUTE)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_MAINTAINER ${package_maintainer})
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${PROJECT_BINARY_DIR}/libpubsub)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS_POLICY ">=")
set(CPACK_COMPONENTS_ALL runtime dev)
if(TARGET pubsub_cluster_shared)
  list(APPEND CPACK_COMPONENTS_ALL cluster)
endif()
if(TARGET pubsub_bridge_shared)
  list(APPEND CPACK_COMPONENTS_ALL bridge)
endif()
if(TARGET pubsub_tool)
  list(APPEND CPACK_COMPONENTS_ALL tools)
endif()
if(PUBSUB_BUILD_PYTHON)
  list(APPEND CPACK_COMPONENTS_ALL python)
endif()

# pubsub_package(COMPONENT NAME SECTION SUMMARY TEXT)
macro(pubsub_package component name section summary text)
  string(TOUPPER ${component} upper)
  set(CPACK_DEBIAN_${upper}_PACKAGE_NAME ${name})
  set(CPACK_DEBIAN_${upper}_PACKAGE_SECTION ${section})
  set(CPACK_DEBIAN_${upper}_DESCRIPTION "${summary}\n${text}")
  # Policy 12.5 and 12.7: each package says whose it is, and what has changed.
  set(package_folder ${CMAKE_INSTALL_DATADIR}/doc/${name})
  install(FILES ${PROJECT_BINARY_DIR}/changelog.Debian.gz DESTINATION ${package_folder} COMPONENT ${component})
  if(EXISTS ${PROJECT_SOURCE_DIR}/LICENSE)
    install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${package_folder} RENAME copyright COMPONENT ${component})
  endif()
endmacro()

string(TIMESTAMP package_date "%a, %d %b %Y %H:%M:%S +0000" UTC)
configure_file(cmake/debian/changelog.in changelog.Debian @ONLY)
execute_process(COMMAND gzip -9nf ${PROJECT_BINARY_DIR}/changelog.Debian)

# What a package needs that has a program, or library, made with the shared libraries.
set(libraries "libpubsub${soversion} (= ${package_version})")
if(TARGET pubsub_cluster_shared)
  string(APPEND libraries ", libpubsub-cluster${soversion} (= ${package_version})")
endif()
if(TARGET pubsub_bridge_shared)
  string(APPEND libraries ", libpubsub-bridge${soversion} (= ${package_version})")
endif()

set(about "Messages are a topic and a value of Zeek's data model, and pass through\nany number of relays over Zeek Broker's own wire protocol.")
pubsub_package(runtime libpubsub${soversion} libs "publish/subscribe for network monitoring (library)" "${about}")
set(CPACK_DEBIAN_RUNTIME_PACKAGE_CONTROL_EXTRA ${PROJECT_SOURCE_DIR}/cmake/debian/triggers)

set(CPACK_DEBIAN_CLUSTER_PACKAGE_DEPENDS "libpubsub${soversion} (= ${package_version})")
set(CPACK_DEBIAN_CLUSTER_PACKAGE_CONTROL_EXTRA ${PROJECT_SOURCE_DIR}/cmake/debian/triggers)
pubsub_package(cluster libpubsub-cluster${soversion} libs "publish/subscribe for network monitoring (Zeek clusters)"
               "${about}\nMembership of Zeek clusters, with the ZeroMQ backend or over Zeek's WebSocket API.")

set(CPACK_DEBIAN_BRIDGE_PACKAGE_DEPENDS "libpubsub${soversion} (= ${package_version})")
set(CPACK_DEBIAN_BRIDGE_PACKAGE_CONTROL_EXTRA ${PROJECT_SOURCE_DIR}/cmake/debian/triggers)
pubsub_package(bridge libpubsub-bridge${soversion} libs "publish/subscribe for network monitoring (bridges)"
               "${about}\nBridges to Apache Kafka, streams of a NATS server, and streams of Redis.")

# What the static libraries need: each component says its package (libpubsub/CMakeLists.txt).
pubsub_package(dev libpubsub-dev libdevel "publish/subscribe for network monitoring (headers)"
               "${about}\nHeaders, static libraries, and what CMake and pkg-config need.")
set(CPACK_DEBIAN_DEV_PACKAGE_DEPENDS "${libraries}")
get_property(components DIRECTORY libpubsub PROPERTY PUBSUB_COMPONENTS)
foreach(component ${components})
  get_property(description DIRECTORY libpubsub PROPERTY PUBSUB_COMPONENT_${component})
  list(GET description 2 debian)
  string(REPLACE " " ", " debian "${debian}")
  string(APPEND CPACK_DEBIAN_DEV_PACKAGE_DEPENDS ", ${debian}")
endforeach()

pubsub_package(tools libpubsub-tools net "publish/subscribe for network monitoring (commands)"
               "${about}\nThe command pubsub: relay, publisher, subscriber, status and benchmarks.")
if(BUILD_SHARED_LIBS)
  set(CPACK_DEBIAN_TOOLS_PACKAGE_DEPENDS "${libraries}")
endif()

if(PUBSUB_BUILD_PYTHON)
  pubsub_package(python python3-libpubsub python "publish/subscribe for network monitoring (Python)"
                 "${about}\nThe Python package libpubsub.")
  get_directory_property(minor DIRECTORY bindings/python DEFINITION Python_VERSION_MINOR)
  math(EXPR next_minor "${minor} + 1")
  set(CPACK_DEBIAN_PYTHON_PACKAGE_DEPENDS "python3 (>= 3.${minor}), python3 (<< 3.${next_minor})")
  if(BUILD_SHARED_LIBS)
    string(APPEND CPACK_DEBIAN_PYTHON_PACKAGE_DEPENDS ", ${libraries}")
  endif()
  set(CPACK_DEBIAN_PYTHON_PACKAGE_CONTROL_EXTRA ${PROJECT_SOURCE_DIR}/cmake/debian/postinst
      ${PROJECT_SOURCE_DIR}/cmake/debian/prerm)
endif()
include(CPack)
