# Two ways to install. A wheel takes the package, the extension and the command; C++
# programs take headers, static libraries and `find_package(waybill)`.

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
