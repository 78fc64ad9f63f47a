# Finds what waybill links: waybill::sodium and waybill::zstd, where header and library
# are there. Installed beside the package's configuration, which needs both too. No
# modules for find_package(): projects have a FindSodium.cmake of their own, with other
# targets.

# waybill_find_library(<name> <header> <option>...): waybill::<name>, of lib<name>.
#
# The static library is taken where it can go into a shared one: what is linked with it
# needs no lib<name> at run time. Debian's is not position independent by itself, and can
# all the same if its symbols are not exported, which the target sees to. The options
# tell the linker what of it to try that with.
# WAYBILL_<NAME>_LIBRARY chooses another.
function(waybill_find_library name header)
  string(TOUPPER WAYBILL_${name} prefix)
  find_path(${prefix}_DIR ${header})
  find_library(${prefix}_STATIC NAMES lib${name}.a)
  find_library(${prefix}_SHARED NAMES ${name})
  mark_as_advanced(${prefix}_DIR ${prefix}_STATIC ${prefix}_SHARED)

  if(NOT ${prefix}_LIBRARY)
    set(library ${${prefix}_SHARED})
    if(${prefix}_STATIC AND APPLE)
      set(library ${${prefix}_STATIC})
    elseif(${prefix}_STATIC)
      set(probe ${CMAKE_BINARY_DIR}/${name}_probe.so)
      execute_process(
        COMMAND ${CMAKE_CXX_COMPILER} -shared -o ${probe}
          -Wl,--exclude-libs,lib${name}.a -Wl,--no-undefined
          ${ARGN} ${${prefix}_STATIC} -Wl,--no-whole-archive -lpthread
        RESULT_VARIABLE failed OUTPUT_QUIET ERROR_QUIET)
      file(REMOVE ${probe})
      if(failed EQUAL 0)
        set(library ${${prefix}_STATIC})
      endif()
    endif()
    if(library)
      set(${prefix}_LIBRARY ${library} CACHE FILEPATH "lib${name}")
    endif()
  endif()

  if(${prefix}_LIBRARY AND ${prefix}_DIR AND NOT TARGET waybill::${name})
    find_package(Threads REQUIRED)
    add_library(waybill::${name} UNKNOWN IMPORTED)
    set_target_properties(waybill::${name} PROPERTIES
      IMPORTED_LOCATION ${${prefix}_LIBRARY}
      INTERFACE_INCLUDE_DIRECTORIES ${${prefix}_DIR}
      INTERFACE_LINK_LIBRARIES Threads::Threads)
    if(${prefix}_LIBRARY MATCHES "/lib${name}\\.a$" AND NOT APPLE)
      set_target_properties(waybill::${name} PROPERTIES
        INTERFACE_LINK_OPTIONS "LINKER:--exclude-libs,lib${name}.a")
    endif()
  endif()
endfunction()

waybill_find_library(sodium sodium.h -Wl,--whole-archive)
# What waybill calls alone: the builder of dictionaries, which it does not call, need not
# be position independent.
waybill_find_library(zstd zstd.h -Wl,-u,ZSTD_compress2 -Wl,-u,ZSTD_decompressDCtx)
