#pragma once

// Values without values in them.

#include <Python.h>

namespace waybill::py {

// Whether hash(), ==, repr() and every look at the object end with itself: no code of
// anybody's runs, and nothing else is looked into.
inline bool is_simple(PyObject* object) {
  return PyUnicode_CheckExact(object) || PyLong_CheckExact(object) ||
         PyBytes_CheckExact(object) || PyFloat_CheckExact(object) ||
         PyBool_Check(object) || object == Py_None;
}

// Shorter text and bytes are written each time they occur: a reference saves little.
inline constexpr Py_ssize_t kSharedLength = 64;

// Whether a leaf is long enough to be shared by identity.
inline bool is_long_leaf(PyObject* object) {
  if (PyUnicode_CheckExact(object))
    return PyUnicode_GET_LENGTH(object) >= kSharedLength;
  return PyBytes_CheckExact(object) && PyBytes_GET_SIZE(object) >= kSharedLength;
}

}  // namespace waybill::py
