#pragma once

// What stands in classes: properties and the other builtins that wrap functions, and
// what ordinary classes are taken apart into: those made by type itself, with no slots,
// no hook of a base, and nothing in them that C made.

#include <Python.h>

#include "python/runtime/ref.h"
#include "python/runtime/state.h"

namespace waybill::py {

// What waybill._classes.parts.class_parts tells of a class; null for one that only that
// can tell, which is no ordinary one.
Ref ordinary_class_parts(const State& state, PyObject* type);

// Whether what a class is taken apart into depends on the class and its bases alone,
// and on what is in their dicts: it is an ordinary one, or one with slots. Cost: a few
// dict look-ups for each base, and a look at each attribute.
bool is_told_by_its_dict(const State& state, PyObject* type);

// Whether it is what Python puts into a class without annotations that is asked for
// them.
bool is_no_annotations(PyObject* name, PyObject* value);

// Whether an attribute is what type() makes of a name in __slots__. It is not sent.
bool is_slot(PyObject* type, PyObject* value);

// Whether a class has an attribute of this name, a str, from Python and not from its
// author.
bool is_given_to_class(const State& state, PyObject* name);

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
