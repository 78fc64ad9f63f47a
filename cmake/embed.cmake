# waybill_embed(<target>): links an executable with the Python of this build, so that it
# can start one. WAYBILL_CAN_EMBED tells whether there is a Python for it.

find_package(Python 3.11 QUIET
  COMPONENTS Interpreter Development.Module Development.Embed)
set(WAYBILL_CAN_EMBED OFF)
if(TARGET Python::Python AND TARGET waybill_python)
  set(WAYBILL_CAN_EMBED ON)
endif()

function(waybill_embed target)
  target_link_libraries(${target} PRIVATE waybill_python Python::Python)
  # Modules of the standard library look for Python's functions in the executable.
  set_target_properties(${target} PROPERTIES ENABLE_EXPORTS ON)
  target_compile_definitions(${target} PRIVATE
    WAYBILL_PYTHON_EXECUTABLE="${Python_EXECUTABLE}")
endfunction()
