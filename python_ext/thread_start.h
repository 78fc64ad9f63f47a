#pragma once

// Prepares a thread for C++ exceptions.

#include <cstdlib>  // For __GLIBC__, too.

namespace waybill::extension {

#if defined(__GLIBC__)

// Whether prepare_thread() has succeeded in this thread. Each call of waybill reads it;
// with this TLS model that is one instruction, and no call that could allocate.
[[gnu::tls_model("initial-exec")]] extern constinit thread_local bool thread_can_throw;

// Prepares a thread at its first call. False if there is no memory.
bool prepare_thread();

inline bool can_throw() { return thread_can_throw || prepare_thread(); }

#else

inline bool can_throw() { return true; }  // The memory comes with the thread.

#endif

}  // namespace waybill::extension
