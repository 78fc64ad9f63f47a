// Protects the extension's frames when Python ends a thread inside them.
//
// Up to Python 3.13, pthread_exit() stops a daemon thread that requests the GIL while
// the interpreter ends; later versions let the thread hang, and this file is not built.
// With glibc, pthread_exit() unwinds the stack like an exception: destructors run, and
// those of Ref would drop references without the GIL, to objects that may be gone.
// Nothing needs the thread's frames any more, so they are left as they are.
//
// The linker replaces the two personality functions, which run destructors and
// handlers, by these (`--wrap` in cmake/extension.cmake). C++ exceptions are not
// affected. The one for C is replaced too: with link time optimization, functions with
// destructors and without handlers use it.
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
