// Tested by tests/python/classes/test_class_state_functions.py.

#include "border.h"
#include "methods.h"
#include "python/cache/methods.h"
#include "python/runtime/modules.h"

namespace waybill::extension {

namespace {

PyObject* is_method(PyObject* module, PyObject* attribute) {
  return guarded(
      [&] { return to_bool(waybill::py::is_method(state_of(module), attribute)); });
}

PyObject* has_other_code(PyObject* module, PyObject* const* arguments,
                         Py_ssize_t count) {
  return guarded([&] {
    demand_count("has_other_code", count, 2);
    const bool has_other =
        waybill::py::has_other_code(state_of(module), arguments[0], arguments[1]);
    return to_bool(has_other);
  });
}

PyObject* is_importable(PyObject* module, PyObject* object) {
  return guarded([&] {
    if (!PyType_Check(object)) {
      PyErr_SetString(PyExc_TypeError, "is_importable() takes a class");
      throw PyError();
    }
    auto* type = reinterpret_cast<PyTypeObject*>(object);
    const Ref found = waybill::py::find_type(state_of(module), type).module;
    return to_bool(static_cast<bool>(found));
  });
}

PyObject* replace_items(PyObject*, PyObject* const* arguments, Py_ssize_t count) {
  return guarded([&] {
    demand_count("replace_items", count, 2);
    waybill::py::replace_items(arguments[0], arguments[1]);
    return Ref::share(Py_None);
  });
}

}  // namespace

PyMethodDef kClassMethods[] = {
    {"is_method", is_method, METH_O, "is_method(attribute, /) -> bool"},
    {"has_other_code", fast(has_other_code), METH_FASTCALL,
     "has_other_code(own, value, /) -> bool"},
    {"is_importable", is_importable, METH_O, "is_importable(cls, /) -> bool"},
    {"replace_items", fast(replace_items), METH_FASTCALL,
     "replace_items(target, source, /) -> None"},
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace waybill::extension
