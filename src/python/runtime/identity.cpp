// Tested by tests/python/classes/test_class_identity.py.

#include "python/runtime/identity.h"

#include "python/runtime/attribute.h"
#include "python/runtime/compat.h"
#include "python/runtime/modules.h"

namespace waybill::py {

Ref object_with_id(const State& state, PyObject* id) {
  PyObject* reference = raw_get(state.known_objects.get(), id);
  return reference == nullptr ? Ref() : weakly_referenced(reference);
}

Ref identified_object(const State& state, PyObject* id) {
  Ref object = object_with_id(state, id);
  PyObject* open = state.open_objects.get();
  if (object && PyDict_GET_SIZE(open) != 0 && raw_get(open, id) != nullptr) return {};
  return object;
}

PyObject* tracked_entry(const State& state, PyObject* object) {
  const Ref address = Ref::steal(PyLong_FromVoidPtr(object));
  PyObject* entry = raw_get(state.known_ids.get(), address.get());
  const bool is_its_own =
      entry != nullptr && weakly_referenced(PyTuple_GET_ITEM(entry, 0)).get() == object;
  return is_its_own ? entry : nullptr;
}

bool has_id(const State& state, PyObject* object) {
  return tracked_entry(state, object) != nullptr;
}

bool has_source_id(const State& state, PyObject* type) {
  if (PyDict_GET_SIZE(state.text_ids.get()) == 0) return false;
  const Ref address = Ref::steal(PyLong_FromVoidPtr(type));
  PyObject* entry = raw_get(state.text_ids.get(), address.get());
  return entry != nullptr &&
         weakly_referenced(PyTuple_GET_ITEM(entry, 0)).get() == type;
}

bool came_with_source(const State& state, PyObject* type) {
  return type != nullptr && has_source_id(state, type) && !is_home(state, type);
}

bool is_home(const State& state, PyObject* type) {
  PyObject* entry = tracked_entry(state, type);
  return entry == nullptr || PyTuple_GET_ITEM(entry, 2) == Py_True;
}

}  // namespace waybill::py
