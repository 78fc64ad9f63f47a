// The only list of kinds of objects that are neither leaves, containers nor modules.

#include "python/codec.h"
#include "python/modules.h"

namespace waybill::py {

Describe codec_for(GraphEncoder& encoder, PyObject* object) {
  struct Row {
    PyTypeObject* type;
    Describe describe;
  };
  static const Row kRows[] = {
      {&PyFunction_Type, describe_function},   {&PyCell_Type, describe_cell},
      {&PyCode_Type, describe_code},           {&PyByteArray_Type, describe_byte_array},
      {&PySlice_Type, describe_slice},         {&PyRange_Type, describe_range},
      {&PyPickleBuffer_Type, describe_buffer}, {&PyModule_Type, describe_module},
  };
  if (encoder.hooks().dispatch_table != nullptr && !PyFunction_Check(object) &&
      user_reducer(encoder, Py_TYPE(object))) {
    return describe_reduced;
  }
  for (const Row& row : kRows) {
    if (Py_IS_TYPE(object, row.type)) return row.describe;
  }
  if (PyType_Check(object)) {
    // Metaclasses may have reducers.
    return !PyType_CheckExact(object) && user_reducer(encoder, Py_TYPE(object))
               ? describe_reduced
               : describe_class;
  }
  if (is_lazy_import(encoder.state(), object)) return describe_lazy_import;
  return describe_reduced;
}

}  // namespace waybill::py
