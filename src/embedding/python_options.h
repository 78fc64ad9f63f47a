#pragma once

// What functions of waybill/object.h and waybill/call.h do with their arguments.

#include <Python.h>

#include "python/encode/encode_hooks.h"
#include "python/runtime/state.h"
#include "waybill/object.h"

namespace waybill::embedding {

// The error for a null object, as calls of Python that fail give it, with the exception
// that they have set; null is none by itself, too.
Result<void> demand_object(PyObject* object);

// Valid as long as the options and the state are.
py::EncodeHooks hooks_of(const py::State& state, const EncodeOptions& options);

}  // namespace waybill::embedding
