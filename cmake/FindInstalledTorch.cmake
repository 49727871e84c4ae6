# Sets OPSCOPE_TORCH_DIR to the torch package that the Python we build for can import, unless the user
# has set it. pip builds in an isolated environment that hides the installed torch, so the interpreter
# is asked without that isolation (-I ignores PYTHONPATH). No torch: the variable stays empty and the
# build goes on without the PyTorch source.
find_package(Python 3.10 REQUIRED COMPONENTS Interpreter Development.Module ${SKBUILD_SABI_COMPONENT})
if(NOT OPSCOPE_TORCH_DIR)
  execute_process(
    COMMAND ${Python_EXECUTABLE} -I -c "import sysconfig; print(sysconfig.get_path('purelib'), sysconfig.get_path('platlib'), sep=';', end='')"
    OUTPUT_VARIABLE opscope_site_packages COMMAND_ERROR_IS_FATAL ANY)
  foreach(folder IN LISTS opscope_site_packages)
    if(EXISTS ${folder}/torch/include/ATen/record_function.h)
      # Not into the cache: the next configuration may be for another Python.
      set(OPSCOPE_TORCH_DIR ${folder}/torch)
      break()
    endif()
  endforeach()
endif()
if(OPSCOPE_TORCH_DIR)
  message(STATUS "opscope: the PyTorch source is built for ${OPSCOPE_TORCH_DIR}")
else()
  message(STATUS "opscope: no torch beside ${Python_EXECUTABLE}; built without the PyTorch source")
endif()
