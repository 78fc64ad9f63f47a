#pragma once

// What a reducer gives may be an attribute of the object as well: a path goes by that.

#include <Python.h>

#include "python/encode/paths/label.h"
#include "python/runtime/ref.h"

namespace waybill::py {

// Whether it leads to an argument of what makes an object.
bool is_argument(const Label& label);

// Whether it leads to a tuple that is the state of an object.
bool is_tuple_of_state(const Label& label, PyObject* object);

// The name of the attribute of `owner` that is `value` itself: in its dict, or in a
// slot. Null if there is none, or if looking for it takes long. Runs no code of the
// program.
Ref attribute_that_is(PyObject* owner, PyObject* value);

}  // namespace waybill::py
