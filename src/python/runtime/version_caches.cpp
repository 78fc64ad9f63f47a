// Tested by tests/python/cache/test_dict_looks.py and
// tests/python/kinds/test_instances_received.py.

#include "python/runtime/version_caches.h"

#include <cstring>

#include "python/runtime/state.h"

namespace waybill::py {

PyObject* raw_get(PyObject* dict, PyObject* name) {
  if (dict == nullptr || !PyDict_Check(dict)) return nullptr;
  PyObject* value = PyDict_GetItemWithError(dict, name);
  if (value == nullptr && PyErr_Occurred()) throw PyError();
  return value;
}

bool DictLookupCache::is_equal(PyObject* a, PyObject* b) {
  const Py_ssize_t length = PyUnicode_GET_LENGTH(a);
  const auto kind = PyUnicode_KIND(a);
  return length == PyUnicode_GET_LENGTH(b) && kind == PyUnicode_KIND(b) &&
         std::memcmp(PyUnicode_DATA(a), PyUnicode_DATA(b),
                     static_cast<std::size_t>(length) * kind) == 0;
}

PyObject* DictLookupCache::fill(Entry& entry, PyObject* dict, PyObject* name) {
  const std::uint64_t version = dict_version(dict);
  PyObject* value = raw_get(dict, name);
  // Keys that are not exact strs may run Python code, which may change the dict.
  if (dict_version(dict) != version) return value;
  if (kInternedIsImmortal && !PyUnicode_CHECK_INTERNED(name)) return value;
  // A name in a dict is usually interned already, so the table does not keep names
  // alive that are made for one look-up.
  entry = {version, interned(Ref::share(name)), value};
  return value;
}

namespace {

// Whether a class in the MRO overrides how instances get their state: by __setstate__,
// or by a __dict__ that is not the interpreter's.
bool overrides_state(const Names& names, PyTypeObject* type) {
  for (PyTypeObject* base : mro_of(type)) {
    const Ref attributes = type_dict(base);
    PyObject* dict = raw_get(attributes.get(), names.dict.get());
    if (raw_get(attributes.get(), names.setstate.get()) != nullptr ||
        (dict != nullptr && !Py_IS_TYPE(dict, &PyGetSetDescr_Type))) {
      return true;
    }
  }
  return false;
}

}  // namespace

bool OrdinaryTypes::is_ordinary(const Names& names, PyTypeObject* type) {
  if (contains(type)) return true;
  const std::uint32_t version = assigned_version(type, names.reduce_ex.get());
  if (!PyType_HasFeature(type, Py_TPFLAGS_HEAPTYPE) ||
      PyType_HasFeature(type, Py_TPFLAGS_IS_ABSTRACT) ||
      type->tp_new != PyBaseObject_Type.tp_new || type->tp_finalize != nullptr ||
      type->tp_del != nullptr || type->tp_dictoffset == 0 ||
      type->tp_getattro != PyObject_GenericGetAttr || type->tp_mro == nullptr ||
      overrides_state(names, type)) {
    return false;
  }
  add(type, version);
  return true;
}

}  // namespace waybill::py
