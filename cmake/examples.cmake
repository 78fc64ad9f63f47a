# Each folder of docs/examples with a CMakeLists.txt is a project of its own that uses
# an installed waybill; here it is built with this one, into examples/<folder>.

file(GLOB example_lists CONFIGURE_DEPENDS
  ${PROJECT_SOURCE_DIR}/docs/examples/*/CMakeLists.txt)
foreach(list IN LISTS example_lists)
  get_filename_component(folder ${list} DIRECTORY)
  get_filename_component(name ${folder} NAME)
  file(STRINGS ${list} needs_python REGEX "waybill::python" LIMIT_COUNT 1)
  if(NOT needs_python OR TARGET waybill_python)
    add_subdirectory(${folder} ${PROJECT_BINARY_DIR}/examples/${name})
  endif()
endforeach()
