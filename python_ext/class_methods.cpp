// Functions for the merge of class state.
// Tested by tests/python/classes/test_class_state_functions.py.

#include "conversions.h"
#include "methods.h"
#include "python/cache/methods.h"
#include "python/runtime/modules.h"

namespace waybill::extension {

namespace {

Ref is_method(PyObject* module, PyObject* attribute) {
  return to_object(py::is_method(state_of(module), attribute));
}

Ref has_other_code(PyObject* module, PyObject* const* arguments) {
  return to_object(py::has_other_code(state_of(module), arguments[0], arguments[1]));
}

Ref is_importable(PyObject* module, PyObject* object) {
  if (!PyType_Check(object)) {
    py::raise(PyExc_TypeError, "is_importable() takes a class");
  }
  auto* type = reinterpret_cast<PyTypeObject*>(object);
  return to_object(static_cast<bool>(py::find_type(state_of(module), type).module));
}

Ref slot_descriptor(PyObject*, PyObject* const* arguments) {
  if (!PyType_Check(arguments[0]) || !PyUnicode_Check(arguments[1])) {
    py::raise(PyExc_TypeError, "slot_descriptor() takes a class and a name");
  }
  Ref found = py::slot_descriptor(arguments[0], arguments[1]);
  return found ? found : Ref::share(Py_None);
}

void replace_items(PyObject*, PyObject* const* arguments) {
  py::replace_items(arguments[0], arguments[1]);
}

}  // namespace

PyMethodDef kClassMethods[] = {
    method<is_method>("is_method"),
    method<has_other_code, 2>("has_other_code"),
    method<is_importable>("is_importable"),
    method<replace_items, 2>("replace_items"),
    method<slot_descriptor, 2>("slot_descriptor"),
    {},  // Ends the table.
};

}  // namespace waybill::extension
