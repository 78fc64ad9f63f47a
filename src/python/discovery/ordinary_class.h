#pragma once

// Ordinary classes: those made by type itself, with no slots, no hook of a base, and
// nothing in them that C made.

#include <Python.h>

#include "python/runtime/ref.h"
#include "python/runtime/state.h"

namespace waybill::py {

// What waybill._class_parts.class_parts tells of a class; null for one that only that
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

}  // namespace waybill::py
