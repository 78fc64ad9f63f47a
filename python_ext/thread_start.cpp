// Allocates what C++ needs for the first exception of a thread before anything throws.
//
// The C++ runtime keeps a counter of exceptions in each thread. Python loads the
// runtime late, so glibc allocates the counter when a thread first uses it, that is, at
// its first throw; without memory for it glibc ends the process. So each thread touches
// the counter when it first calls waybill, after malloc has shown that there is enough
// memory; otherwise the call raises MemoryError.
//
// Tested by tests/python/process/test_thread_memory.py.

#include "thread_start.h"

#if defined(__GLIBC__)

#include <cxxabi.h>

namespace waybill::extension {

[[gnu::tls_model("initial-exec")]] constinit thread_local bool thread_can_throw = false;

bool prepare_thread() {
  // More than the counter and glibc's table of thread-local memory take. Also more than
  // malloc caches for requests of equal size, so that the freed block can be split.
  constexpr std::size_t kRoom = 16 << 10;
  void* volatile room = std::malloc(kRoom);  // volatile prevents its removal.
  if (room == nullptr) return false;
  std::free(room);
  // The function is declared to have no effect: only a use of its result keeps the
  // call.
  void* volatile counter = abi::__cxa_get_globals();
  static_cast<void>(counter);
  thread_can_throw = true;
  return true;
}

}  // namespace waybill::extension

#endif
