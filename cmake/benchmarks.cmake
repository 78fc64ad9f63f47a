# benchmarks/bench_*.cpp: one Google Benchmark executable each, without Python.

find_package(benchmark QUIET)
file(GLOB benchmarks CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/benchmarks/bench_*.cpp)
if(NOT benchmark_FOUND)
  message(STATUS "Google Benchmark not found: no C++ benchmarks")
  return()
endif()

foreach(source IN LISTS benchmarks)
  get_filename_component(target ${source} NAME_WE)
  waybill_executable(${target} waybill_core ${source})
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/src)
  waybill_headers(${target} PRIVATE msgpack.hpp xxhash.h)
  target_link_libraries(${target} PRIVATE benchmark::benchmark_main)
  waybill_link_for_people(${target})
endforeach()
