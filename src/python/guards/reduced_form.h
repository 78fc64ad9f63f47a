#pragma once

// Objects that are no functions, classes, modules or containers, and that guards
// compare by what they are made of.

#include <Python.h>

#include <algorithm>

#include "python/runtime/attribute.h"
#include "python/runtime/modules.h"
#include "python/runtime/ref.h"
#include "python/runtime/state.h"
#include "python/walker/class_attributes.h"
#include "python/walker/plain_instances.h"

namespace waybill::py {

// How an object travels that is made by a call, or found by name: a property and the
// like, a mapping proxy, a field of a named tuple, list[int] or what typing has; a
// sentinel of dataclasses, tuple.__new__. Null parts for all else.
struct ReducedForm {
  Ref call;          // A tuple: what is called, and with what.
  GlobalName place;  // In the module of its class, or in a type.
};
// Types of typing are asked each time; to take them apart has no effect on anything.
ReducedForm reduced_form_of(const State& state, PyObject* object);

// The dict of such an object, null if it has none. False if it is no plain one, says
// itself how the object travels, or if somebody else has it, who may send it too.
bool find_own_dict(const State& state, PyObject* object, Ref& dict);

// Whether an annotation has no text in it that names anything, and is none itself.
bool is_without_text(PyObject* annotation, int depth = 0);

// How many items a container has, or pairs.
Py_ssize_t count_of(PyObject* container);

// Shows a visitor what is in a container. That may run code, which may change it.
template <typename Visitor>
bool walk_items(PyObject* container, Visitor& visitor, int depth) {
  if (PyDict_CheckExact(container)) {
    for (const auto& [key, value] : PairsOf(container)) {
      const Ref held = Ref::share(key);
      if (!visitor.value(value, false, depth) || !visitor.value(key, false, depth)) {
        return false;
      }
    }
    return true;
  }
  if (PyAnySet_CheckExact(container)) {
    if (PySet_GET_SIZE(container) == 0) return true;
    const Ref items = Ref::steal(PyObject_GetIter(container));
    while (const Ref item = Ref::steal_or_null(PyIter_Next(items.get()))) {
      if (!visitor.element(item.get())) return false;
    }
    check(PyErr_Occurred() ? -1 : 0);
    return true;
  }
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(container); ++i) {
    if (!visitor.value(PySequence_Fast_GET_ITEM(container, i), false, depth)) {
      return false;
    }
  }
  return true;
}

template <typename Visitor>
bool walk_call(PyObject* call, Visitor& visitor, int depth) {
  return std::ranges::all_of(items_of(call), [&](PyObject* part) {
    return visitor.value(part, false, depth);
  });
}

template <typename Visitor>
bool walk_members(const State& state, PyObject* object, Visitor& visitor, int depth) {
  PyTypeObject* type = Py_TYPE(object);
  const Ref name = Ref::steal(PyType_GetName(type));
  if (!visitor.value(as_object(type), false, depth) ||
      !visitor.value(name.get(), false, depth)) {
    return false;
  }
  const auto slot = [&](PyObject* value) { return visitor.value(value, false, depth); };
  Ref dict;
  if (!visit_slots(object, slot) || !find_own_dict(state, object, dict)) return false;
  if (!dict) return visitor.count(0);
  return visitor.count(static_cast<std::size_t>(PyDict_GET_SIZE(dict.get()))) &&
         visitor.own_dict(dict.get()) && walk_items(dict.get(), visitor, depth);
}

}  // namespace waybill::py
