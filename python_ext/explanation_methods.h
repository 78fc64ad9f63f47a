#pragma once

#include <Python.h>

#include "python/encode/encode_hooks.h"
#include "python/runtime/ref.h"
#include "python/runtime/state.h"

namespace waybill::extension {

// explain() and what reads explanations, for PyModule_AddFunctions.
extern PyMethodDef kExplanationMethods[];

// Takes an error that dumps has set: an EncodeError is told what an explanation of the
// object says, if to walk it once more tells nobody of it. Throws nothing, and leaves
// the error set.
void complete_error(py::State& state, PyObject* object, const py::EncodeHooks& hooks);

}  // namespace waybill::extension
