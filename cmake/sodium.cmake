# Finds libsodium by header and library: waybill::sodium, where both are there. Installed
# beside the package's configuration, which needs it too. No module for find_package():
# projects have a FindSodium.cmake of their own, with other targets.
#
# The static library is taken where it can go into a shared one: what is linked with it
# needs no libsodium at run time. Debian's is not position independent by itself, and
# can all the same if its symbols are not exported, which the target sees to.
# WAYBILL_SODIUM_LIBRARY chooses another.

find_path(WAYBILL_SODIUM_DIR sodium.h)
find_library(WAYBILL_SODIUM_STATIC NAMES libsodium.a)
find_library(WAYBILL_SODIUM_SHARED NAMES sodium)
mark_as_advanced(WAYBILL_SODIUM_DIR WAYBILL_SODIUM_STATIC WAYBILL_SODIUM_SHARED)

if(NOT WAYBILL_SODIUM_LIBRARY)
  set(waybill_sodium ${WAYBILL_SODIUM_SHARED})
  if(WAYBILL_SODIUM_STATIC AND APPLE)
    set(waybill_sodium ${WAYBILL_SODIUM_STATIC})
  elseif(WAYBILL_SODIUM_STATIC)
    execute_process(
      COMMAND ${CMAKE_CXX_COMPILER} -shared -o ${CMAKE_BINARY_DIR}/sodium_probe.so
        -Wl,--exclude-libs,libsodium.a -Wl,--no-undefined
        -Wl,--whole-archive ${WAYBILL_SODIUM_STATIC} -Wl,--no-whole-archive -lpthread
      RESULT_VARIABLE waybill_sodium_probe OUTPUT_QUIET ERROR_QUIET)
    file(REMOVE ${CMAKE_BINARY_DIR}/sodium_probe.so)
    if(waybill_sodium_probe EQUAL 0)
      set(waybill_sodium ${WAYBILL_SODIUM_STATIC})
    endif()
  endif()
  if(waybill_sodium)
    set(WAYBILL_SODIUM_LIBRARY ${waybill_sodium} CACHE FILEPATH "libsodium")
  endif()
endif()

if(WAYBILL_SODIUM_LIBRARY AND WAYBILL_SODIUM_DIR AND NOT TARGET waybill::sodium)
  find_package(Threads REQUIRED)
  add_library(waybill::sodium UNKNOWN IMPORTED)
  set_target_properties(waybill::sodium PROPERTIES
    IMPORTED_LOCATION ${WAYBILL_SODIUM_LIBRARY}
    INTERFACE_INCLUDE_DIRECTORIES ${WAYBILL_SODIUM_DIR}
    INTERFACE_LINK_LIBRARIES Threads::Threads)
  if(WAYBILL_SODIUM_LIBRARY MATCHES "/libsodium\\.a$" AND NOT APPLE)
    set_target_properties(waybill::sodium PROPERTIES
      INTERFACE_LINK_OPTIONS "LINKER:--exclude-libs,libsodium.a")
  endif()
endif()
