// Tested by tests/python/kinds/test_instances.py and
// tests/python/cache/test_cached_objects.py.

#include "python/walker/plain_instances.h"

#include <algorithm>
#include <vector>

#include "python/runtime/compat.h"
#include "python/runtime/modules.h"

namespace waybill::py {

namespace {

// copyreg stores a list in __slotnames__, which is empty for classes without slots. It
// accepts whatever else a program stores there.
bool names_slots(const Names& names, PyObject* dict) {
  PyObject* slots = raw_get(dict, names.slotnames.get());
  return slots != nullptr && (!PyList_CheckExact(slots) || PyList_GET_SIZE(slots) != 0);
}

// Whether a dict is small, and none of its names begins with "_".
bool has_plain_names(PyObject* dict) {
  constexpr Py_ssize_t kSmall = 8;
  if (!PyDict_Check(dict) || PyDict_GET_SIZE(dict) > kSmall) return false;
  for (const auto& [name, _] : DictItems(dict)) {
    if (!PyUnicode_CheckExact(name)) return false;
    if (begins_with_underscore(name)) return false;
  }
  return true;
}

// Whether a class in the MRO of a type overrides reduction.
bool overrides_reduction(const Names& names, PyTypeObject* type, bool can_have_slots) {
  for (PyTypeObject* base : mro_of(type)) {
    if (base == &PyBaseObject_Type || base == &PyType_Type) continue;
    const Ref dict = type_dict(base);
    if (!dict || overrides_reduction(names, dict.get())) return true;
    if (!can_have_slots && names_slots(names, dict.get())) return true;
  }
  return false;
}

bool is_like_type(PyTypeObject* metaclass) {
  return metaclass->tp_getattro == PyType_Type.tp_getattro &&
         metaclass->tp_hash == PyType_Type.tp_hash && metaclass->tp_mro != nullptr;
}

// Number of pointers in an instance besides those of its dict and its weak references.
std::size_t count_slots(PyTypeObject* type) {
  auto size = static_cast<std::size_t>(PyBaseObject_Type.tp_basicsize);
  if (type->tp_dictoffset > 0) size += sizeof(PyObject*);
  if (type->tp_weaklistoffset > 0) size += sizeof(PyObject*);
  const auto whole = static_cast<std::size_t>(type->tp_basicsize);
  return whole <= size ? 0 : (whole - size) / sizeof(PyObject*);
}

bool uses_default_reduce(const Names& names, PyTypeObject* type, bool can_have_slots) {
  if (!PyType_HasFeature(type, Py_TPFLAGS_HEAPTYPE) || type->tp_itemsize != 0 ||
      type->tp_getattro != PyObject_GenericGetAttr || type->tp_mro == nullptr) {
    return false;
  }
  PyTypeObject* metaclass = Py_TYPE(type);
  if (overrides_reduction(names, type, can_have_slots)) return false;
  return metaclass == &PyType_Type ||
         (is_like_type(metaclass) && !overrides_reduction(names, metaclass, false));
}

// The offset of the slot with this name; 0 if there is none.
Py_ssize_t offset_of_slot(PyTypeObject* type, PyObject* name) {
  for (PyTypeObject* base : mro_of(type)) {
    PyObject* found = raw_get(base, name);
    if (found != nullptr) return offset_of_member(found);
  }
  return 0;
}

// Whether object.__reduce_ex__ reduces the instances to their class, their dict if they
// have one, and the slots in copyreg's list, and whether these are all slots. The
// result is valid for one version of the class, as long as no program changes copyreg's
// list.
bool has_slot_layout(const Names& names, PyTypeObject* type) {
  if (!uses_default_reduce(names, type, true)) return false;
  PyObject* list = slot_names(names, type);
  if (list == nullptr) return false;
  std::vector<Py_ssize_t> offsets;
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(list); ++i) {
    PyObject* name = PyList_GET_ITEM(list, i);
    if (!PyUnicode_CheckExact(name)) return false;
    offsets.push_back(offset_of_slot(type, name));
  }
  std::ranges::sort(offsets);
  // The offsets are those of all slots: as many, and no two equal.
  return offsets.size() == count_slots(type) && (offsets.empty() || offsets[0] != 0) &&
         std::ranges::adjacent_find(offsets) == offsets.end();
}

// Whether copyreg's table alone can replace the reduction by layout: there is no
// reducer of waybill for the type, no __new__, and no __setstate__.
bool is_reduced_by_layout(const State& state, PyTypeObject* type) {
  if (Py_TYPE(type) != &PyType_Type || type->tp_new != PyBaseObject_Type.tp_new ||
      !has_original_newobj(state)) {
    return false;
  }
  const Ref name = Ref::steal(PyType_GetName(type));
  auto* key = as_object(type);
  if (raw_get(state.reducers.get(), key) != nullptr ||
      raw_get(state.named_reducers.get(), name.get()) != nullptr) {
    return false;
  }
  return std::ranges::none_of(mro_of(type), [&](PyTypeObject* base) {
    return raw_get(base, state.names.setstate.get()) != nullptr;
  });
}

}  // namespace

bool overrides_reduction(const Names& names, PyObject* dict) {
  if (has_plain_names(dict)) return false;
  for (const Ref* name : {&names.reduce_ex, &names.reduce, &names.getstate,
                          &names.getnewargs_ex, &names.getnewargs, &names.class_}) {
    if (raw_get(dict, name->get()) != nullptr) return true;
  }
  return false;
}

bool has_original_newobj(const State& state) {
  PyObject* copyreg = find_module(state, state.names.copyreg.get());
  return copyreg != nullptr &&
         look_up_in(state, copyreg, state.names.newobj.get()) == state.newobj.get();
}

bool has_plain_layout(const Names& names, PyTypeObject* type) {
  return count_slots(type) == 0 && uses_default_reduce(names, type, false);
}

PyObject* slot_names(const Names& names, PyTypeObject* type) {
  PyObject* list = raw_get(type, names.slotnames.get());
  return list != nullptr && PyList_CheckExact(list) ? list : nullptr;
}

void list_slots(const State& state, PyTypeObject* type) {
  if (count_slots(type) == 0 || !is_reduced_by_layout(state, type) ||
      raw_get(type, state.names.slotnames.get()) != nullptr) {
    return;
  }
  PyObject* copyreg = find_module(state, state.names.copyreg.get());
  PyObject* list =
      look_up_in(state, copyreg, state.intern_table.get("_slotnames").get());
  if (list == nullptr) return;
  if (!Ref::steal_or_null(PyObject_CallOneArg(list, as_object(type)))) {
    ignore_error(PyExc_Exception);
  }
}

bool travels_as_members(const State& state, PyObject* object) {
  PyTypeObject* type = Py_TYPE(object);
  return is_reduced_by_layout(state, type) &&
         (has_plain_layout(state.names, type) || has_slot_layout(state.names, type));
}

}  // namespace waybill::py
