#pragma once

// Makes the globals that functions get on arrival.

#include <Python.h>

#include "python/runtime/ref.h"
#include "python/runtime/state.h"

namespace waybill::py {

// The module `builtins`, as sys.modules has it now.
Ref builtins_module(const State& state);

// Puts into an empty dict what a namespace says of itself. `name` and `package`: null
// where it says nothing.
void describe_namespace(const State& state, PyObject* globals, PyObject* name,
                        PyObject* package, bool is_package);

}  // namespace waybill::py
