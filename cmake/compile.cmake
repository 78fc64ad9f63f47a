# How this project compiles: warnings, foreign headers, libraries, executables.

# Objects that several interpreters share are compiled once where ccache is at hand.
find_program(WAYBILL_CCACHE ccache)
if(WAYBILL_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${WAYBILL_CCACHE})
endif()

add_library(waybill_options INTERFACE)
target_compile_options(waybill_options INTERFACE
  -Wall -Wextra -Wshadow -Wconversion -Wno-sign-conversion
  -Wnon-virtual-dtor -Woverloaded-virtual
  $<$<BOOL:${WAYBILL_WERROR}>:-Werror>
  # GCC 12 sees impossible sizes in std::string (bug 105651), and says so of precompiled
  # headers as if they were not the system's.
  $<$<AND:$<CXX_COMPILER_ID:GNU>,$<VERSION_LESS:$<CXX_COMPILER_VERSION>,13>>:-Wno-restrict;-Wno-stringop-overread>
  $<$<AND:$<CXX_COMPILER_ID:GNU>,$<VERSION_LESS:$<CXX_COMPILER_VERSION>,13>,$<BOOL:${WAYBILL_PRECOMPILED}>>:-Wno-array-bounds;-Wno-stringop-overflow>
  # Fat objects serve both ways: the extension is linked with LTO, tests without.
  $<$<AND:$<BOOL:${WAYBILL_LTO}>,$<CXX_COMPILER_ID:GNU>,$<NOT:$<BOOL:$<TARGET_PROPERTY:WAYBILL_QUICK>>>>:-flto=auto;-ffat-lto-objects>)
target_compile_definitions(waybill_options INTERFACE
  MSGPACK_NO_BOOST FMT_HEADER_ONLY)

# waybill_headers(<target> PUBLIC|PRIVATE <header>...): finds header-only libraries.
function(waybill_headers target scope)
  if(NOT TARGET ${target})
    return()
  endif()
  foreach(header IN LISTS ARGN)
    string(MAKE_C_IDENTIFIER "WAYBILL_DIR_OF_${header}" variable)
    find_path(${variable} ${header} REQUIRED)
    mark_as_advanced(${variable})
    target_include_directories(${target} SYSTEM ${scope}
      $<BUILD_INTERFACE:${${variable}}>)
  endforeach()
endfunction()

# waybill_precompile(<target> <header>): parses cmake/precompiled/<header> once for all
# sources of `target`. Only in builds of a checkout (WAYBILL_PRECOMPILED), so that a wheel
# tells when a source does not include what it uses.
function(waybill_precompile target header)
  if(WAYBILL_PRECOMPILED)
    target_precompile_headers(${target} PRIVATE
      ${PROJECT_SOURCE_DIR}/cmake/precompiled/${header})
  endif()
endfunction()

# waybill_precompile_like(<target> <other>): takes the header that `other` has parsed. Both
# are compiled with the same options.
function(waybill_precompile_like target other)
  if(WAYBILL_PRECOMPILED)
    target_precompile_headers(${target} REUSE_FROM ${other})
  endif()
endfunction()

# waybill_unity(<target>): with WAYBILL_UNITY its sources are compiled eight at a time, or
# in groups of the target's own, in two thirds of the time. What is measured and what
# people get is built without.
# "Redefinition" says that two of eight share a local name: rename one, or list it here.
function(waybill_unity target)
  if(WAYBILL_UNITY)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 8)
    if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
      # It takes a source that another includes for a header.
      target_compile_options(${target} PRIVATE -Wno-subobject-linkage)
    endif()
  endif()
endfunction()
set_source_files_properties(
  src/bytecode/line_table.cpp src/diff/payload_diff.cpp src/format/attribute_targets.cpp
  src/python/discovery/node_guards.cpp src/text/json_paint.cpp
  src/verify/reusable_nodes.cpp
  PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)

# waybill_library(<target> <layer>...): a static library of src/<layer>/**.cpp, with
# the alias waybill::<last word of target>.
function(waybill_library target)
  set(sources)
  foreach(layer IN LISTS ARGN)
    file(GLOB_RECURSE found CONFIGURE_DEPENDS
      ${PROJECT_SOURCE_DIR}/src/${layer}/*.cpp)
    list(APPEND sources ${found})
  endforeach()
  if(NOT sources)
    set(sources ${PROJECT_BINARY_DIR}/empty.cpp)
    file(WRITE ${sources} "")
  endif()
  add_library(${target} STATIC ${sources})
  string(REPLACE waybill_ "" short ${target})
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${short})
  add_library(waybill::${short} ALIAS ${target})
  target_compile_features(${target} PUBLIC cxx_std_20)
  target_include_directories(${target}
    PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
           $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>
    PRIVATE ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(${target} PRIVATE $<BUILD_INTERFACE:waybill_options>)
endfunction()

# waybill_imported_core(<file>): waybill::core that another build has made.
function(waybill_imported_core file)
  add_library(waybill_core STATIC IMPORTED GLOBAL)
  set_target_properties(waybill_core PROPERTIES IMPORTED_LOCATION ${file})
  add_library(waybill::core ALIAS waybill_core)
  target_compile_features(waybill_core INTERFACE cxx_std_20)
  target_include_directories(waybill_core INTERFACE ${PROJECT_SOURCE_DIR}/include)
  waybill_headers(waybill_core INTERFACE tl/expected.hpp)
  target_link_libraries(waybill_core INTERFACE waybill::sodium waybill::zstd)
  if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    # It may be another release's, which this one cannot link with LTO.
    target_link_options(waybill_core INTERFACE -fno-lto)
  endif()
endfunction()

# waybill_executable(<target> <library> <source>...): one that sees only public headers.
function(waybill_executable target library)
  add_executable(${target} ${ARGN})
  target_link_libraries(${target} PRIVATE ${library} waybill_options)
  waybill_build_quickly(${target})
endfunction()

# Compiles and links `target` without LTO, unless waybill_link_for_people has it: a link
# with LTO takes most of a minute.
function(waybill_build_quickly target)
  set_target_properties(${target} PROPERTIES WAYBILL_QUICK ON)
  if(WAYBILL_LTO AND CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    target_link_options(${target} PRIVATE
      $<$<BOOL:$<TARGET_PROPERTY:WAYBILL_QUICK>>:-fno-lto>)
  endif()
endfunction()

# waybill_test_program(<target> <library> <source>...): one that sees private headers too.
# What it tests is in libraries, which are optimised and instrumented; it is neither but
# for addresses, and so compiles in little more than half the time.
function(waybill_test_program target library)
  waybill_executable(${target} ${library} ${ARGN})
  target_include_directories(${target} PRIVATE
    ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/tests)
  waybill_headers(${target} PRIVATE msgpack.hpp xxhash.h)
  target_compile_options(${target} PRIVATE -O0 -fno-sanitize=undefined)
endfunction()

# Puts libstdc++ into `target`, if asked for.
function(waybill_link_runtime target)
  if(WAYBILL_STATIC_RUNTIME)
    target_link_options(${target} PRIVATE -static-libstdc++ -static-libgcc)
  endif()
endfunction()

# Links `target` as people get it: with LTO, if asked for, and the runtime that a wheel
# holds.
function(waybill_link_for_people target)
  set_target_properties(${target} PROPERTIES WAYBILL_QUICK OFF)
  if(WAYBILL_LTO AND CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    target_link_options(${target} PRIVATE -flto=auto -O3)
  endif()
  waybill_link_runtime(${target})
endfunction()
