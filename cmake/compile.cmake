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
  # GCC 12 warns of impossible sizes in std::string (bug 105651), also in precompiled
  # headers, which it does not treat as system headers.
  $<$<AND:$<CXX_COMPILER_ID:GNU>,$<VERSION_LESS:$<CXX_COMPILER_VERSION>,13>>:-Wno-restrict;-Wno-stringop-overread>
  $<$<AND:$<CXX_COMPILER_ID:GNU>,$<VERSION_LESS:$<CXX_COMPILER_VERSION>,13>,$<BOOL:${WAYBILL_PRECOMPILED}>>:-Wno-array-bounds;-Wno-stringop-overflow>)
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
# sources of `target`. Only in builds of a checkout (WAYBILL_PRECOMPILED): the build of a
# wheel fails if a source does not include what it uses.
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

# waybill_unity(<target>): with WAYBILL_UNITY its sources are compiled several at a time, in
# half of the time. Only sources of one folder are compiled together, so that a new file
# puts no others together. "Redefinition" means that local names of two sources clash:
# rename one.
set(WAYBILL_UNITY_BATCH 8)
function(waybill_unity target)
  if(NOT WAYBILL_UNITY OR NOT TARGET ${target})
    return()
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  get_target_property(sources ${target} SOURCES)
  list(FILTER sources INCLUDE REGEX "^[^$].*\\.cpp$")
  foreach(source IN LISTS sources)
    cmake_path(GET source PARENT_PATH folder)
    cmake_path(RELATIVE_PATH folder BASE_DIRECTORY ${PROJECT_SOURCE_DIR})
    string(MAKE_C_IDENTIFIER "${folder}" folder)
    if(NOT DEFINED count_of_${folder})
      set(count_of_${folder} 0)
    endif()
    math(EXPR batch "${count_of_${folder}} / ${WAYBILL_UNITY_BATCH}")
    math(EXPR count_of_${folder} "${count_of_${folder}} + 1")
    set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${folder}_${batch})
  endforeach()
  if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    # GCC takes a source that another one includes for a header.
    target_compile_options(${target} PRIVATE -Wno-subobject-linkage)
  endif()
endfunction()

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
  add_library(waybill_base ALIAS waybill_core)
  target_compile_features(waybill_core INTERFACE cxx_std_20)
  target_include_directories(waybill_core INTERFACE ${PROJECT_SOURCE_DIR}/include)
  waybill_headers(waybill_core INTERFACE tl/expected.hpp)
  target_link_libraries(waybill_core INTERFACE waybill::sodium waybill::zstd)
endfunction()

# waybill_executable(<target> <library> <source>...): a program with public headers only.
function(waybill_executable target library)
  add_executable(${target} ${ARGN})
  target_link_libraries(${target} PRIVATE ${library} waybill_options)
endfunction()

# waybill_test_program(<target> <library> <source>...): a program with private headers too.
# The libraries that it tests are optimised and instrumented. Its own sources are not,
# except by the address sanitizer: that saves nearly half of the time to compile them.
function(waybill_test_program target library)
  waybill_executable(${target} ${library} ${ARGN})
  target_include_directories(${target} PRIVATE
    ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/tests)
  waybill_headers(${target} PRIVATE msgpack.hpp xxhash.h)
  target_compile_options(${target} PRIVATE -O0 -fno-sanitize=undefined)
endfunction()

# Links libstdc++ statically into `target`, a part of a wheel.
function(waybill_link_runtime target)
  if(WAYBILL_STATIC_RUNTIME)
    target_link_options(${target} PRIVATE -static-libstdc++ -static-libgcc)
  endif()
endfunction()

# waybill_add_tests(<target> <parts>): adds its tests, divided among `parts` processes. A
# process for each test would take longer to start than to run, above all with sanitizers.
function(waybill_add_tests target parts)
  math(EXPR last "${parts} - 1")
  foreach(part RANGE ${last})
    add_test(NAME ${target}_${part} COMMAND ${target} --gtest_brief=1)
    set_tests_properties(${target}_${part} PROPERTIES
      ENVIRONMENT "GTEST_TOTAL_SHARDS=${parts};GTEST_SHARD_INDEX=${part}")
  endforeach()
endfunction()
