#pragma once

// An explanation of live objects: what dumps would send of them, in one walk that goes
// on past what cannot travel.

#include <Python.h>

#include "python/encode/encode_hooks.h"
#include "python/runtime/state.h"
#include "waybill/explanation.h"

namespace waybill::py {

// Calls what dumps would call of the objects; makes no payload. `hooks` as for dumps.
// Imports are not looked for. Throws PyError: MemoryError, or the EncodeError of what
// goes wrong in the middle of a container. Cost: at most three times that of dumps
// without caches. `progress`: a callable that gets, every 65,536 objects, how many
// there were and the bytes written; what it raises ends the walk. Null: nobody is told.
Explanation explain(State& state, PyObject* object, const EncodeHooks& hooks,
                    PyObject* progress = nullptr);

}  // namespace waybill::py
