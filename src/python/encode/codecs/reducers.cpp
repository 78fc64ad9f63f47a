// Which codec writes an object that is neither leaf nor container, and which reducer
// takes it apart: one of ours, or one that users have registered. Tested by
// tests/python/kinds/test_reduce.py.

#include <algorithm>

#include "python/encode/codec.h"
#include "python/encode/plain_writer.h"
#include "python/runtime/attribute.h"
#include "python/runtime/modules.h"
#include "python/walker/class_attributes.h"

namespace waybill::py {

namespace {

// Whether a class of Python says what the __class__ of its instances is, as those of
// proxies and mocks do.
bool tells_a_class(const State& state, PyTypeObject* type) {
  if (!PyType_HasFeature(type, Py_TPFLAGS_HEAPTYPE)) return false;
  return std::ranges::any_of(order_of(type), [&](PyTypeObject* base) {
    return PyType_HasFeature(base, Py_TPFLAGS_HEAPTYPE) &&
           raw_get(type_dict(base).get(), state.names.class_.get()) != nullptr;
  });
}

}  // namespace

// Our reducer for the exact type, by type or by the type's name; that of BaseException
// for any exception; that of proxies. Null if none.
Ref own_reducer(const State& state, PyObject* object) {
  PyTypeObject* type = Py_TYPE(object);
  if (PyExceptionInstance_Check(object)) {
    return Ref::share(raw_get(state.reducers.get(), PyExc_BaseException));
  }
  auto* key = as_object(type);
  // A metaclass may make its classes unhashable; none of ours has such.
  if (Py_TYPE(type)->tp_hash != PyType_Type.tp_hash) return {};
  if (PyObject* reducer = raw_get(state.reducers.get(), key)) {
    return Ref::share(reducer);
  }
  const Ref name = name_of_type(state, type);
  if (PyObject* row = raw_get(state.named_reducers.get(), name.get())) {
    Ref module = Ref::steal(PyObject_GetAttr(key, state.names.module.get()));
    if (PyObject* reducer = raw_get(row, module.get())) return Ref::share(reducer);
  }
  // Descriptors are subclassed, as by abc and by frameworks.
  if (PyTypeObject* base = wrapper_among_bases(type)) {
    return Ref::share(raw_get(state.reducers.get(), as_object(base)));
  }
  return tells_a_class(state, type) ? state.reduce_by_type : Ref();
}

Ref user_reducer(EncodeContext& context, PyTypeObject* type) {
  auto* key = as_object(type);
  PyObject* table = context.hooks().dispatch_table;
  if (table == nullptr) {
    return Ref::share(raw_get(context.state.dispatch_table.get(), key));
  }
  // Asked for each object: a KeyError would cost more than the object.
  if (PyDict_CheckExact(table)) return Ref::share(raw_get(table, key));
  Ref reducer = Ref::steal_or_null(PyObject_GetItem(table, key));
  if (!reducer) forgive(PyExc_KeyError);
  return reducer;
}

// The only list of kinds.
Describe codec_for(EncodeContext& context, PyObject* object) {
  struct Row {
    PyTypeObject* type;
    Describe describe;
    bool asks_copyreg;  // As pickle does.
  };
  static const Row kRows[] = {
      {&PyFunction_Type, describe_function, false},
      {&PyCell_Type, describe_cell, true},
      {&PyCode_Type, describe_code, true},
      {&PyByteArray_Type, describe_byte_array, false},
      {&PySlice_Type, describe_bounds, true},
      {&PyRange_Type, describe_bounds, true},
      {&PyPickleBuffer_Type, describe_buffer, false},
      {&PyModule_Type, describe_module, true},
  };
  if (context.hooks().dispatch_table != nullptr && !PyFunction_Check(object) &&
      user_reducer(context, Py_TYPE(object))) {
    return describe_reduced;
  }
  for (const Row& row : kRows) {
    if (!Py_IS_TYPE(object, row.type)) continue;
    const bool is_registered =
        row.asks_copyreg && user_reducer(context, Py_TYPE(object));
    return is_registered ? describe_reduced : row.describe;
  }
  if (PyType_Check(object)) {
    return is_reduced_by_metaclass(context, object) ? describe_reduced : describe_class;
  }
  if (is_lazy_import(context.state, object)) return describe_lazy_import;
  return describe_reduced;
}

}  // namespace waybill::py
