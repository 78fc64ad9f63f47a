# waybill::python: the library for C++ programs that embed Python, with the extension and
# the package in it. WAYBILL_CAN_EMBED is on if a Python to embed was found.

find_package(Python 3.11 QUIET
  COMPONENTS Interpreter Development.Module Development.Embed)
set(WAYBILL_CAN_EMBED OFF)
if(NOT TARGET Python::Python)
  message(STATUS "No Python to embed: no waybill::python")
  return()
endif()
set(WAYBILL_CAN_EMBED ON)

waybill_library(waybill_python embedding)
waybill_precompile_like(waybill_python waybill_objects)
waybill_unity(waybill_python)
waybill_headers(waybill_python PRIVATE msgpack.hpp xxhash.h)
target_link_libraries(waybill_python PUBLIC waybill_objects waybill_core Python::Python)
target_compile_definitions(waybill_python PRIVATE
  WAYBILL_PYTHON_EXECUTABLE="${Python_EXECUTABLE}")
# Modules that Python loads look for its functions in the executable.
target_link_options(waybill_python INTERFACE $<$<PLATFORM_ID:Linux>:-rdynamic>)

target_sources(waybill_python PRIVATE $<TARGET_OBJECTS:waybill_extension>)
target_include_directories(waybill_python PRIVATE ${PROJECT_SOURCE_DIR}/python_ext)

file(GLOB_RECURSE package CONFIGURE_DEPENDS
  ${PROJECT_SOURCE_DIR}/python_ext/waybill/*.py)
set(linked_modules ${PROJECT_BINARY_DIR}/linked_modules.cpp)
add_custom_command(OUTPUT ${linked_modules}
  COMMAND ${Python_EXECUTABLE} -I ${PROJECT_SOURCE_DIR}/cmake/link_package.py
    ${PROJECT_SOURCE_DIR}/python_ext/waybill ${linked_modules}
  DEPENDS ${package} ${PROJECT_SOURCE_DIR}/cmake/link_package.py VERBATIM)
target_sources(waybill_python PRIVATE ${linked_modules})

# waybill_embed(<target>): links an executable with the Python of this build, so that it
# can start one by itself.
function(waybill_embed target)
  target_link_libraries(${target} PRIVATE waybill_objects Python::Python)
  set_target_properties(${target} PROPERTIES ENABLE_EXPORTS ON)
  target_compile_definitions(${target} PRIVATE
    WAYBILL_PYTHON_EXECUTABLE="${Python_EXECUTABLE}")
endfunction()
