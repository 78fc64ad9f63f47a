// Tested by tests/python/cache/test_dict_looks.py.

#include "python/runtime/dict_looks.h"

namespace waybill::py {

PyObject* raw_get(PyObject* dict, PyObject* name) {
  if (dict == nullptr || !PyDict_Check(dict)) return nullptr;
  PyObject* value = PyDict_GetItemWithError(dict, name);
  if (value == nullptr && PyErr_Occurred()) throw PyError();
  return value;
}

PyObject* DictLooks::note(Look& look, PyObject* dict, PyObject* name) {
  const std::uint64_t version = dict_version(dict);
  PyObject* value = raw_get(dict, name);
  // To compare keys that are no exact text may run code, which changes the dict.
  if (PyUnicode_CheckExact(name) && dict_version(dict) == version) {
    look = {version, Ref::share(name), value};
  }
  return value;
}

}  // namespace waybill::py
