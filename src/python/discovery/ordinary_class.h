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

// Whether there are such parts. It depends on the class and its bases alone, and on
// what is in their dicts. Cost: a few dict look-ups for each base, and a look at each
// attribute.
bool is_ordinary_class(const State& state, PyObject* type);

// Whether a class has an attribute of this name, a str, from Python and not from its
// author.
bool is_given_to_class(const State& state, PyObject* name);

}  // namespace waybill::py
