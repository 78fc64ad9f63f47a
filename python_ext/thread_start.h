#pragma once

// Prepares a thread for C++ exceptions.

#include <cstdlib>  // For __GLIBC__, too.

namespace waybill::extension {

#if defined(__GLIBC__)

// Read at each call of waybill: with this model in one instruction, without a call that
// could allocate.
[[gnu::tls_model("initial-exec")]] extern constinit thread_local bool thread_can_throw;

// Prepares a thread at its first call. False if there is no memory.
bool prepare_thread();

inline bool can_throw() { return thread_can_throw || prepare_thread(); }

#else

inline bool can_throw() { return true; }  // Each thread has such memory from the start.

#endif

}  // namespace waybill::extension
