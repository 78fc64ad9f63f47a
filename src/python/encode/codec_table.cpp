// The only list of kinds of objects that are neither leaves, containers nor modules.

#include "python/encode/codec.h"
#include "python/runtime/modules.h"

namespace waybill::py {

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
      {&PySlice_Type, describe_slice, true},
      {&PyRange_Type, describe_range, true},
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
