# Finds libsodium by header and library: Sodium::Sodium. Installed beside the package's
# configuration, which needs it too.
#
# The static library is taken where it can go into a shared one: what is linked with it
# needs no libsodium at run time. Debian's is not position independent by itself, and
# can all the same if the symbols of archives are not exported, as the extension has it.
# Sodium_LIBRARY chooses another.

find_path(Sodium_INCLUDE_DIR sodium.h)
find_library(Sodium_STATIC_LIBRARY NAMES libsodium.a)
find_library(Sodium_SHARED_LIBRARY NAMES sodium)
mark_as_advanced(Sodium_INCLUDE_DIR Sodium_STATIC_LIBRARY Sodium_SHARED_LIBRARY)

if(NOT Sodium_LIBRARY)
  set(Sodium_chosen ${Sodium_SHARED_LIBRARY})
  if(Sodium_STATIC_LIBRARY AND APPLE)
    set(Sodium_chosen ${Sodium_STATIC_LIBRARY})
  elseif(Sodium_STATIC_LIBRARY)
    execute_process(
      COMMAND ${CMAKE_CXX_COMPILER} -shared -o ${CMAKE_BINARY_DIR}/sodium_probe.so
        -Wl,--exclude-libs,ALL -Wl,--no-undefined
        -Wl,--whole-archive ${Sodium_STATIC_LIBRARY} -Wl,--no-whole-archive -lpthread
      RESULT_VARIABLE Sodium_probe OUTPUT_QUIET ERROR_QUIET)
    file(REMOVE ${CMAKE_BINARY_DIR}/sodium_probe.so)
    if(Sodium_probe EQUAL 0)
      set(Sodium_chosen ${Sodium_STATIC_LIBRARY})
    endif()
  endif()
  if(Sodium_chosen)
    set(Sodium_LIBRARY ${Sodium_chosen} CACHE FILEPATH "libsodium")
  endif()
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Sodium
  REQUIRED_VARS Sodium_LIBRARY Sodium_INCLUDE_DIR)
if(Sodium_FOUND AND NOT TARGET Sodium::Sodium)
  find_package(Threads REQUIRED)
  add_library(Sodium::Sodium UNKNOWN IMPORTED)
  set_target_properties(Sodium::Sodium PROPERTIES
    IMPORTED_LOCATION ${Sodium_LIBRARY}
    INTERFACE_INCLUDE_DIRECTORIES ${Sodium_INCLUDE_DIR}
    INTERFACE_LINK_LIBRARIES Threads::Threads)
endif()
