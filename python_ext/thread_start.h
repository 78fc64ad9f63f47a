#pragma once

// What a thread needs before exceptions of C++ may be thrown in it.

#include <cstdlib>  // For __GLIBC__, too.

namespace waybill::extension {

#if defined(__GLIBC__)

// Read at each call: the model makes that one instruction, and no call that allocates.
[[gnu::tls_model("initial-exec")]] extern constinit thread_local bool thread_can_throw;

// Sees to that in a thread that has not come here before. False: there is no memory.
bool prepare_thread();

inline bool can_throw() { return thread_can_throw || prepare_thread(); }

#else

inline bool can_throw() { return true; }  // Such memory comes with the thread.

#endif

}  // namespace waybill::extension
