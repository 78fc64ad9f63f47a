# tests/threads: an executable of its own, the only C++ tests of waybill::core that run with
# the thread sanitizer.

find_package(GTest REQUIRED)
find_package(Threads REQUIRED)
file(GLOB thread_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/threads/*.cpp)
waybill_test_program(waybill_thread_tests waybill_core ${thread_sources})
target_link_libraries(waybill_thread_tests PRIVATE GTest::gtest_main Threads::Threads)
waybill_add_tests(waybill_thread_tests 1)
