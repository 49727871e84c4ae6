# opscope_module(NAME [SHARED] [COLD] [ONE_UNIT] [DEPS target...] [PRIVATE_DEPS target...] [TEST_DEPS target...])
# Makes the library opscope_NAME from the *.cc of the folder and of its subfolders and, in developer mode, the test
# program NAME_tests from their *_test.cc. What tests of several modules share is *_for_test.cc and *_for_test.h:
# opscope_NAME_for_test, which no product links. A new source file or subfolder needs no change here or in the folder.
# ONE_UNIT: library and tests are compiled as one source each, because a framework's headers are most of the work; the
# precompiled ones do not fit the definitions that those need. Otherwise the sources of a folder are (opscope_join).
# COLD: what it does is done once per command; it is optimised little, to be compiled sooner.
function(opscope_module name)
  cmake_parse_arguments(arg "SHARED;COLD;ONE_UNIT" "" "DEPS;PRIVATE_DEPS;TEST_DEPS" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cc ${CMAKE_CURRENT_SOURCE_DIR}/*/*.cc)
  file(GLOB tests CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*_test.cc ${CMAKE_CURRENT_SOURCE_DIR}/*/*_test.cc)
  file(GLOB for_test CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*_for_test.cc)
  list(REMOVE_ITEM tests ${for_test})
  list(REMOVE_ITEM sources ${tests} ${for_test})
  list(FILTER sources EXCLUDE REGEX "/main\\.cc$")
  if(arg_SHARED)
    add_library(opscope_${name} SHARED ${sources})
  else()
    add_library(opscope_${name} STATIC ${sources})
  endif()
  target_include_directories(opscope_${name} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
                                                    $<INSTALL_INTERFACE:include>
                                             PRIVATE ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(opscope_${name} PUBLIC ${arg_DEPS} PRIVATE ${arg_PRIVATE_DEPS})
  opscope_strict(opscope_${name})
  if(arg_ONE_UNIT)
    set_target_properties(opscope_${name} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 0)
  else()
    opscope_precompiled(opscope_${name} library)
    opscope_join(opscope_${name} ${sources})
  endif()
  if(arg_COLD)
    opscope_optimise_little(opscope_${name})
  endif()
  if(OPSCOPE_DEVELOPER AND for_test)
    add_library(opscope_${name}_for_test STATIC ${for_test})
    target_link_libraries(opscope_${name}_for_test PUBLIC opscope_${name})
    target_include_directories(opscope_${name}_for_test PRIVATE ${PROJECT_SOURCE_DIR}/src)
    opscope_strict(opscope_${name}_for_test)
    opscope_precompiled(opscope_${name}_for_test library)
  endif()
  if(OPSCOPE_DEVELOPER AND tests)
    add_executable(${name}_tests ${tests})
    # Some options of compilers make __FILE__ relative to the build folder, in which no test runs.
    target_compile_definitions(${name}_tests PRIVATE OPSCOPE_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
    target_link_libraries(${name}_tests PRIVATE opscope_${name} ${arg_PRIVATE_DEPS} ${arg_TEST_DEPS})
    opscope_test_program(${name}_tests)
    if(arg_ONE_UNIT)
      set_target_properties(${name}_tests PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 0 DISABLE_PRECOMPILE_HEADERS ON)
    else()
      opscope_join(${name}_tests ${tests})
    endif()
    opscope_discover_tests(${name}_tests ${tests})
  endif()
endfunction()

option(OPSCOPE_JOIN "Compile sources of one folder together" ON)

# opscope_join(TARGET SOURCE...)
# What sources of one folder include is read, and what they make of templates is made, once for all of them: a third of
# the compiler's time. Each is whole all the same: `make release` compiles them one by one and so proves it. Two of one
# folder that have a name in an unnamed namespace may meet, whichever are together: what they mean belongs below both,
# or they need two names.
function(opscope_join target)
  if(NOT OPSCOPE_JOIN)
    return()
  endif()
  set(most 8)  # a change compiles them all
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  set(folders)
  foreach(source ${ARGN})
    get_filename_component(folder ${source} DIRECTORY)
    file(RELATIVE_PATH folder ${PROJECT_SOURCE_DIR} ${folder})
    string(MAKE_C_IDENTIFIER ${folder} folder)
    list(APPEND folders ${folder})
    list(APPEND in_${folder} ${source})
  endforeach()
  list(REMOVE_DUPLICATES folders)
  foreach(folder ${folders})
    list(LENGTH in_${folder} count)
    math(EXPR parts "(${count} + ${most} - 1) / ${most}")
    set(place 0)
    foreach(source ${in_${folder}})
      math(EXPR part "${place} * ${parts} / ${count}")
      math(EXPR place "${place} + 1")
      set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${folder}_${part})
    endforeach()
  endforeach()
endfunction()

# What a program of GoogleTest cases needs beside the libraries that it tests.
function(opscope_test_program target)
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(${target} PRIVATE opscope::dep_gtest)
  opscope_strict(${target})
  opscope_precompiled(${target} program)
  opscope_optimise_little(${target})
endfunction()

function(opscope_optimise_little target)
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O1>)
endfunction()

# Our warnings and sanitizers; users of the library never see them.
function(opscope_strict target)
  if(OPSCOPE_DEVELOPER)
    target_compile_options(${target} PRIVATE -Wall -Wextra -Wshadow -Wconversion $<$<BOOL:${OPSCOPE_WERROR}>:-Werror>)
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
      target_compile_options(${target} PRIVATE -Wno-restrict)  # GCC bug 105651: "a" + std::string at -O3
      if(OPSCOPE_PRECOMPILE)  # of the same kind; the headers of std are no system headers any more there
        target_compile_options(${target} PRIVATE -Wno-stringop-overflow -Wno-array-bounds)
      endif()
    endif()
  endif()
  opscope_sanitize(${target})
endfunction()

function(opscope_sanitize target)
  if(OPSCOPE_FUZZ)  # libFuzzer sees which ways were gone where the code tells it, not in the target's own file alone
    target_compile_options(${target} PRIVATE -fsanitize=fuzzer-no-link)
  endif()
  if(OPSCOPE_SANITIZE)
    target_compile_options(${target} PRIVATE -fsanitize=${OPSCOPE_SANITIZE} -fno-omit-frame-pointer)
    target_link_options(${target} PRIVATE -fsanitize=${OPSCOPE_SANITIZE})
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
      # Wrong with a sanitizer: std::regex, ... The thread sanitizer does not see fences, such as those of torch's headers.
      target_compile_options(${target} PRIVATE -Wno-maybe-uninitialized -Wno-tsan)
    endif()
    if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")  # the tests ask in the way of gcc which sanitizer it is
      string(REGEX MATCH "address|thread" sanitizer ${OPSCOPE_SANITIZE})
      string(TOUPPER "${sanitizer}" sanitizer)
      target_compile_definitions(${target} PRIVATE __SANITIZE_${sanitizer}__)
    endif()
  endif()
endfunction()

if(OPSCOPE_DEVELOPER)
  include(CTest)
  include(GoogleTest)
  set(CMAKE_GTEST_DISCOVER_TESTS_DISCOVERY_MODE PRE_TEST)  # a program that is linked again need not run
endif()

# opscope_discover_tests(TARGET FILE...)
# The suites of a file that asks for OPSCOPE_SOAK have a full size, and with it the label `soak` (`make soak`).
# How long a test may take is said by who runs it: a preset, or tools/run_tests.py.
function(opscope_discover_tests target)
  set(soak)
  foreach(file ${ARGN})
    file(STRINGS ${file} asks REGEX "OPSCOPE_SOAK" LIMIT_COUNT 1)
    if(asks)
      file(STRINGS ${file} cases REGEX "^TEST(_F)?\\(")
      list(TRANSFORM cases REPLACE "^TEST(_F)?\\(([A-Za-z0-9_]+).*" "\\2.*")
      list(APPEND soak ${cases})
    endif()
  endforeach()
  list(REMOVE_DUPLICATES soak)
  list(JOIN soak ":" soak)
  gtest_discover_tests(${target} DISCOVERY_TIMEOUT 120 TEST_FILTER "-${soak}")
  if(soak)
    gtest_discover_tests(${target} DISCOVERY_TIMEOUT 120 TEST_FILTER "${soak}" TEST_LIST ${target}_soak
                         PROPERTIES LABELS soak)
  endif()
endfunction()
