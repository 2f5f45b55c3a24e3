# Libraries, and the components that others find by name: each is static and, with PUBSUB_BUILD_SHARED, shared as well,
# made of the same objects.
# SPDX-License-Identifier: BSD-3-Clause

# pubsub_add_library(TARGET NAME OBJECT_LIBRARY...): lib<TARGET>.a is pubsub::<NAME>_static and lib<TARGET>.so, the target
# <TARGET>_shared, is pubsub::<NAME> for others. In this build pubsub::<NAME> is what BUILD_SHARED_LIBS says.
function(pubsub_add_library target name)
  foreach(objects ${ARGN})
    list(APPEND sources $<TARGET_OBJECTS:${objects}>)
  endforeach()
  add_library(${target} STATIC ${sources})
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${name}_static)
  add_library(pubsub::${name}_static ALIAS ${target})
  set(chosen ${target})
  if(PUBSUB_BUILD_SHARED)
    set(symbols ${CMAKE_CURRENT_BINARY_DIR}/exports.map)
    configure_file(exports.map.in ${symbols} @ONLY)
    add_library(${target}_shared SHARED ${sources})
    set_target_properties(${target}_shared PROPERTIES
      EXPORT_NAME ${name} OUTPUT_NAME ${target} LINK_DEPENDS ${symbols} INSTALL_RPATH "$ORIGIN"
      VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
    # Calls within the library stay within it, as they do in a program that links the static one.
    target_link_options(${target}_shared PRIVATE LINKER:--version-script=${symbols} LINKER:-Bsymbolic-functions
                                                 LINKER:-z,defs)
    if(BUILD_SHARED_LIBS)
      set(chosen ${target}_shared)
    endif()
  endif()
  add_library(pubsub::${name} ALIAS ${chosen})
endfunction()

# pubsub_compile_objects(TARGET...): what all objects of the library have in common.
function(pubsub_compile_objects)
  foreach(target ${ARGN})
    target_include_directories(${target} PRIVATE include src)
    target_compile_features(${target} PRIVATE cxx_std_20)
    target_link_libraries(${target} PRIVATE pubsub_flags)
    # An exported function may be inlined here like any other: no program replaces it at run time.
    target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-fno-semantic-interposition>)
    pubsub_compile_together(${target})
  endforeach()
endfunction()

# pubsub_component(NAME PACKAGE package TARGET target MODULE pkg-config-name-or-linker-flag DEBIAN package [NEEDS component] SUMMARY text
#                  SOURCES source...)
# The component NAME: the target pubsub_<NAME>, which others find as pubsub::<NAME> and by pkg-config as libpubsub-<NAME>.
# It needs the core, perhaps another component, described before, and a library, TARGET of the CMake package PACKAGE; where
# that is not found, it is left out.
function(pubsub_component name)
  cmake_parse_arguments(PARSE_ARGV 1 needed "" "PACKAGE;TARGET;MODULE;DEBIAN;NEEDS;SUMMARY" SOURCES)
  find_package(${needed_PACKAGE} QUIET)
  if(NOT ${needed_PACKAGE}_FOUND)
    message(STATUS "${needed_SUMMARY} is left out: ${needed_PACKAGE} was not found (Debian: ${needed_DEBIAN}).")
    return()
  endif()
  add_library(pubsub_${name}_objects OBJECT ${needed_SOURCES})
  pubsub_compile_objects(pubsub_${name}_objects)
  pubsub_compile_for_speed(pubsub_${name}_objects)
  target_link_libraries(pubsub_${name}_objects PRIVATE ${needed_TARGET})
  pubsub_add_library(pubsub_${name} ${name} pubsub_${name}_objects)
  if(needed_NEEDS)
    set(needed_static pubsub_${needed_NEEDS})
    set(needed_shared pubsub_${needed_NEEDS}_shared)
  endif()
  target_link_libraries(pubsub_${name} PUBLIC ${needed_static} pubsub PRIVATE ${needed_TARGET})
  if(PUBSUB_BUILD_SHARED)
    target_link_libraries(pubsub_${name}_shared PUBLIC ${needed_shared} pubsub_shared PRIVATE ${needed_TARGET})
  endif()
  pubsub_describe_component(${name} "${needed_PACKAGE}" "${needed_MODULE}" "${needed_DEBIAN}" "${needed_SUMMARY}"
                            "${needed_NEEDS}")
endfunction()

# For install.cmake: what is installed of this component, and how it is found.
function(pubsub_describe_component name package module debian summary needs)
  set_property(DIRECTORY APPEND PROPERTY PUBSUB_COMPONENTS ${name})
  set_property(DIRECTORY PROPERTY PUBSUB_COMPONENT_${name} "${package}" "${module}" "${debian}" "${summary}" "${needs}")
endfunction()
