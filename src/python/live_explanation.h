#pragma once

// An explanation of live objects: what dumps() would send. One walk finds all blockers,
// since it continues after each.

#include <Python.h>

#include "python/encode/encode_hooks.h"
#include "python/runtime/state.h"
#include "waybill/explanation.h"

namespace waybill::py {

// Makes the same calls on the objects as dumps(), but returns no envelope. `hooks` as
// for dumps(). Does not check which imports are missing here. Throws PyError:
// MemoryError, or the EncodeError of a failure in the middle of a container. Cost: at
// most three times that of dumps() without caches. `progress`: a callable, called every
// 65,536 objects with the number of objects and of bytes written so far; an exception
// from it ends the walk. May be null.
Explanation explain(State& state, PyObject* object, const EncodeHooks& hooks,
                    PyObject* progress = nullptr);

}  // namespace waybill::py
