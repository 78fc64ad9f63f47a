// Tested by tests/python/kinds/test_instances.py and
// tests/python/cache/test_kept_objects.py.

#include "python/walker/plain_instances.h"

#include <algorithm>
#include <vector>

#include "python/runtime/compat.h"
#include "python/runtime/modules.h"

namespace waybill::py {

namespace {

// copyreg keeps a list there, empty for classes without slots; what others put there it
// takes.
bool names_slots(const Names& names, PyObject* dict) {
  PyObject* slots = raw_get(dict, names.slotnames.get());
  return slots != nullptr && (!PyList_CheckExact(slots) || PyList_GET_SIZE(slots) != 0);
}

// Whether a small dict shows at a glance that none of its names begins with "_".
bool has_plain_names(PyObject* dict) {
  constexpr Py_ssize_t kSmall = 8;
  if (!PyDict_Check(dict) || PyDict_GET_SIZE(dict) > kSmall) return false;
  for (const auto& [name, _] : PairsOf(dict)) {
    if (!PyUnicode_CheckExact(name)) return false;
    if (begins_with_underscore(name)) return false;
  }
  return true;
}

// Whether a type's own classes have a say, or its metaclass, which is asked first.
bool has_own_say(const Names& names, PyTypeObject* type, bool may_have_slots) {
  for (PyTypeObject* base : order_of(type)) {
    if (base == &PyBaseObject_Type || base == &PyType_Type) continue;
    const Ref dict = type_dict(base);
    if (!dict || has_own_say(names, dict.get())) return true;
    if (!may_have_slots && names_slots(names, dict.get())) return true;
  }
  return false;
}

bool is_like_type(PyTypeObject* metaclass) {
  return metaclass->tp_getattro == PyType_Type.tp_getattro &&
         metaclass->tp_hash == PyType_Type.tp_hash && metaclass->tp_mro != nullptr;
}

// How many pointers instances have besides a dict and a list of weak references.
std::size_t count_slots(PyTypeObject* type) {
  auto size = static_cast<std::size_t>(PyBaseObject_Type.tp_basicsize);
  if (type->tp_dictoffset > 0) size += sizeof(PyObject*);
  if (type->tp_weaklistoffset > 0) size += sizeof(PyObject*);
  const auto whole = static_cast<std::size_t>(type->tp_basicsize);
  return whole <= size ? 0 : (whole - size) / sizeof(PyObject*);
}

bool is_asked_by_object(const Names& names, PyTypeObject* type, bool may_have_slots) {
  if (!PyType_HasFeature(type, Py_TPFLAGS_HEAPTYPE) || type->tp_itemsize != 0 ||
      type->tp_getattro != PyObject_GenericGetAttr || type->tp_mro == nullptr) {
    return false;
  }
  PyTypeObject* metaclass = Py_TYPE(type);
  if (has_own_say(names, type, may_have_slots)) return false;
  return metaclass == &PyType_Type ||
         (is_like_type(metaclass) && !has_own_say(names, metaclass, false));
}

// Where the slot is that an attribute of this name is; 0 if it is none.
Py_ssize_t place_of_slot(PyTypeObject* type, PyObject* name) {
  for (PyTypeObject* base : order_of(type)) {
    PyObject* found = raw_get(type_dict(base).get(), name);
    if (found != nullptr) return place_of_member(found);
  }
  return 0;
}

}  // namespace

bool has_own_say(const Names& names, PyObject* dict) {
  if (has_plain_names(dict)) return false;
  for (const Ref* name : {&names.reduce_ex, &names.reduce, &names.getstate,
                          &names.getnewargs_ex, &names.getnewargs, &names.class_}) {
    if (raw_get(dict, name->get()) != nullptr) return true;
  }
  return false;
}

bool is_made_by_newobj(const State& state) {
  PyObject* copyreg = find_module(state, state.names.copyreg.get());
  return copyreg != nullptr &&
         look_into(state, copyreg, state.names.newobj.get()) == state.newobj.get();
}

bool is_laid_out_plainly(const Names& names, PyTypeObject* type) {
  return count_slots(type) == 0 && is_asked_by_object(names, type, false);
}

PyObject* slot_names(const Names& names, PyTypeObject* type) {
  PyObject* list = raw_get(type_dict(type).get(), names.slotnames.get());
  return list != nullptr && PyList_CheckExact(list) ? list : nullptr;
}

namespace {

// Whether it takes them apart as their class, their dict if they have one, and the
// slots that copyreg's list of the class names, which are all that they have besides.
// That it does so, what the list names and where the slots are does not change unless
// the version of the class does; but the list is one that a program can change.
bool is_laid_out_in_slots(const Names& names, PyTypeObject* type) {
  if (!is_asked_by_object(names, type, true)) return false;
  PyObject* list = slot_names(names, type);
  if (list == nullptr) return false;
  std::vector<Py_ssize_t> places;
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(list); ++i) {
    PyObject* name = PyList_GET_ITEM(list, i);
    if (!PyUnicode_CheckExact(name)) return false;
    places.push_back(place_of_slot(type, name));
  }
  std::ranges::sort(places);
  // Each of all pointers once.
  return places.size() == count_slots(type) && (places.empty() || places[0] != 0) &&
         std::ranges::adjacent_find(places) == places.end();
}

// Whether nothing but copyreg's table has, as of now, a say in how such instances are
// taken apart: neither a reducer of ours, nor what their class sets or makes.
bool is_taken_apart_by_layout(const State& state, PyTypeObject* type) {
  if (Py_TYPE(type) != &PyType_Type || type->tp_new != PyBaseObject_Type.tp_new ||
      !is_made_by_newobj(state)) {
    return false;
  }
  const Ref name = Ref::steal(PyType_GetName(type));
  auto* key = as_object(type);
  if (raw_get(state.reducers.get(), key) != nullptr ||
      raw_get(state.named_reducers.get(), name.get()) != nullptr) {
    return false;
  }
  return std::ranges::none_of(order_of(type), [&](PyTypeObject* base) {
    return raw_get(type_dict(base).get(), state.names.setstate.get()) != nullptr;
  });
}

}  // namespace

bool travels_as_members(const State& state, PyObject* object) {
  PyTypeObject* type = Py_TYPE(object);
  return is_taken_apart_by_layout(state, type) &&
         (is_laid_out_plainly(state.names, type) ||
          is_laid_out_in_slots(state.names, type));
}

}  // namespace waybill::py
