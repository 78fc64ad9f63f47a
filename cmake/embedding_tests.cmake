# tests/embedding starts Pythons of its own.

if(NOT WAYBILL_CAN_EMBED)
  return()
endif()
find_package(GTest REQUIRED)
file(GLOB embedding_sources CONFIGURE_DEPENDS
  ${PROJECT_SOURCE_DIR}/tests/embedding/*.cpp)
waybill_test_program(waybill_embedding_tests waybill_python ${embedding_sources})
waybill_unity(waybill_embedding_tests)
target_link_libraries(waybill_embedding_tests PRIVATE GTest::gmock GTest::gtest_main)
target_compile_definitions(waybill_embedding_tests PRIVATE
  WAYBILL_PACKAGE="${PROJECT_SOURCE_DIR}/python_ext"
  WAYBILL_GOLDEN="${PROJECT_SOURCE_DIR}/tests/golden"
  WAYBILL_PYTHON_LIBRARY="${Python_STDLIB}")
waybill_add_tests(waybill_embedding_tests 2)
