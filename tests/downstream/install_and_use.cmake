# cmake -DBUILD=... -DSOURCE=... -DFOLDER=... -P install_and_use.cmake
# Installs the build into a folder of its own and builds and runs the project beside this file with it, by CMake
# and, for the C program, by pkg-config. LC_ALL, and CMAKE_PREFIX_PATH of the caller, play no part.
file(REMOVE_RECURSE ${FOLDER})
file(MAKE_DIRECTORY ${FOLDER})
function(run)
  execute_process(COMMAND ${ARGV} WORKING_DIRECTORY ${FOLDER} RESULT_VARIABLE status OUTPUT_VARIABLE out ERROR_VARIABLE out)
  if(status)
    message(FATAL_ERROR "downstream: ${ARGV}\n${out}")
  endif()
endfunction()

foreach(component IN ITEMS library development program)
  run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${FOLDER}/prefix --component ${component})
endforeach()
# Moved: what is installed must not name where it was made.
file(RENAME ${FOLDER}/prefix ${FOLDER}/moved)
run(${CMAKE_COMMAND} -S ${SOURCE} -B ${FOLDER}/build -G ${GENERATOR} -DCMAKE_PREFIX_PATH=${FOLDER}/moved
    -DCMAKE_C_COMPILER=${CC} -DCMAKE_CXX_COMPILER=${CXX} -DCMAKE_BUILD_TYPE=Release)
run(${CMAKE_COMMAND} --build ${FOLDER}/build --parallel 2)
run(${CMAKE_CTEST_COMMAND} --test-dir ${FOLDER}/build --output-on-failure --no-tests=error)
run(${FOLDER}/moved/bin/opscope-native summary ${FOLDER}/build/in_c.opscope)

# A run path into a build folder would load what another user has put there.
file(GLOB_RECURSE binaries ${FOLDER}/moved/bin/* ${FOLDER}/moved/*.so*)
foreach(binary IN LISTS binaries)
  execute_process(COMMAND ${READELF} -dW ${binary} OUTPUT_VARIABLE dynamic)
  string(REGEX MATCH "R[UN]*PATH[^\n]*\\[([^]\n]*)\\]" found "${dynamic}")
  if(found AND NOT CMAKE_MATCH_1 MATCHES "^[$]ORIGIN/[^:]*$")
    message(FATAL_ERROR "downstream: ${binary} has the run path ${CMAKE_MATCH_1}")
  endif()
endforeach()

find_program(pkg_config pkg-config)
if(pkg_config)
  file(GLOB_RECURSE file ${FOLDER}/moved/*/opscope.pc)
  get_filename_component(folder ${file} DIRECTORY)
  set(ENV{PKG_CONFIG_PATH} ${folder})
  # pkg-config escapes its paths for a shell that reads them once more.
  run(sh -c "flags=$('${pkg_config}' --cflags --libs opscope) && eval \"'${CC}' -std=c99 -pedantic -Wall -Wextra -Werror '${SOURCE}/in_c.c' -o in_c $flags\"")
  get_filename_component(libraries ${folder} DIRECTORY)
  run(${CMAKE_COMMAND} -E env LD_LIBRARY_PATH=${libraries} ${FOLDER}/in_c in_c.opscope)
endif()
