#pragma once

// Properties and the other builtins that classes have as attributes.

#include <Python.h>

#include "python/runtime/ref.h"
#include "python/runtime/state.h"

namespace waybill::py {

// Whether it is a property, classmethod or staticmethod, and of no derived type.
bool is_wrapper(PyObject* value);
// Which of these three a type is or derives from; null if none.
PyTypeObject* wrapper_among_bases(PyTypeObject* type);

// Whether it is a function, or what makes a method of one.
inline bool is_method(PyObject* value) {
  return PyFunction_Check(value) || wrapper_among_bases(Py_TYPE(value)) != nullptr;
}

// Whether it is a classmethod of a function of typing, which puts such into classes.
bool is_put_by_typing(const State& state, PyObject* wrapper);

// Whether it is what reads a field of a named tuple; its type has a name only.
bool is_field_of_named_tuple(PyObject* value);

// Whether it is an empty frozendict (3.15), as the metadata of most fields is. Reducers
// would make a dict for it.
bool is_empty_frozendict(PyObject* value);

// What a wrapper is made of: a tuple of arguments for its type.
Ref parts_of_wrapper(const State& state, PyObject* wrapper);

}  // namespace waybill::py
