# Two ways to install. A wheel takes the package, the extension and the command; C++
# programs take headers, static libraries and `find_package(waybill)`.

# The manual page is in the sources; completions are printed by the command itself, at
# the time of installing, so a command for another machine goes without.
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

set(libraries waybill_core)
if(TARGET waybill_python)
  list(APPEND libraries waybill_python)
endif()
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/waybill)
install(TARGETS ${libraries} EXPORT waybill-targets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
if(TARGET waybill)
  install(TARGETS waybill RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/waybill
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
install(EXPORT waybill-targets NAMESPACE waybill:: DESTINATION ${package_dir})

include(CMakePackageConfigHelpers)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/waybill-config-version.cmake
  COMPATIBILITY SameMinorVersion)
configure_file(${PROJECT_SOURCE_DIR}/cmake/waybill-config.cmake.in
  ${PROJECT_BINARY_DIR}/waybill-config.cmake @ONLY)
install(FILES ${PROJECT_SOURCE_DIR}/cmake/FindSodium.cmake
  ${PROJECT_BINARY_DIR}/waybill-config.cmake
  ${PROJECT_BINARY_DIR}/waybill-config-version.cmake DESTINATION ${package_dir})
