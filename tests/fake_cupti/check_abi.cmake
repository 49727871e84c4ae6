# Parses abi_check_*.cc against NVIDIA's headers: those of the folders that the environment variable
# OPSCOPE_CUPTI_INCLUDE names (colons between them), else those of the toolkits installed in /usr/local.
#   cmake -DCXX=COMPILER -DSOURCE=PROJECT -P check_abi.cmake
if(DEFINED ENV{OPSCOPE_CUPTI_INCLUDE})
  string(REPLACE ":" ";" folders "$ENV{OPSCOPE_CUPTI_INCLUDE}")
else()
  file(GLOB headers /usr/local/cuda-*/include/cupti_activity.h /usr/local/cuda-*/extras/CUPTI/include/cupti_activity.h)
  list(TRANSFORM headers REPLACE "/cupti_activity.h$" "" OUTPUT_VARIABLE folders)
endif()
if(NOT folders)
  message("skipped: OPSCOPE_CUPTI_INCLUDE names no folder with CUPTI's headers, and no toolkit is installed")
  return()
endif()
file(GLOB checks ${CMAKE_CURRENT_LIST_DIR}/abi_check_*.cc)
foreach(folder IN LISTS folders)
  if(NOT EXISTS ${folder}/cupti_activity.h)
    message(FATAL_ERROR "${folder} has no cupti_activity.h")
  endif()
  file(STRINGS ${folder}/cupti_version.h version REGEX "define CUPTI_API_VERSION")
  foreach(check IN LISTS checks)
    # As system headers: their own deprecation warnings are none of ours.
    execute_process(COMMAND ${CXX} -std=c++20 -fsyntax-only -Wno-invalid-offsetof -I${SOURCE}/src -I${CMAKE_CURRENT_LIST_DIR}
                            -isystem ${CMAKE_CURRENT_LIST_DIR}/driver_types -isystem ${folder} ${check}
                    RESULT_VARIABLE failed ERROR_VARIABLE errors)
    if(failed)
      message(FATAL_ERROR "${check} against ${folder}: ${errors}")
    endif()
  endforeach()
  message("agrees: ${version} in ${folder}")
endforeach()
