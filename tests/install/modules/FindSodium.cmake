# The project's own, which has nothing to do with waybill's libsodium.
if(NOT TARGET sodium)
  add_library(sodium INTERFACE IMPORTED)
endif()
set(Sodium_FOUND TRUE)
