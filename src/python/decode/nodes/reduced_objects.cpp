// Objects that calls make: the call, which a gate may restrict, then items, pairs and
// state, in pickle's order.
// Tested by tests/python/kinds/test_reduce.py,
// tests/python/untrusted/test_untrusted_input.py.

#include <span>
#include <string>
#include <utility>

#include "python/decode/nodes/node_codecs.h"
#include "python/decode/standard_types.h"
#include "python/runtime/attribute.h"
#include "python/runtime/compat.h"
#include "python/runtime/objects.h"

namespace waybill::py {

namespace {

using wire::NodeTag;

// ---- Calls -------------------------------------------------------------------------

// Whether a dict made from the argument gets keys that the decoder has not examined, as
// from a range or from a list of pairs.
bool has_unchecked_keys(PyObject* argument) {
  if (PyDict_Check(argument) || PyUnicode_Check(argument) || PyBytes_Check(argument)) {
    return false;
  }
  return Py_TYPE(argument)->tp_iter != nullptr || PySequence_Check(argument) != 0;
}

// Refuses to make a dict by a call with such arguments: it would insert their keys
// without the key guard.
void demand_counted_keys(GraphDecoder& decoder, PyObject* callable,
                         std::span<PyObject* const> arguments) {
  if (!decoder.counts_keys_of(callable)) return;
  for (PyObject* argument : arguments) {
    if (!has_unchecked_keys(argument)) continue;
    decoder.fail(ErrorCode::kLimitExceeded,
                 "a dict that is not made from a dict, so that max_key_steps "
                 "cannot count the cost of its keys");
  }
}

// Refuses a list of arguments that the gate does not accept for the callable.
void demand_accepted(GraphDecoder& decoder, PyObject* callable, PyObject* list) {
  if (!PyList_CheckExact(list)) {
    decoder.fail(ErrorCode::kMalformed, "arguments that are not an array");
  }
  const std::span<PyObject* const> arguments = items_of(list);
  demand_counted_keys(decoder, callable, arguments);
  if (const StandardType* type = standard_type(decoder, callable)) {
    demand_arguments(decoder, *type, arguments);
  }
}

// ---- Items, pairs and state --------------------------------------------------------

// Holds a reference to each item, because code that runs meanwhile may change the list.
void add_items(const State& state, PyObject* object, PyObject* items) {
  // Prefers extend(), as pickle does: an overridden append() is not called.
  if (Ref extend = attribute_or_null(object, state.names.extend)) {
    call(extend.get(), items);
    return;
  }
  const Ref append = get_attribute(object, "append");
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(items); ++i) {
    const Ref item = Ref::share(PyList_GET_ITEM(items, i));
    call(append.get(), item.get());
  }
}

void add_pairs(PyObject* object, PyObject* pairs) {
  for (Py_ssize_t i = 0; i + 1 < PyList_GET_SIZE(pairs); i += 2) {
    const Ref key = Ref::share(PyList_GET_ITEM(pairs, i));
    const Ref value = Ref::share(PyList_GET_ITEM(pairs, i + 1));
    check(PyObject_SetItem(object, key.get(), value.get()));
  }
}

// Whether the class of an object intercepts all attributes, as that of a proxy does.
// Its methods would use the state, which is not set yet.
bool is_proxy(PyObject* object) {
  PyTypeObject* type = Py_TYPE(object);
  return PyType_HasFeature(type, Py_TPFLAGS_HEAPTYPE) && !PyType_Check(object) &&
         type->tp_getattro != PyObject_GenericGetAttr &&
         type->tp_setattro != PyObject_GenericSetAttr;
}

// Whether a state has entries for an object without __setstate__. Refuses states of
// other types, which would be lost. None and False mean no state, as for pickle.
bool has_entries(GraphDecoder& decoder, PyObject* object, PyObject* state) {
  if (state == Py_None || state == Py_False) return false;
  if (PyDict_Check(state)) return PyDict_GET_SIZE(state) != 0;
  decoder.fail(ErrorCode::kMalformed,
               "state of the type " + std::string(Py_TYPE(state)->tp_name) + " for " +
                   std::string(Py_TYPE(object)->tp_name) +
                   ", which has no __setstate__ and needs a dict, or a tuple of two "
                   "dicts");
}

// Whether the object's class has a slot of this name.
bool has_slot(PyObject* object, PyObject* name) {
  PyObject* descriptor = _PyType_Lookup(Py_TYPE(object), name);
  if (descriptor == nullptr) PyErr_Clear();
  return descriptor != nullptr && offset_of_member(descriptor) != 0;
}

// As for the entries of a dict, no __setattr__ runs for slots: it may refuse, as that
// of a frozen dataclass does, or have side effects.
void set_attributes(GraphDecoder& decoder, PyObject* object, PyObject* attributes) {
  if (!has_entries(decoder, object, attributes)) return;
  const bool is_object_a_proxy = is_proxy(object);
  for (const auto& [name, value] : DictItems(attributes)) {
    const Ref keep[] = {Ref::share(name), Ref::share(value)};
    demand_no_shadow(decoder, object, name, value, true);
    const bool is_plain = is_object_a_proxy || has_slot(object, name);
    const setattrofunc set = is_plain ? PyObject_GenericSetAttr : PyObject_SetAttr;
    check(set(object, name, value));
  }
}

// Stores the entries in the instance's dict: no __setattr__ runs.
void update_dict(GraphDecoder& decoder, PyObject* object, PyObject* entries) {
  if (!has_entries(decoder, object, entries)) return;
  const Names& names = decoder.state().names;
  const Ref dict = is_proxy(object)
                       ? Ref::steal(PyObject_GenericGetDict(object, nullptr))
                       : get_attribute(object, names.dict);
  const bool is_dict = PyDict_CheckExact(dict.get());
  for (const auto& [name, value] : DictItems(entries)) {
    Ref key = Ref::share(name);
    if (PyUnicode_CheckExact(name)) key = interned(std::move(key));
    const Ref held = Ref::share(value);
    demand_no_shadow(decoder, object, name, value, false);
    check(is_dict ? PyDict_SetItem(dict.get(), key.get(), value)
                  : PyObject_SetItem(dict.get(), key.get(), value));
  }
}

// Redirects deferred entries of the state to the instance's dict.
void move_deferred_entries(GraphDecoder& decoder, PyObject* object, PyObject* entries) {
  if (!PyDict_Check(entries) || !decoder.has_deferred_entries(entries)) return;
  const Ref dict = get_attribute(object, decoder.state().names.dict);
  if (PyDict_CheckExact(dict.get())) decoder.move_deferred_entries(entries, dict.get());
}

// The object's __setstate__; null if it has none. Calls no __getattr__, which may
// accept every name, or use attributes that are not set yet.
Ref setter_of(const State& state, PyObject* object) {
  if (!PyType_HasFeature(Py_TYPE(object), Py_TPFLAGS_HEAPTYPE) ||
      PyType_Check(object)) {
    return attribute_or_null(object, state.names.setstate);
  }
  return steal_unless(PyExc_AttributeError,
                      PyObject_GenericGetAttr(object, state.names.setstate.get()));
}

// Sets a state that needs conversion since another Python version wrote it; false if it
// needs none.
bool set_foreign_state(GraphDecoder& decoder, PyObject* object, PyObject* value) {
  if (!decoder.code().is_foreign()) return false;
  const Ref is_set = call(lazy_helper(decoder.state(), &LazyHelpers::set_foreign_state),
                          object, value);
  return is_set.get() == Py_True;
}

void set_state(GraphDecoder& decoder, PyObject* object, PyObject* value) {
  if (value == Py_None || set_foreign_state(decoder, object, value)) return;
  if (Ref setter = setter_of(decoder.state(), object)) {
    call(setter.get(), value);
    return;
  }
  if (PyTuple_CheckExact(value) && PyTuple_GET_SIZE(value) == 2) {
    update_dict(decoder, object, PyTuple_GET_ITEM(value, 0));
    move_deferred_entries(decoder, object, PyTuple_GET_ITEM(value, 0));
    set_attributes(decoder, object, PyTuple_GET_ITEM(value, 1));
  } else {
    update_dict(decoder, object, value);
    move_deferred_entries(decoder, object, value);
  }
}

// Adds items, pairs and state to an object. `setter`: may be null. The decoder omits
// the last parts if they are empty.
template <NodeTag kTag>
void finish(GraphDecoder& decoder, const Frame& frame, PyObject* callable,
            PyObject* setter) {
  const auto part_or_null = [&](PartOf<kTag> part) {
    return part.position < frame.node->children.size() ? frame.part(part) : nullptr;
  };
  PyObject* object = frame.object.get();
  PyObject* const state = part_or_null("state");
  PyObject* value = state == nullptr ? Py_None : state;
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
    call(setter, object, value);
  } else {
    set_state(decoder, object, value);
  }
}

}  // namespace

Ref call_reducer(GraphDecoder& decoder, Frame& frame) {
  const auto part = frame.parts<NodeTag::kObject>();
  demand_accepted(decoder, part("callable"), part("args"));
  Ref arguments = Ref::steal(PySequence_Tuple(part("args")));
  return Ref::steal(PyObject_Call(part("callable"), arguments.get(), nullptr));
}

Ref call_new(GraphDecoder& decoder, Frame& frame) {
  const auto part = frame.parts<NodeTag::kNewObject>();
  PyObject* type = part("class");
  if (!PyType_Check(type) || !PyDict_CheckExact(part("kwargs")) ||
      !PyList_CheckExact(part("args"))) {
    decoder.fail(ErrorCode::kMalformed, "an instance of something that is not a class");
  }
  // Calls the slot, as pickle does: looking up __new__ would bind a method.
  auto* cls = as_type(type);
  if (cls->tp_new == nullptr) {
    raise(PyExc_TypeError, "cannot create '%.200s' instances", cls->tp_name);
  }
  demand_accepted(decoder, type, part("args"));
  const Ref arguments = Ref::steal(PyList_AsTuple(part("args")));
  PyObject* keywords = part("kwargs");
  if (PyDict_GET_SIZE(keywords) != 0 && standard_type(decoder, type) != nullptr) {
    decoder.fail(ErrorCode::kLimitExceeded,
                 "keywords that pickling this type does not produce");
  }
  // With arguments, the __new__ of the class itself must be called.
  if (PyTuple_GET_SIZE(arguments.get()) == 0 && PyDict_GET_SIZE(keywords) == 0) {
    if (const Ref inherited = decoder.received_definitions().inherited_new(cls)) {
      return call(inherited.get(), type);
    }
  }
  return Ref::steal(cls->tp_new(cls, arguments.get(),
                                PyDict_GET_SIZE(keywords) == 0 ? nullptr : keywords));
}

Ref finish_reduced(GraphDecoder& decoder, Frame& frame) {
  constexpr PartOf<NodeTag::kObject> kSetter = "setter";
  const bool has_setter = frame.node->children.size() > kSetter.position;
  finish<NodeTag::kObject>(decoder, frame, frame.part<NodeTag::kObject>("callable"),
                           has_setter ? frame.part(kSetter) : nullptr);
  return {};
}

Ref finish_new(GraphDecoder& decoder, Frame& frame) {
  // The class is null for an instance that finish_instance() continues.
  finish<NodeTag::kNewObject>(decoder, frame, frame.part<NodeTag::kNewObject>("class"),
                              nullptr);
  return {};
}

}  // namespace waybill::py
