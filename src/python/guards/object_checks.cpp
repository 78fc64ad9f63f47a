// Tested by tests/python/cache/test_kept_function_guards.py and test_kept_classes.py.

#include "python/guards/object_checks.h"

#include <cstring>

#include "python/guards/reach.h"
#include "python/runtime/compat.h"
#include "python/runtime/identity.h"
#include "python/runtime/leaves.h"
#include "python/runtime/modules.h"

namespace waybill::py {

namespace {

constexpr Py_ssize_t kMaxConstant = 1024;  // Of text and bytes.

}  // namespace

bool is_text_or_none(PyObject* object) {
  return object == nullptr || object == Py_None || PyUnicode_CheckExact(object);
}

bool is_constant(PyObject* object) {
  if (PyUnicode_CheckExact(object)) return PyUnicode_GET_LENGTH(object) <= kMaxConstant;
  if (PyBytes_CheckExact(object)) return PyBytes_GET_SIZE(object) <= kMaxConstant;
  return is_simple(object) || object == Py_Ellipsis || object == Py_NotImplemented ||
         (PyTuple_CheckExact(object) && PyTuple_GET_SIZE(object) == 0);
}

bool is_same_constant(PyObject* known, PyObject* value) {
  if (known == value) return true;
  if (Py_TYPE(known) != Py_TYPE(value)) return false;
  if (PyUnicode_CheckExact(known)) return PyUnicode_Compare(known, value) == 0;
  if (PyFloat_CheckExact(known)) {  // By its bits: 0.0 is not -0.0, and nan is itself.
    const double a = PyFloat_AS_DOUBLE(known), b = PyFloat_AS_DOUBLE(value);
    return std::memcmp(&a, &b, sizeof a) == 0;
  }
  if (!PyLong_CheckExact(known) && !PyBytes_CheckExact(known)) return false;
  const int is_same = PyObject_RichCompareBool(known, value, Py_EQ);
  check(is_same);
  return is_same == 1;
}

Ref copy_of_leaf(PyObject* leaf) {
  if (PyBytes_CheckExact(leaf)) {
    return Ref::steal(
        PyBytes_FromStringAndSize(PyBytes_AS_STRING(leaf), PyBytes_GET_SIZE(leaf)));
  }
  return Ref::steal(PyUnicode_FromKindAndData(
      PyUnicode_KIND(leaf), PyUnicode_DATA(leaf), PyUnicode_GET_LENGTH(leaf)));
}

bool is_reduced_by_user(const State& state, PyObject* object) {
  if (PyType_CheckExact(object) || PyFunction_Check(object)) return false;
  auto* type = type_of(object);
  return raw_get(state.dispatch_table.get(), type) != nullptr;
}

bool names_place(const State& state, PyObject* object, PyObject* module,
                 PyObject* name) {
  if (PyFunction_Check(object)) {
    auto* function = as_function(object);
    return is_same_text(function->func_module, module) &&
           is_same_text(function->func_qualname, name);
  }
  if (PyCFunction_CheckExact(object)) {
    return is_same_text(reinterpret_cast<PyCFunctionObject*>(object)->m_module, module);
  }
  if (!PyType_HasFeature(as_type(object), Py_TPFLAGS_HEAPTYPE)) {
    return true;
  }
  const GlobalName found = find_by_own_name(state, object);
  return found.module && is_same_text(found.path.get(), name) &&
         is_same_text(module_name(state, found.module.get()), module);
}

std::uint32_t namespace_bits(const State& state, PyObject* globals, PyObject* name) {
  const bool is_package = look_up(state, globals, state.names.path.get()) != nullptr;
  if (name != nullptr && PyUnicode_Check(name) && is_main(state, name)) {
    return is_package;
  }
  PyObject* spec = look_up(state, globals, state.names.spec.get());
  if (spec != nullptr && spec != Py_None) return is_package | kMayBeImported;
  const bool may_be_imported = module_of_dict(state, globals) != nullptr;
  return is_package | may_be_imported * kMayBeImported;
}

PyObject* known_id(const State& state, PyObject* type) {
  PyObject* entry = tracked_entry(state, type);
  if (entry == nullptr) return nullptr;
  PyObject* id = PyTuple_GET_ITEM(entry, 1);
  return object_with_id(state, id).get() == type ? id : nullptr;
}

bool is_guarded_container(PyObject* value) {
  return PyTuple_CheckExact(value) || PyList_CheckExact(value) ||
         PyDict_CheckExact(value) || PyAnySet_CheckExact(value);
}

}  // namespace waybill::py
