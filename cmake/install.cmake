# Two ways to install. A wheel takes the package, the extension and the command; C++
# programs take headers, static libraries and `find_package(waybill)`.

# The manual page is in the sources. The command itself prints the completions when it is
# built; a command for another machine cannot run here, and is installed without them.
if(TARGET waybill)
  if(SKBUILD)
    set(shared_data ${SKBUILD_DATA_DIR}/share)
  else()
    set(shared_data ${CMAKE_INSTALL_DATADIR})
  endif()
  install(FILES ${PROJECT_SOURCE_DIR}/docs/waybill.1 DESTINATION ${shared_data}/man/man1)
  if(NOT CMAKE_CROSSCOMPILING)
    set(completions ${PROJECT_BINARY_DIR}/completions)
    foreach(shell IN ITEMS bash zsh fish)
      add_custom_command(OUTPUT ${completions}/${shell} DEPENDS waybill
        COMMAND ${CMAKE_COMMAND} -E make_directory ${completions}
        COMMAND waybill completion ${shell} > ${completions}/${shell} VERBATIM)
    endforeach()
    add_custom_target(waybill_completions ALL
      DEPENDS ${completions}/bash ${completions}/zsh ${completions}/fish)
    install(FILES ${completions}/bash RENAME waybill
      DESTINATION ${shared_data}/bash-completion/completions)
    install(FILES ${completions}/zsh RENAME _waybill
      DESTINATION ${shared_data}/zsh/site-functions)
    install(FILES ${completions}/fish RENAME waybill.fish
      DESTINATION ${shared_data}/fish/vendor_completions.d)
  endif()
endif()

if(SKBUILD)
  if(TARGET _core)
    install(TARGETS _core LIBRARY DESTINATION waybill)
  endif()
  if(TARGET waybill)
    install(TARGETS waybill RUNTIME DESTINATION ${SKBUILD_SCRIPTS_DIR})
  endif()
  return()
endif()

set(WAYBILL_INSTALLS_PYTHON OFF)
if(TARGET waybill_python)
  set(WAYBILL_INSTALLS_PYTHON ON)
endif()
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/waybill)
# Exported separately, so that projects that use only the core need no Python.
install(TARGETS waybill_core EXPORT waybill-core-targets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(EXPORT waybill-core-targets NAMESPACE waybill:: DESTINATION ${package_dir})
if(WAYBILL_INSTALLS_PYTHON)
  install(TARGETS waybill_objects waybill_python EXPORT waybill-python-targets
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
  install(EXPORT waybill-python-targets NAMESPACE waybill:: DESTINATION ${package_dir})
endif()
if(TARGET waybill)
  install(TARGETS waybill RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/waybill
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")

include(CMakePackageConfigHelpers)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/waybill-config-version.cmake
  COMPATIBILITY SameMinorVersion)
configure_file(${PROJECT_SOURCE_DIR}/cmake/waybill-config.cmake.in
  ${PROJECT_BINARY_DIR}/waybill-config.cmake @ONLY)
install(FILES ${PROJECT_SOURCE_DIR}/cmake/libraries.cmake
  ${PROJECT_BINARY_DIR}/waybill-config.cmake
  ${PROJECT_BINARY_DIR}/waybill-config-version.cmake DESTINATION ${package_dir})

# For builds without CMake: waybill-core.pc, waybill-python.pc.
# Their paths are relative to the files themselves, so the tree can be moved.
file(RELATIVE_PATH waybill_prefix
  ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
set(waybill_prefix "\${pcfiledir}/${waybill_prefix}")
foreach(dir IN ITEMS LIBDIR INCLUDEDIR)
  set(waybill_${dir} "\${prefix}/${CMAKE_INSTALL_${dir}}")
  if(IS_ABSOLUTE "${CMAKE_INSTALL_${dir}}")
    set(waybill_${dir} "${CMAKE_INSTALL_${dir}}")
  endif()
endforeach()
# Where compilers look by themselves, a -I would only change the order.
set(waybill_expected_flags)
if(NOT WAYBILL_DIR_OF_tl_expected_hpp IN_LIST CMAKE_CXX_IMPLICIT_INCLUDE_DIRECTORIES)
  set(waybill_expected_flags " -I${WAYBILL_DIR_OF_tl_expected_hpp}")
endif()
set(pkg_configs waybill-core)
if(WAYBILL_INSTALLS_PYTHON)
  list(APPEND pkg_configs waybill-python)
endif()
foreach(name IN LISTS pkg_configs)
  configure_file(${PROJECT_SOURCE_DIR}/cmake/${name}.pc.in
    ${PROJECT_BINARY_DIR}/${name}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/${name}.pc
    DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endforeach()
