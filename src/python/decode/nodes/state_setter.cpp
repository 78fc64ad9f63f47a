// Items, then pairs, then state: pickle's order.
// Tested by tests/python/kinds/test_reduce.py.

#include "python/decode/nodes/state_setter.h"

#include "python/decode/standard_types.h"
#include "python/runtime/attribute.h"
#include "python/runtime/compat.h"

namespace waybill::py {

namespace {

using wire::NodeTag;

// Code that runs meanwhile may have got hold of the list.
void add_items(const State& state, PyObject* object, PyObject* items) {
  // As pickle does it: who overrides append() to watch items does not see these.
  if (Ref extend = attribute_or_null(object, state.names.extend)) {
    Ref::steal(PyObject_CallOneArg(extend.get(), items));
    return;
  }
  const Ref append = get_attribute(object, "append");
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(items); ++i) {
    const Ref item = Ref::share(PyList_GET_ITEM(items, i));
    Ref::steal(PyObject_CallOneArg(append.get(), item.get()));
  }
}

void add_pairs(PyObject* object, PyObject* pairs) {
  for (Py_ssize_t i = 0; i + 1 < PyList_GET_SIZE(pairs); i += 2) {
    const Ref key = Ref::share(PyList_GET_ITEM(pairs, i));
    const Ref value = Ref::share(PyList_GET_ITEM(pairs, i + 1));
    check(PyObject_SetItem(object, key.get(), value.get()));
  }
}

// Whether the classes of an object say what all of its attributes are, as proxies do:
// until its state is there, asking or setting one would ask the state.
bool is_proxy(PyObject* object) {
  PyTypeObject* type = Py_TYPE(object);
  return PyType_HasFeature(type, Py_TPFLAGS_HEAPTYPE) && !PyType_Check(object) &&
         type->tp_getattro != PyObject_GenericGetAttr &&
         type->tp_setattro != PyObject_GenericSetAttr;
}

// Whether a state has entries for an object without __setstate__. Those of anything
// else would be lost. False is what __getstate__ says of an object without state.
bool has_entries(GraphDecoder& decoder, PyObject* object, PyObject* state) {
  if (state == Py_None || state == Py_False) return false;
  if (PyDict_Check(state)) return PyDict_GET_SIZE(state) != 0;
  decoder.fail(ErrorCode::kMalformed,
               "state of the type " + std::string(Py_TYPE(state)->tp_name) + " for " +
                   std::string(Py_TYPE(object)->tp_name) +
                   ", which has no __setstate__: a dict, or a tuple of two, is what it "
                   "takes");
}

// Whether the object's class has a slot of this name.
bool has_slot(PyObject* object, PyObject* name) {
  PyObject* descriptor = _PyType_Lookup(Py_TYPE(object), name);
  if (descriptor == nullptr) PyErr_Clear();
  return descriptor != nullptr && offset_of_member(descriptor) != 0;
}

// As for the entries of a dict, no __setattr__ runs for slots: it may refuse, as that
// of a frozen dataclass does, or do more than to set.
void set_attributes(GraphDecoder& decoder, PyObject* object, PyObject* attributes) {
  if (!has_entries(decoder, object, attributes)) return;
  const bool is_object_a_proxy = is_proxy(object);
  Py_ssize_t position = 0;
  PyObject *name, *value;
  while (PyDict_Next(attributes, &position, &name, &value)) {
    const Ref keep[] = {Ref::share(name), Ref::share(value)};
    demand_no_shadow(decoder, object, name, value, true);
    const bool is_plain = is_object_a_proxy || has_slot(object, name);
    const setattrofunc set = is_plain ? PyObject_GenericSetAttr : PyObject_SetAttr;
    check(set(object, name, value));
  }
}

// The instance's dict takes the entries as they are: no __setattr__ runs.
void update_dict(GraphDecoder& decoder, PyObject* object, PyObject* entries) {
  if (!has_entries(decoder, object, entries)) return;
  const Names& names = decoder.state().names;
  const Ref dict = is_proxy(object)
                       ? Ref::steal(PyObject_GenericGetDict(object, nullptr))
                       : Ref::steal(PyObject_GetAttr(object, names.dict.get()));
  const bool is_dict = PyDict_CheckExact(dict.get());
  Py_ssize_t position = 0;
  PyObject *name, *value;
  while (PyDict_Next(entries, &position, &name, &value)) {
    PyObject* key = Ref::share(name).release();
    if (PyUnicode_CheckExact(key)) PyUnicode_InternInPlace(&key);
    const Ref interned = Ref::steal(key);
    const Ref held = Ref::share(value);
    demand_no_shadow(decoder, object, name, value, false);
    check(is_dict ? PyDict_SetItem(dict.get(), interned.get(), value)
                  : PyObject_SetItem(dict.get(), interned.get(), value));
  }
}

// Those that wait go there too.
void move_late_entries(GraphDecoder& decoder, PyObject* object, PyObject* entries) {
  if (!PyDict_Check(entries) || !decoder.has_late_entries(entries)) return;
  const Ref dict =
      Ref::steal(PyObject_GetAttr(object, decoder.state().names.dict.get()));
  if (PyDict_CheckExact(dict.get())) decoder.move_late_entries(entries, dict.get());
}

// The object's __setstate__; null if it has none. A __getattr__ is not asked: it may
// answer for every name, by what is not there yet.
Ref setter_of(const State& state, PyObject* object) {
  if (!PyType_HasFeature(Py_TYPE(object), Py_TPFLAGS_HEAPTYPE) ||
      PyType_Check(object)) {
    return attribute_or_null(object, state.names.setstate);
  }
  Ref setter =
      Ref::steal_or_null(PyObject_GenericGetAttr(object, state.names.setstate.get()));
  if (!setter) ignore_error(PyExc_AttributeError);
  return setter;
}

// Whether another Python has told a state that is not set as it is, and now is.
bool set_foreign_state(GraphDecoder& decoder, PyObject* object, PyObject* value) {
  if (!decoder.code().is_foreign()) return false;
  const Ref is_set = Ref::steal(PyObject_CallFunctionObjArgs(
      late(decoder.state(), &LateHelpers::set_foreign_state), object, value, nullptr));
  return is_set.get() == Py_True;
}

void set_state(GraphDecoder& decoder, PyObject* object, PyObject* value) {
  if (value == Py_None || set_foreign_state(decoder, object, value)) return;
  if (Ref setter = setter_of(decoder.state(), object)) {
    Ref::steal(PyObject_CallOneArg(setter.get(), value));
    return;
  }
  if (PyTuple_CheckExact(value) && PyTuple_GET_SIZE(value) == 2) {
    update_dict(decoder, object, PyTuple_GET_ITEM(value, 0));
    move_late_entries(decoder, object, PyTuple_GET_ITEM(value, 0));
    set_attributes(decoder, object, PyTuple_GET_ITEM(value, 1));
  } else {
    update_dict(decoder, object, value);
    move_late_entries(decoder, object, value);
  }
}

// `setter`: null if there is none. The last parts were passed over if they are empty.
template <NodeTag kTag>
void finish(GraphDecoder& decoder, const Frame& frame, PyObject* callable,
            PyObject* setter) {
  const auto part_or_null = [&](PartOf<kTag> part) {
    return part.position < frame.node->children.size() ? frame.part(part) : nullptr;
  };
  PyObject* object = frame.object.get();
  PyObject* const told = part_or_null("state");
  PyObject* value = told == nullptr ? Py_None : told;
  PyObject* items = part_or_null("items");
  PyObject* pairs = part_or_null("pairs");
  const Py_ssize_t item_count = items == nullptr ? 0 : PyList_GET_SIZE(items);
  const Py_ssize_t pair_count = pairs == nullptr ? 0 : PyList_GET_SIZE(pairs) / 2;
  const StandardType* type =
      callable == nullptr ? nullptr : standard_type(decoder, callable);
  if (type != nullptr) {
    demand_contents(decoder, *type, value, item_count, pair_count, setter != nullptr);
  }
  if (item_count != 0) add_items(decoder.state(), object, items);
  if (pair_count != 0) add_pairs(object, pairs);
  if (setter != nullptr) {
    Ref::steal(PyObject_CallFunctionObjArgs(setter, object, value, nullptr));
  } else {
    set_state(decoder, object, value);
  }
}

}  // namespace

Ref finish_reduced(GraphDecoder& decoder, Frame& frame) {
  constexpr PartOf<NodeTag::kObject> kSetter = "setter";
  const bool has_setter = frame.node->children.size() > kSetter.position;
  finish<NodeTag::kObject>(decoder, frame, frame.part<NodeTag::kObject>("callable"),
                           has_setter ? frame.part(kSetter) : nullptr);
  return {};
}

Ref finish_new(GraphDecoder& decoder, Frame& frame) {
  // The class is null of an instance that was there.
  finish<NodeTag::kNewObject>(decoder, frame, frame.part<NodeTag::kNewObject>("class"),
                              nullptr);
  return {};
}

}  // namespace waybill::py
