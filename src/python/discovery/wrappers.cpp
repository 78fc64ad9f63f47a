// Tested by tests/python/functions/test_methods.py,
// tests/python/cache/test_kept_classes.py.

#include "python/discovery/wrappers.h"

#include <string_view>

#include "python/runtime/attribute.h"

namespace waybill::py {

bool is_wrapper(PyObject* value) {
  return Py_IS_TYPE(value, &PyProperty_Type) ||
         Py_IS_TYPE(value, &PyClassMethod_Type) ||
         Py_IS_TYPE(value, &PyStaticMethod_Type);
}

PyTypeObject* wrapper_among_bases(PyTypeObject* type) {
  for (PyTypeObject* wrapper :
       {&PyProperty_Type, &PyClassMethod_Type, &PyStaticMethod_Type}) {
    if (PyType_IsSubtype(type, wrapper)) return wrapper;
  }
  return nullptr;
}

bool is_put_by_typing(const State& state, PyObject* wrapper) {
  if (!Py_IS_TYPE(wrapper, &PyClassMethod_Type)) return false;
  const Ref wrapped = attribute_or_null(wrapper, state.names.func);
  if (!wrapped || !PyFunction_Check(wrapped.get())) return false;
  PyObject* module = as_function(wrapped.get())->func_module;
  return module != nullptr && PyUnicode_Check(module) &&
         PyUnicode_Compare(module, state.names.typing.get()) == 0;
}

bool is_field_of_named_tuple(PyObject* value) {
  PyTypeObject* type = Py_TYPE(value);
  return PyType_HasFeature(type, Py_TPFLAGS_IMMUTABLETYPE) &&
         std::string_view(type->tp_name).ends_with("._tuplegetter");
}

bool is_empty_frozendict(PyObject* value) {
  PyTypeObject* type = Py_TYPE(value);
  return !PyType_HasFeature(type, Py_TPFLAGS_HEAPTYPE) &&
         std::string_view(type->tp_name) == "frozendict" && PyObject_Size(value) == 0;
}

Ref parts_of_wrapper(const State& state, PyObject* wrapper) {
  const Names& names = state.names;
  const auto part = [&](const Ref& name) {
    return Ref::steal(PyObject_GetAttr(wrapper, name.get()));
  };
  if (!Py_IS_TYPE(wrapper, &PyProperty_Type)) {
    return Ref::steal(PyTuple_Pack(1, part(names.func).get()));
  }
  return Ref::steal(PyTuple_Pack(4, part(names.fget).get(), part(names.fset).get(),
                                 part(names.fdel).get(), part(names.doc).get()));
}

}  // namespace waybill::py
