# Sets OPSCOPE_TORCH_DIR to the torch package that the Python we build for can import, unless the user has set it.
# pip builds in an isolated environment whose PYTHONPATH hides the installed packages, so the query runs a second time
# without PYTHONPATH (-E). No torch: the variable stays empty and the build goes on without the PyTorch source.
find_package(Python 3.10 REQUIRED COMPONENTS Interpreter Development.Module ${SKBUILD_SABI_COMPONENT})
foreach(isolation IN ITEMS "" -E)
  if(NOT OPSCOPE_TORCH_DIR)
    # Not into the cache: the next configuration may be for another Python.
    execute_process(COMMAND ${Python_EXECUTABLE} ${isolation} ${CMAKE_CURRENT_LIST_DIR}/installed_torch.py
                    OUTPUT_VARIABLE OPSCOPE_TORCH_DIR)
  endif()
endforeach()
if(OPSCOPE_TORCH_DIR)
  message(STATUS "opscope: the PyTorch source is built for ${OPSCOPE_TORCH_DIR}")
else()
  message(STATUS "opscope: no torch that ${Python_EXECUTABLE} can import; built without the PyTorch source")
endif()
