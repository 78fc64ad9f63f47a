// What happens in our frames when Python ends a thread that is inside of them.
//
// A daemon thread that asks for the GIL while the interpreter ends is stopped by
// pthread_exit() up to 3.13, for which alone this is built; later ones let it hang.
// With glibc that unwinds the stack as an exception would: destructors run, and those
// of Ref would give back references without the GIL, to objects that may be gone.
// Nothing of the thread is needed any more, so its frames are left as they are.
//
// The linker puts these functions in the place of those that run destructors and
// handlers (`--wrap` in cmake/extension.cmake). Exceptions of C++ go on as always.
// There are two: optimised at link time, a function that has destructors to run and no
// handler takes the one that was made for C.
//
// Tested by tests/python/process/test_shutdown.py.

#include <unwind.h>

namespace {

using Personality = _Unwind_Reason_Code(int version, _Unwind_Action actions,
                                        _Unwind_Exception_Class type,
                                        _Unwind_Exception* exception,
                                        _Unwind_Context* context);

}  // namespace

extern "C" {

Personality __real___gxx_personality_v0, __real___gcc_personality_v0;

[[gnu::used]] _Unwind_Reason_Code __wrap___gxx_personality_v0(
    int version, _Unwind_Action actions, _Unwind_Exception_Class type,
    _Unwind_Exception* exception, _Unwind_Context* context) {
  if ((actions & _UA_FORCE_UNWIND) != 0) return _URC_CONTINUE_UNWIND;
  return __real___gxx_personality_v0(version, actions, type, exception, context);
}

[[gnu::used]] _Unwind_Reason_Code __wrap___gcc_personality_v0(
    int version, _Unwind_Action actions, _Unwind_Exception_Class type,
    _Unwind_Exception* exception, _Unwind_Context* context) {
  if ((actions & _UA_FORCE_UNWIND) != 0) return _URC_CONTINUE_UNWIND;
  return __real___gcc_personality_v0(version, actions, type, exception, context);
}
}
