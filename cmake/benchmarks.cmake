# One Google Benchmark executable for each benchmarks/{core,embedded}/bench_*.cpp. Those
# in core/ need no Python; those in embedded/ start one. Built by the target
# `benchmarks` alone.

add_custom_target(benchmarks)
find_package(benchmark QUIET)
if(NOT benchmark_FOUND)
  message(STATUS "Google Benchmark not found: no C++ benchmarks")
  return()
endif()

# waybill_benchmarks(<folder> <library> <helper>...): the executables of a folder; the
# caller gets them as <folder>_targets.
function(waybill_benchmarks folder library)
  file(GLOB found CONFIGURE_DEPENDS
    ${PROJECT_SOURCE_DIR}/benchmarks/${folder}/bench_*.cpp)
  foreach(source IN LISTS found)
    get_filename_component(target ${source} NAME_WE)
    waybill_executable(${target} ${library} ${source} ${ARGN})
    set_target_properties(${target} PROPERTIES EXCLUDE_FROM_ALL ON
      RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/benchmarks)
    target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/src
      ${PROJECT_SOURCE_DIR}/tests ${PROJECT_SOURCE_DIR}/benchmarks)
    waybill_headers(${target} PRIVATE msgpack.hpp xxhash.h)
    target_link_libraries(${target} PRIVATE benchmark::benchmark)
    add_dependencies(benchmarks ${target})
    list(APPEND targets ${target})
  endforeach()
  set(${folder}_targets ${targets} PARENT_SCOPE)
endfunction()

set(tests ${PROJECT_SOURCE_DIR}/tests)
waybill_benchmarks(core waybill_core)
foreach(target IN LISTS core_targets)
  target_link_libraries(${target} PRIVATE benchmark::benchmark_main)
endforeach()
target_sources(bench_walker PRIVATE ${tests}/bytecode/code_file.cpp)
target_compile_definitions(bench_walker PRIVATE WAYBILL_TESTS_DIR="${tests}")

if(NOT WAYBILL_CAN_EMBED)
  message(STATUS "No Python to embed: no benchmarks of what needs one")
  return()
endif()
waybill_benchmarks(embedded waybill_objects
  ${PROJECT_SOURCE_DIR}/benchmarks/embedded/python.cpp)
foreach(target IN LISTS embedded_targets)
  waybill_embed(${target})
  target_compile_definitions(${target} PRIVATE
    WAYBILL_SITE="${PROJECT_BINARY_DIR}/site")
  add_dependencies(${target} _core)
endforeach()
