// Tested by tests/python/api/test_object_paths.py and
// tests/engines/test_explained_tasks.py.

#include "python/encode/paths/attribute_step.h"

#include <cstring>

#include "python/runtime/attribute.h"

namespace waybill::py {

namespace {

constexpr Py_ssize_t kMostAttributes =
    64;  // Of one object or class that are looked at.

bool is_name(PyObject* key) {
  return PyUnicode_CheckExact(key) && PyUnicode_IsIdentifier(key) == 1;
}

// Whether an attribute of an object's dict is what Python finds by that name.
bool is_seen(PyObject* owner, PyObject* name) {
  PyObject* of_type = _PyType_Lookup(Py_TYPE(owner), name);
  return of_type == nullptr || Py_TYPE(of_type)->tp_descr_set == nullptr;
}

Ref in_dict(PyObject* owner, PyObject* value) {
  const Ref dict = instance_dict(owner);
  if (!dict || !PyDict_CheckExact(dict.get())) return {};
  if (PyDict_GET_SIZE(dict.get()) > kMostAttributes) return {};
  PyObject *key, *held;
  for (Py_ssize_t at = 0; PyDict_Next(dict.get(), &at, &key, &held) != 0;) {
    if (held == value && is_name(key) && is_seen(owner, key)) return Ref::share(key);
  }
  return {};
}

// The descriptors of slots are code of the interpreter.
Ref in_slots_of(PyTypeObject* type, PyObject* owner, PyObject* value) {
  PyObject* dict = type->tp_dict;
  if (dict == nullptr) return {};  // Of the interpreter's own types.
  Py_ssize_t left = kMostAttributes;
  PyObject *key, *held;
  for (Py_ssize_t at = 0; left != 0 && PyDict_Next(dict, &at, &key, &held) != 0;) {
    if (!Py_IS_TYPE(held, &PyMemberDescr_Type) || !is_name(key)) continue;
    --left;
    const Ref found = Ref::steal_or_null(Py_TYPE(held)->tp_descr_get(
        held, owner, reinterpret_cast<PyObject*>(Py_TYPE(owner))));
    if (!found) PyErr_Clear();  // An empty slot.
    if (found.get() == value && _PyType_Lookup(Py_TYPE(owner), key) == held) {
      return Ref::share(key);
    }
  }
  return {};
}

}  // namespace

bool is_argument(const Label& label) {
  return label.style == Label::Style::kPlace &&
         std::strcmp(label.text, "argument") == 0;
}

bool is_tuple_of_state(const Label& label, PyObject* object) {
  return label.style == Label::Style::kMarker &&
         std::strcmp(label.text, "state") == 0 && PyTuple_CheckExact(object);
}

Ref attribute_that_is(PyObject* owner, PyObject* value) {
  if (Ref name = in_dict(owner, value)) return name;
  PyObject* bases = Py_TYPE(owner)->tp_mro;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(bases); ++i) {
    auto* type = reinterpret_cast<PyTypeObject*>(PyTuple_GET_ITEM(bases, i));
    if (Ref name = in_slots_of(type, owner, value)) return name;
  }
  return {};
}

}  // namespace waybill::py
