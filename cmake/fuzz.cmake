# Each fuzz/fuzz_<name>.cpp, and each fuzz/embedded/fuzz_<name>.cpp where a Python can be
# embedded, is a libFuzzer harness fuzz_<name> with WAYBILL_FUZZ; everywhere else it is a
# test, replay_<name>, over fuzz/corpus/<name> and fuzz/regressions/<name>.

set(fuzz ${PROJECT_SOURCE_DIR}/fuzz)

# Compiled once for all harnesses.
if(WAYBILL_FUZZ)
  add_custom_target(harnesses)
else()
  add_library(waybill_replay_main OBJECT ${fuzz}/replay_main.cpp)
  target_link_libraries(waybill_replay_main PRIVATE waybill_options)
endif()

# Programs that replay a few inputs are not optimised, like tests.
function(waybill_replay_options target)
  if(NOT WAYBILL_FUZZ)
    target_compile_options(${target} PRIVATE -O0 -fno-sanitize=undefined)
  endif()
endfunction()

# waybill_harness(<name> <library> <source>...): sets `target`.
function(waybill_harness name library)
  if(WAYBILL_FUZZ)
    set(harness fuzz_${name})
    waybill_executable(${harness} ${library} ${ARGN})
    # Static: only tests share the runtime of the sanitizers with libraries they load.
    target_link_options(${harness} PRIVATE -fsanitize=fuzzer -static-libsan)
    add_dependencies(harnesses ${harness})
  else()
    set(harness replay_${name})
    waybill_executable(${harness} ${library} ${ARGN} $<TARGET_OBJECTS:waybill_replay_main>)
    file(GLOB inputs LIST_DIRECTORIES true CONFIGURE_DEPENDS
      ${fuzz}/corpus/${name} ${fuzz}/regressions/${name})
    if(inputs)
      add_test(NAME ${harness} COMMAND ${harness} ${inputs})
    endif()
  endif()
  target_include_directories(${harness} PRIVATE ${PROJECT_SOURCE_DIR}/src ${fuzz})
  waybill_replay_options(${harness})
  waybill_headers(${harness} PRIVATE msgpack.hpp xxhash.h)
  set(target ${harness} PARENT_SCOPE)
endfunction()

file(GLOB harnesses CONFIGURE_DEPENDS ${fuzz}/fuzz_*.cpp)
foreach(source IN LISTS harnesses)
  get_filename_component(name ${source} NAME_WE)
  string(REGEX REPLACE "^fuzz_" "" name ${name})
  waybill_harness(${name} waybill_core ${source})
endforeach()

if(NOT WAYBILL_CAN_EMBED)
  message(STATUS "No Python to embed: no harnesses that need one")
  return()
endif()

# waybill_embedded_harness(<name> <source>...): a harness with a Python, and with the
# extension linked in. waybill is instrumented; the interpreter need not be.
function(waybill_embedded_harness name)
  waybill_harness(${name} waybill_objects ${ARGN} ${fuzz}/embedded/python.cpp
    ${fuzz}/embedded/memory.cpp $<TARGET_OBJECTS:waybill_extension>)
  waybill_embed(${target})
  target_compile_definitions(${target} PRIVATE
    WAYBILL_FUZZ_FOLDER="${fuzz}/embedded"
    WAYBILL_PACKAGE="${PROJECT_SOURCE_DIR}/python_ext"
    WAYBILL_GOLDEN="${PROJECT_SOURCE_DIR}/tests/golden")
  set(target ${target} PARENT_SCOPE)
endfunction()

waybill_embedded_harness(round_trip ${fuzz}/embedded/fuzz_round_trip.cpp)

set(loads_helpers guard callables sections value_tree generator mutator)
list(TRANSFORM loads_helpers REPLACE "(.+)" "${fuzz}/embedded/\\1.cpp")
# Compiled once for all harnesses that fuzz loads().
add_library(waybill_loads_helpers OBJECT ${loads_helpers})
target_link_libraries(waybill_loads_helpers PRIVATE
  waybill_objects waybill_options Python::Python)
target_include_directories(waybill_loads_helpers PRIVATE
  ${PROJECT_SOURCE_DIR}/src ${fuzz})
waybill_headers(waybill_loads_helpers PRIVATE msgpack.hpp xxhash.h)
waybill_replay_options(waybill_loads_helpers)

# waybill_loads_harness(<name> <options> <may call>): mutated envelopes for waybill.loads
# with these options, spelled as in a call; false if these let no payload call anything.
function(waybill_loads_harness name options may_call)
  waybill_embedded_harness(${name} ${fuzz}/embedded/fuzz_loads.cpp
    $<TARGET_OBJECTS:waybill_loads_helpers>)
  target_compile_definitions(${target} PRIVATE
    WAYBILL_LOADS_OPTIONS="${options}" WAYBILL_MAY_CALL=${may_call})
endfunction()

waybill_loads_harness(loads "" true)
waybill_loads_harness(loads_data "policy=waybill.DATA_ONLY" false)
