#pragma once

// How guards compare a single object: by value, by name, by its reduced form, or by its
// items.

#include <Python.h>

#include <algorithm>
#include <cstdint>

#include "python/runtime/attribute.h"
#include "python/runtime/modules.h"
#include "python/runtime/ref.h"
#include "python/runtime/state.h"
#include "python/walker/class_attributes.h"
#include "python/walker/plain_instances.h"

namespace waybill::py {

// Whether an object is text, None or null, as __name__ and __package__ of a namespace
// are.
bool is_text_or_none(PyObject* object);

// Whether guards compare an object by type and value: a number, a singleton, or text or
// bytes that are short enough to be held.
bool is_constant(PyObject* object);
// Whether two constants are written as the same bytes.
bool is_same_constant(PyObject* a, PyObject* b);

// A copy of text or bytes. Guards hold it in order not to keep a reference to the leaf.
Ref copy_of_leaf(PyObject* leaf);

// Whether an object is an exact tuple, list, dict or set, whose items guards compare.
bool is_guarded_container(PyObject* value);

// Whether the program has registered a reducer for the type of an object.
bool is_reduced_by_user(const State& state, PyObject* object);

// Whether a class or function still has this module and name. Of classes and functions
// in C, only the module of a function can change.
bool has_recorded_name(const State& state, PyObject* object, PyObject* module,
                       PyObject* name);

// Flag of a namespace: its module may be importable.
inline constexpr std::uint32_t kMayBeImported = 4;

// Flags that, besides __name__ and __package__, decide how a namespace is written.
std::uint32_t namespace_flags(const State& state, PyObject* globals, PyObject* name);

// The id under which a class travels; null if it has none.
PyObject* tracked_id(const State& state, PyObject* type);

// The form of an object that travels as a call or as a name. Calls: property and the
// like, a mapping proxy, a field of a named tuple, list[int], types of typing, objects
// of waybill._reducers.CALL_TYPES, such as dates, loggers and patterns. Names: a
// sentinel of dataclasses, tuple.__new__. Both parts are null for all other objects.
struct ReducedForm {
  Ref call;          // A tuple of the callable and its arguments.
  GlobalName place;  // In the module of its class, or in a type.
};
// Calls the reducers of types of typing and of CALL_TYPES, which have no side effects.
ReducedForm reduced_form_of(const State& state, PyObject* object);

// Sets `dict` to the dict of an instance, or to null if it has none. False if the dict
// is not an exact dict, or overrides reduction.
bool find_own_dict(const State& state, PyObject* object, Ref& dict);

// Whether an annotation neither is nor contains text.
bool has_no_text(PyObject* annotation, int depth = 0);

// Number of items of a container, or of pairs of a dict.
Py_ssize_t item_count(PyObject* container);

// Visits the items of a container. May run Python code, which may change the container.
template <typename Visitor>
bool walk_items(PyObject* container, Visitor& visitor, int depth) {
  if (PyDict_CheckExact(container)) {
    for (const auto& [key, value] : DictItems(container)) {
      const Ref held = Ref::share(key);
      if (!visitor.visit_value(value, false, depth) ||
          !visitor.visit_value(key, false, depth)) {
        return false;
      }
    }
    return true;
  }
  if (PyAnySet_CheckExact(container)) {
    if (PySet_GET_SIZE(container) == 0) return true;
    const Ref items = Ref::steal(PyObject_GetIter(container));
    while (const Ref item = Ref::steal_or_null(PyIter_Next(items.get()))) {
      if (!visitor.visit_element(item.get())) return false;
    }
    check(PyErr_Occurred() ? -1 : 0);
    return true;
  }
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(container); ++i) {
    if (!visitor.visit_value(PySequence_Fast_GET_ITEM(container, i), false, depth)) {
      return false;
    }
  }
  return true;
}

template <typename Visitor>
bool walk_call(PyObject* call, Visitor& visitor, int depth) {
  return std::ranges::all_of(items_of(call), [&](PyObject* part) {
    return visitor.visit_value(part, false, depth);
  });
}

template <typename Visitor>
bool walk_members(const State& state, PyObject* object, Visitor& visitor, int depth) {
  PyTypeObject* type = Py_TYPE(object);
  const Ref name = Ref::steal(PyType_GetName(type));
  if (!visitor.visit_value(as_object(type), false, depth) ||
      !visitor.visit_value(name.get(), false, depth)) {
    return false;
  }
  const auto slot = [&](PyObject* value) {
    return visitor.visit_value(value, false, depth);
  };
  Ref dict;
  if (!visit_slots(object, slot) || !find_own_dict(state, object, dict)) return false;
  const Py_ssize_t count = dict ? PyDict_GET_SIZE(dict.get()) : 0;
  if (!visitor.visit_count(static_cast<std::size_t>(count))) return false;
  // An instance travels without an empty dict.
  return count == 0 ||
         (visitor.visit_object(dict.get()) && walk_items(dict.get(), visitor, depth));
}

}  // namespace waybill::py
