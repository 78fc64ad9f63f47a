#pragma once

// How Python gets at what an object has as its own, told without code of the program.

#include <Python.h>

#include "python/encode/paths/label.h"
#include "python/runtime/ref.h"

namespace waybill::py {

// Whether `.name` is how Python spells an attribute.
bool is_attribute_name(PyObject* name);

// The name of the attribute of `owner` that is `value` itself: in its dict, or in a
// slot. Null if there is none, or if looking for it takes long.
Ref attribute_that_is(PyObject* owner, PyObject* value);

// How the value hangs on `owner`, whose state has it under that name.
Label label_in_state(PyObject* owner, PyObject* name, PyObject* value);

// Whether `owner[...]` by this label is an item that a reducer gave. A `__getitem__` of
// the program may do anything.
bool gives_item(PyObject* owner, const Label& label, PyObject* item);

}  // namespace waybill::py
