# Headers of others that nearly every source reads, and the Trace, compiled once: half of the time of a small source
# was spent in them. A source still includes what it uses; `make release` builds without them and so proves it.
#
# Two sets: for the libraries, and for the test programs, which are compiled as position-independent executables and
# read GoogleTest. All targets of a set are compiled with the options of the set, or GCC refuses the file.
option(OPSCOPE_PRECOMPILE "Compile common headers once; sources include what they use all the same" ON)

set(opscope_common_headers
  <algorithm> <array> <atomic> <charconv> <cmath> <cstdint> <cstring> <functional> <map> <memory> <optional> <span>
  <string> <string_view> <unordered_map> <utility> <variant> <vector> <opscope/trace.h>)
set(opscope_test_headers
  <filesystem> <fstream> <random> <set> <sstream> <thread> <gtest/gtest.h> <gmock/gmock.h>)

# GCC knows a header of a precompiled one by its bytes, ccache by its preprocessed text: after a change in a comment alone,
# ccache would return the file with the old bytes, and GCC would read the header a second time.
if(CMAKE_CXX_COMPILER_LAUNCHER)
  file(GLOB opscope_headers CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/include/opscope/*.h)
  string(REPLACE ";" ":" opscope_headers "${opscope_headers}")
  set(opscope_header_launcher env "CCACHE_EXTRAFILES=${opscope_headers}" ${CMAKE_CXX_COMPILER_LAUNCHER})
endif()

function(opscope_header_set name)
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/${name}.cc CONTENT "")
  add_library(${name} OBJECT EXCLUDE_FROM_ALL ${PROJECT_BINARY_DIR}/${name}.cc)
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/include)
  target_precompile_headers(${name} PRIVATE ${ARGN})
  set_target_properties(${name} PROPERTIES CXX_COMPILER_LAUNCHER "${opscope_header_launcher}")
  opscope_strict(${name})
endfunction()

# After opscope_strict and opscope_sanitize exist, whose options the sets need.
function(opscope_make_header_sets)
  if(NOT OPSCOPE_PRECOMPILE)
    return()
  endif()
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-fpch-preprocess>)  # so that ccache can tell what a source depends on
  endif()
  opscope_header_set(opscope_library_headers ${opscope_common_headers} <tsl/robin_map.h>)
  target_link_libraries(opscope_library_headers PRIVATE opscope::dep_robin_map)
  if(OPSCOPE_DEVELOPER)
    opscope_header_set(opscope_program_headers ${opscope_common_headers} ${opscope_test_headers})
    target_link_libraries(opscope_program_headers PRIVATE opscope::dep_gtest)
    set_target_properties(opscope_program_headers PROPERTIES POSITION_INDEPENDENT_CODE OFF)
    target_compile_options(opscope_program_headers PRIVATE -fPIE)
  endif()
endfunction()

# opscope_precompiled(TARGET library|program)
function(opscope_precompiled target kind)
  if(OPSCOPE_PRECOMPILE)
    target_precompile_headers(${target} REUSE_FROM opscope_${kind}_headers)
  endif()
endfunction()
