// Tested by tests/python/functions/test_methods.py,
// tests/python/cache/test_kept_classes.py.

#include "python/discovery/wrappers.h"

namespace waybill::py {

bool is_wrapper(PyObject* value) {
  return Py_IS_TYPE(value, &PyProperty_Type) ||
         Py_IS_TYPE(value, &PyClassMethod_Type) ||
         Py_IS_TYPE(value, &PyStaticMethod_Type);
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
