# fuzz/fuzz_<name>.cpp is a libFuzzer harness with WAYBILL_FUZZ, and everywhere else a
# test, replay_<name>, over fuzz/corpus/<name> and fuzz/regressions/<name>.

file(GLOB harnesses CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/fuzz/fuzz_*.cpp)
file(GLOB replay_main CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/fuzz/replay_main.cpp)

foreach(source IN LISTS harnesses)
  get_filename_component(harness ${source} NAME_WE)
  string(REGEX REPLACE "^fuzz_" "" name ${harness})
  if(WAYBILL_FUZZ)
    set(target ${harness})
    waybill_executable(${target} waybill_core ${source})
    target_link_options(${target} PRIVATE -fsanitize=fuzzer)
  elseif(replay_main)
    set(target replay_${name})
    waybill_executable(${target} waybill_core ${source} ${replay_main})
    file(GLOB inputs LIST_DIRECTORIES true CONFIGURE_DEPENDS
      ${PROJECT_SOURCE_DIR}/fuzz/corpus/${name}
      ${PROJECT_SOURCE_DIR}/fuzz/regressions/${name})
    if(inputs)
      add_test(NAME ${target} COMMAND ${target} ${inputs})
    endif()
  else()
    continue()
  endif()
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/src)
  waybill_headers(${target} PRIVATE msgpack.hpp xxhash.h)
endforeach()
