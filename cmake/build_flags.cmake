# Flags every target of the project shares: warnings, sanitizers, ccache, threads; and what keeps a whole
# build short.
# SPDX-License-Identifier: BSD-3-Clause
find_package(Threads REQUIRED)

if(PUBSUB_CCACHE)
  find_program(PUBSUB_CCACHE_PROGRAM ccache)
  if(PUBSUB_CCACHE_PROGRAM)
    set(CMAKE_CXX_COMPILER_LAUNCHER ${PUBSUB_CCACHE_PROGRAM})
  endif()
endif()

add_library(pubsub_flags INTERFACE)
target_compile_options(pubsub_flags INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # GCC 12 warns about overlapping copies inside std::string's operator+ (GCC bug 105651).
  target_compile_options(pubsub_flags INTERFACE -Wno-restrict)
endif()
if(PUBSUB_WERROR)
  target_compile_options(pubsub_flags INTERFACE -Werror)
endif()
if(PUBSUB_SANITIZE)
  add_compile_options(-fsanitize=${PUBSUB_SANITIZE} -fno-omit-frame-pointer -g1 -O1)
  add_link_options(-fsanitize=${PUBSUB_SANITIZE})
  if(PUBSUB_SANITIZE MATCHES "thread" AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    add_compile_options(-Wno-tsan) # Asio's fences, which GCC's sanitizer does not follow
  endif()
  if(PUBSUB_SANITIZE MATCHES "undefined")
    add_compile_options(-fno-sanitize-recover=undefined)
  endif()
endif()
if(SKBUILD)
  # The Python package is carried to other machines. These need as new a standard library as this one, unless the
  # compiler has it as a static library, to put it inside. What nothing calls is left out: std::random_device would
  # make the package depend on glibc 2.36. Python needs one symbol; no program uses the others, and the linker
  # would keep what it takes for others' use.
  include(CheckCXXSourceCompiles)
  set(CMAKE_REQUIRED_LINK_OPTIONS -static-libstdc++)
  check_cxx_source_compiles("#include <string>\nint main(int n, char**) { return std::to_string(n).empty(); }"
                            PUBSUB_STATIC_STANDARD_LIBRARY)
  unset(CMAKE_REQUIRED_LINK_OPTIONS)
  if(PUBSUB_STATIC_STANDARD_LIBRARY)
    add_link_options(-static-libstdc++)
  endif()
  add_link_options(LINKER:--gc-sections LINKER:--version-script=${PROJECT_SOURCE_DIR}/bindings/python/exported_symbols)
endif()
if(PUBSUB_FUZZ)
  # OSS-Fuzz and its like say which engine to link, and bring their own flags in CXXFLAGS.
  set(PUBSUB_FUZZING_ENGINE "$ENV{LIB_FUZZING_ENGINE}" CACHE STRING "What fuzz targets link; libFuzzer if empty")
  if(NOT PUBSUB_FUZZING_ENGINE)
    if(NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang")
      message(FATAL_ERROR "libFuzzer comes with clang: configure with CXX=clang++, or set LIB_FUZZING_ENGINE.")
    endif()
    add_compile_options(-fsanitize=fuzzer-no-link)
    set(PUBSUB_FUZZING_ENGINE -fsanitize=fuzzer)
  endif()
endif()

# pubsub_compile_together(TARGET [N]): sources that share most of their headers are compiled N, or twelve, at a
# time. Names without linkage must then differ within a room; -DPUBSUB_UNITY=OFF compiles each source by itself.
function(pubsub_compile_together target)
  set(at_a_time 12)
  if(ARGN)
    set(at_a_time ${ARGN})
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${PUBSUB_UNITY} UNITY_BUILD_BATCH_SIZE ${at_a_time})
endfunction()

# pubsub_compile_by_folder(TARGET): where a target has many folders, sources of one folder are compiled at once. What is
# compiled together then stays the same whichever components are found.
function(pubsub_compile_by_folder target)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${PUBSUB_UNITY} UNITY_BUILD_MODE GROUP)
  get_target_property(sources ${target} SOURCES)
  foreach(source ${sources})
    get_filename_component(source ${source} ABSOLUTE)
    file(RELATIVE_PATH folder ${CMAKE_CURRENT_SOURCE_DIR} ${source})
    get_filename_component(folder ${folder} DIRECTORY)
    string(MAKE_C_IDENTIFIER "in_${folder}" group)
    set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${group})
  endforeach()
endfunction()

# Code that every message passes is worth all that the compiler can do. The rest runs once for a batch of
# messages or less often, mostly from a cold cache: there -O2 costs nothing, and a seventh less to compile.
string(REPLACE "-O3" "-O2" CMAKE_CXX_FLAGS_RELEASE "${CMAKE_CXX_FLAGS_RELEASE}")
function(pubsub_compile_for_speed)
  foreach(target ${ARGN})
    target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O3>)
  endforeach()
endfunction()

# What formats text for people is compiled already. A Python package is carried to machines that lack it: there each
# source brings its own.
set(PUBSUB_FMT $<IF:$<BOOL:${SKBUILD}>,fmt::fmt-header-only,fmt::fmt>)

# What is compiled once and run once is not worth an optimiser's time: tests, and where sanitizers watch
# the library the programs around it.
function(pubsub_compile_quickly)
  foreach(target ${ARGN})
    if(PUBSUB_SANITIZE)
      target_compile_options(${target} PRIVATE -O0)
    else()
      target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O1>)
    endif()
  endforeach()
endfunction()
