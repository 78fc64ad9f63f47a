// Tested by tests/python/cache/test_dict_looks.py.

#include "python/runtime/dict_looks.h"

#include <cstring>

namespace waybill::py {

PyObject* raw_get(PyObject* dict, PyObject* name) {
  if (dict == nullptr || !PyDict_Check(dict)) return nullptr;
  PyObject* value = PyDict_GetItemWithError(dict, name);
  if (value == nullptr && PyErr_Occurred()) throw PyError();
  return value;
}

// Both have been hashed.
bool DictLooks::is_equal(PyObject* known, PyObject* name) {
  const Py_ssize_t length = PyUnicode_GET_LENGTH(known);
  const auto kind = PyUnicode_KIND(known);
  return length == PyUnicode_GET_LENGTH(name) && kind == PyUnicode_KIND(name) &&
         std::memcmp(PyUnicode_DATA(known), PyUnicode_DATA(name),
                     static_cast<std::size_t>(length) * kind) == 0;
}

PyObject* DictLooks::note(Look& look, PyObject* dict, PyObject* name) {
  const std::uint64_t version = dict_version(dict);
  PyObject* value = raw_get(dict, name);
  // To compare keys that are no exact text may run code, which changes the dict.
  if (dict_version(dict) != version) return value;
  if (kInternedIsImmortal && !PyUnicode_CHECK_INTERNED(name)) return value;
  // The interned one is there already where a dict has the name, so that what is kept
  // does not grow by names that are made for each look.
  PyObject* interned = Ref::share(name).release();
  PyUnicode_InternInPlace(&interned);
  look = {version, Ref::steal(interned), value};
  return value;
}

}  // namespace waybill::py
