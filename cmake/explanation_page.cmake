# The page of explanation_html(), from its readable files in src/explain/page.

set(page_folder ${PROJECT_SOURCE_DIR}/src/explain/page)
set(page_source ${PROJECT_BINARY_DIR}/explanation_page.cpp)
file(GLOB page_files CONFIGURE_DEPENDS ${page_folder}/*)
add_custom_command(OUTPUT ${page_source}
  COMMAND ${CMAKE_COMMAND} -DFOLDER=${page_folder} -DOUTPUT=${page_source}
    -P ${PROJECT_SOURCE_DIR}/cmake/embed_page.cmake
  DEPENDS ${page_files} ${PROJECT_SOURCE_DIR}/cmake/embed_page.cmake VERBATIM)
target_sources(waybill_base PRIVATE ${page_source})
