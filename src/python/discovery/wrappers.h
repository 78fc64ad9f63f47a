#pragma once

// Properties and the other builtins that make a method of a function.

#include <Python.h>

#include "python/runtime/ref.h"
#include "python/runtime/state.h"

namespace waybill::py {

// Whether it is a property, classmethod or staticmethod, and of no derived type.
bool is_wrapper(PyObject* value);

// Whether it is a classmethod of a function of typing, which puts such into classes.
bool is_put_by_typing(const State& state, PyObject* wrapper);

// What a wrapper is made of: a tuple of arguments for its type.
Ref parts_of_wrapper(const State& state, PyObject* wrapper);

}  // namespace waybill::py
