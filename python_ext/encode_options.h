#pragma once

// What encode() and its kin take besides the object.

#include <Python.h>

#include "border.h"
#include "python/encode/encode_hooks.h"
#include "python/keys.h"

namespace waybill::extension {

// Keeps alive what the hooks point to, but for the arguments themselves.
class EncodeOptions {
 public:
  static constexpr Py_ssize_t kCount = 13;

  // `arguments`: the object, and these. `name` is for errors. Throws PyError.
  EncodeOptions(const char* name, PyObject* const* arguments, Py_ssize_t count)
      : application_(demanded(name, arguments, count)) {
    hooks_.persistent_id = given(arguments[1]);
    hooks_.reducer_override = given(arguments[2]);
    hooks_.dispatch_table = given(arguments[3]);
    hooks_.buffer_callback = given(arguments[4]);
    hooks_.by_value = given(arguments[5]);
    hooks_.replace = given(arguments[6]);
    hooks_.memo = given(arguments[7]);
    hooks_.payload = PyLong_AsUnsignedLongLong(arguments[8]);
    check(PyErr_Occurred() ? -1 : 0);
    if (PyObject* key = given(arguments[9])) hooks_.key = &py::signing_key_of(key);
    hooks_.application = application_.bytes();
    hooks_.compression_level = compression_level_of(arguments[11]);
    hooks_.source = source_use_of(arguments[12]);
    hooks_.environment = given(arguments[13]);
  }

  const py::EncodeHooks& hooks() const { return hooks_; }

 private:
  static PyObject* demanded(const char* name, PyObject* const* arguments,
                            Py_ssize_t count) {
    demand_count(name, count, 1 + kCount);
    return arguments[10];
  }

  Input application_;
  py::EncodeHooks hooks_;
};

}  // namespace waybill::extension
