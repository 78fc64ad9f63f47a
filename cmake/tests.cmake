# One GoogleTest executable of tests/<layer of the core>/*.cpp. A file there with its own
# main() is a separate tool, which is linked with the helpers of its folder.

set(test_sources)
foreach(layer base wire bytecode format verify trust values report diff parts explain)
  file(GLOB found CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/${layer}/*.cpp)
  set(tools)
  set(helpers)
  foreach(source IN LISTS found)
    file(STRINGS ${source} has_main REGEX "^int main\\(" LIMIT_COUNT 1)
    if(has_main)
      list(APPEND tools ${source})
    elseif(NOT source MATCHES "_test\\.cpp$")
      list(APPEND helpers ${source})
    endif()
  endforeach()
  foreach(source IN LISTS tools)
    get_filename_component(tool ${source} NAME_WE)
    waybill_test_program(${tool} waybill_core ${source} ${helpers})
    list(REMOVE_ITEM found ${source})
  endforeach()
  list(APPEND test_sources ${found})
endforeach()
if(NOT test_sources)
  return()
endif()

find_package(GTest REQUIRED)
waybill_test_program(waybill_tests waybill_core ${test_sources})
# In every build: it is not shipped, and GoogleTest's headers take most of its time.
target_precompile_headers(waybill_tests PRIVATE
  ${PROJECT_SOURCE_DIR}/cmake/precompiled/tests.h)
waybill_unity(waybill_tests)
waybill_headers(waybill_tests PRIVATE nlohmann/json.hpp)
target_link_libraries(waybill_tests PRIVATE GTest::gmock GTest::gtest_main)
# msgpack-c frees its zones in a way that GCC misreads when it inlines.
target_compile_options(waybill_tests PRIVATE -Wno-mismatched-new-delete)
target_compile_definitions(waybill_tests PRIVATE
  WAYBILL_TESTS_DIR="${PROJECT_SOURCE_DIR}/tests")

waybill_add_tests(waybill_tests 8)

# tests/faults replaces operator new, so it is an executable of its own.
file(GLOB fault_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/faults/*.cpp)
waybill_test_program(waybill_faults waybill_core
  ${fault_sources} ${PROJECT_SOURCE_DIR}/tests/bytecode/code_file.cpp)
target_link_libraries(waybill_faults PRIVATE GTest::gtest_main)
# Clang declares, and so exports, operator delete with a size only with this option.
target_compile_options(waybill_faults PRIVATE
  -Wno-mismatched-new-delete -fsized-deallocation)
target_compile_definitions(waybill_faults PRIVATE
  WAYBILL_TESTS_DIR="${PROJECT_SOURCE_DIR}/tests")
waybill_add_tests(waybill_faults 2)

# Prints a page, for tests/browser; .ci/browser builds it.
waybill_test_program(explanation_page waybill_core
  ${PROJECT_SOURCE_DIR}/tests/browser/explanation_page.cpp)
set_target_properties(explanation_page PROPERTIES EXCLUDE_FROM_ALL ON)
