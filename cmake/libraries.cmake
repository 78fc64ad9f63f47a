# Finds the libraries that waybill links: defines waybill::sodium and waybill::zstd if their
# headers and libraries are found. Installed beside the package's configuration, which needs
# both too. These are no modules for find_package(), since projects may have their own
# FindSodium.cmake, with other targets.

# waybill_find_library(<name> <header> <option>...): waybill::<name>, of lib<name>.
#
# The static library is used if it can be linked into a shared one: then lib<name> is not
# needed at run time. Debian's is not position independent, but can be linked if its symbols
# are not exported; the target has the linker option for that. A trial link decides, for the
# parts of the library that <option>... select.
# WAYBILL_<NAME>_LIBRARY chooses another library.
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
# Only the functions that waybill calls: the builder of dictionaries, which it does not
# call, need not be position independent.
waybill_find_library(zstd zstd.h -Wl,-u,ZSTD_compress2 -Wl,-u,ZSTD_decompressDCtx)
