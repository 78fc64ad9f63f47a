# The extension `_core`, and build/site/waybill: links to python_ext/waybill with
# `_core` beside them. With build/site on sys.path Python code is never stale.

file(GLOB module_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/python_ext/*.cpp)
if(NOT module_sources)
  return()
endif()

# Compiled once for `_core` and for all that link the extension (embedding.cmake). What
# makes the linker wrap a name is for `_core` alone.
list(FILTER module_sources EXCLUDE REGEX thread_exit)
add_library(waybill_extension OBJECT ${module_sources})
target_link_libraries(waybill_extension PRIVATE waybill_objects waybill_options)
target_include_directories(waybill_extension PRIVATE ${PROJECT_SOURCE_DIR}/src)
waybill_headers(waybill_extension PRIVATE msgpack.hpp xxhash.h)
waybill_precompile_like(waybill_extension waybill_objects)
waybill_unity(waybill_extension)

python_add_library(_core MODULE WITH_SOABI $<TARGET_OBJECTS:waybill_extension>)
if(UNIX AND NOT APPLE AND Python_VERSION VERSION_LESS 3.14)
  target_sources(_core PRIVATE ${PROJECT_SOURCE_DIR}/python_ext/thread_exit.cpp)
  target_link_options(_core PRIVATE
    -Wl,--wrap=__gxx_personality_v0 -Wl,--wrap=__gcc_personality_v0)
endif()
set(site ${PROJECT_BINARY_DIR}/site)
set_target_properties(_core PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${site}/waybill)
target_include_directories(_core PRIVATE ${PROJECT_SOURCE_DIR}/src)
target_link_libraries(_core PRIVATE waybill_objects waybill_options)
waybill_link_runtime(_core)
if(UNIX AND NOT APPLE)
  target_link_options(_core PRIVATE -Wl,--exclude-libs,ALL -Wl,--gc-sections)
endif()
if(CMAKE_BUILD_TYPE STREQUAL Release AND UNIX AND NOT APPLE)
  target_link_options(_core PRIVATE -Wl,--strip-debug)
endif()

file(GLOB package CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/python_ext/waybill/*)
list(FILTER package EXCLUDE REGEX "__pycache__|\\.so$")
file(MAKE_DIRECTORY ${site}/waybill)
file(GLOB links ${site}/waybill/*)
foreach(link IN LISTS links)
  if(IS_SYMLINK ${link})
    file(REMOVE ${link})
  endif()
endforeach()
foreach(entry IN LISTS package)
  get_filename_component(name ${entry} NAME)
  file(CREATE_LINK ${entry} ${site}/waybill/${name} SYMBOLIC)
endforeach()
