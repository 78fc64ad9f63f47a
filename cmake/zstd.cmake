# Finds libzstd by header and library: waybill::zstd, where both are there. Installed
# beside the package's configuration, which needs it too.
#
# The static library is taken where it can go into a shared one: what is linked with it
# needs no libzstd at run time. The probe asks for what waybill calls alone, since the
# builder of dictionaries, which waybill does not call, need not be position independent.
# WAYBILL_ZSTD_LIBRARY chooses another.

find_path(WAYBILL_ZSTD_DIR zstd.h)
find_library(WAYBILL_ZSTD_STATIC NAMES libzstd.a)
find_library(WAYBILL_ZSTD_SHARED NAMES zstd)
mark_as_advanced(WAYBILL_ZSTD_DIR WAYBILL_ZSTD_STATIC WAYBILL_ZSTD_SHARED)

if(NOT WAYBILL_ZSTD_LIBRARY)
  set(waybill_zstd ${WAYBILL_ZSTD_SHARED})
  if(WAYBILL_ZSTD_STATIC AND APPLE)
    set(waybill_zstd ${WAYBILL_ZSTD_STATIC})
  elseif(WAYBILL_ZSTD_STATIC)
    execute_process(
      COMMAND ${CMAKE_CXX_COMPILER} -shared -o ${CMAKE_BINARY_DIR}/zstd_probe.so
        -Wl,--exclude-libs,libzstd.a -Wl,--no-undefined
        -Wl,-u,ZSTD_compress2 -Wl,-u,ZSTD_decompressDCtx
        ${WAYBILL_ZSTD_STATIC} -lpthread
      RESULT_VARIABLE waybill_zstd_probe OUTPUT_QUIET ERROR_QUIET)
    file(REMOVE ${CMAKE_BINARY_DIR}/zstd_probe.so)
    if(waybill_zstd_probe EQUAL 0)
      set(waybill_zstd ${WAYBILL_ZSTD_STATIC})
    endif()
  endif()
  if(waybill_zstd)
    set(WAYBILL_ZSTD_LIBRARY ${waybill_zstd} CACHE FILEPATH "libzstd")
  endif()
endif()

if(WAYBILL_ZSTD_LIBRARY AND WAYBILL_ZSTD_DIR AND NOT TARGET waybill::zstd)
  find_package(Threads REQUIRED)
  add_library(waybill::zstd UNKNOWN IMPORTED)
  set_target_properties(waybill::zstd PROPERTIES
    IMPORTED_LOCATION ${WAYBILL_ZSTD_LIBRARY}
    INTERFACE_INCLUDE_DIRECTORIES ${WAYBILL_ZSTD_DIR}
    INTERFACE_LINK_LIBRARIES Threads::Threads)
  if(WAYBILL_ZSTD_LIBRARY MATCHES "/libzstd\\.a$" AND NOT APPLE)
    set_target_properties(waybill::zstd PROPERTIES
      INTERFACE_LINK_OPTIONS "LINKER:--exclude-libs,libzstd.a")
  endif()
endif()
