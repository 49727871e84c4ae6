# What `cmake --install` gives to others: headers, libopscope.a (every module but the command line and the
# sources), the shared recorder, the program, the CMake package `opscope` and a pkg-config file.
#
# One archive instead of one per module, so that users need not order archives on the link line. It is static because
# the C++ interface consists of std types. The recorder is shared, because a process must have only one.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(objects)
foreach(module IN LISTS opscope_modules)
  list(APPEND objects $<TARGET_OBJECTS:opscope_${module}>)
endforeach()
add_library(opscope STATIC ${objects})
set_target_properties(opscope PROPERTIES LINKER_LANGUAGE CXX)
target_compile_features(opscope INTERFACE cxx_std_20)
target_include_directories(opscope INTERFACE $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
                                             $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_link_libraries(opscope PUBLIC opscope_recorder
                              PRIVATE opscope::dep_zlib opscope::dep_zstd opscope::dep_libdeflate opscope::dep_libmd opscope::dep_xxhash
                                      opscope::dep_simdjson Threads::Threads ${CMAKE_DL_LIBS})
set_target_properties(opscope_recorder PROPERTIES EXPORT_NAME recorder)
set_target_properties(opscope-native PROPERTIES INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}")

# cli.h declares the command line, which libopscope.a does not have.
install(DIRECTORY include/opscope DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development PATTERN cli.h EXCLUDE)
install(TARGETS opscope EXPORT opscope-library ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development)
install(TARGETS opscope_recorder EXPORT opscope-recorder
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library NAMELINK_COMPONENT development)
install(TARGETS opscope-native RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT program)

# The program writes its own manual and completion, so they cannot differ from its options.
set(manual ${PROJECT_BINARY_DIR}/manual)
add_custom_command(
  OUTPUT ${manual}/opscope.1 ${manual}/opscope ${manual}/_opscope ${manual}/opscope.fish
  COMMAND ${CMAKE_COMMAND} -E make_directory ${manual}
  COMMAND opscope-native man > ${manual}/opscope.1
  COMMAND opscope-native completion bash > ${manual}/opscope
  COMMAND opscope-native completion zsh > ${manual}/_opscope
  COMMAND opscope-native completion fish > ${manual}/opscope.fish
  VERBATIM)
add_custom_target(opscope-manual ALL DEPENDS ${manual}/opscope.1)
install(FILES ${manual}/opscope.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT program)
install(FILES ${manual}/opscope DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions COMPONENT program)
install(FILES ${manual}/_opscope DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions COMPONENT program)
install(FILES ${manual}/opscope.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d COMPONENT program)

set(package ${CMAKE_INSTALL_LIBDIR}/cmake/opscope)
# Two export sets, so that a project that links only the recorder needs no third-party library.
foreach(part IN ITEMS library recorder)
  install(EXPORT opscope-${part} NAMESPACE opscope:: DESTINATION ${package} COMPONENT development)
endforeach()
configure_package_config_file(cmake/opscope-config.cmake.in ${PROJECT_BINARY_DIR}/opscope-config.cmake
                              INSTALL_DESTINATION ${package})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/opscope-config-version.cmake COMPATIBILITY SameMinorVersion)
configure_file(cmake/opscope.pc.in ${PROJECT_BINARY_DIR}/opscope.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/opscope-config.cmake ${PROJECT_BINARY_DIR}/opscope-config-version.cmake
        DESTINATION ${package} COMPONENT development)
install(FILES ${PROJECT_BINARY_DIR}/opscope.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT development)
