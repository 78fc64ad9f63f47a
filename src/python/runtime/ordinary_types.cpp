// Tested by tests/python/kinds/test_instances_received.py.

#include "python/runtime/ordinary_types.h"

#include "python/runtime/attribute.h"
#include "python/runtime/compat.h"
#include "python/runtime/state.h"

namespace waybill::py {

namespace {

// Whether a class of the type's own decides how its instances get their state:
// __setstate__, or a __dict__ that is not the one the interpreter gives.
bool overrides_state(const Names& names, PyTypeObject* type) {
  for (PyTypeObject* base : order_of(type)) {
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

bool OrdinaryTypes::have(const Names& names, PyTypeObject* type) {
  if (know(type)) return true;
  const std::uint32_t version = assigned_version(type, names.reduce_ex.get());
  if (!PyType_HasFeature(type, Py_TPFLAGS_HEAPTYPE) ||
      PyType_HasFeature(type, Py_TPFLAGS_IS_ABSTRACT) ||
      type->tp_new != PyBaseObject_Type.tp_new || type->tp_finalize != nullptr ||
      type->tp_del != nullptr || type->tp_dictoffset == 0 ||
      type->tp_getattro != PyObject_GenericGetAttr || type->tp_mro == nullptr ||
      overrides_state(names, type)) {
    return false;
  }
  note(type, version);
  return true;
}

}  // namespace waybill::py
