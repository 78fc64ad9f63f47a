// Everything else: what copyreg or the object's own __reduce_ex__ says, as pickle asks
// for it.
// Tested by tests/python/test_reduce.py.

#include "python/attribute.h"
#include "python/codec.h"
#include "python/compat.h"
#include "python/modules.h"
#include "python/plain_writer.h"
#include "python/text.h"

namespace waybill::py {

namespace {

using wire::NodeTag;

constexpr int kProtocol = 5;  // The newest: buffers are handed out as PickleBuffer.

// The parts of a reducer's answer; all borrowed from the answer.
struct Reduced {
  PyObject* callable = nullptr;
  PyObject* arguments = nullptr;
  PyObject* state = Py_None;
  PyObject* items = Py_None;
  PyObject* pairs = Py_None;
  PyObject* setter = Py_None;
};

// Our reducer for the exact type, by type or by the type's name; that of BaseException
// for any exception. Null if none.
Ref own_reducer(const State& state, PyObject* object) {
  PyTypeObject* type = Py_TYPE(object);
  if (PyExceptionInstance_Check(object)) {
    return Ref::share(raw_get(state.reducers.get(), PyExc_BaseException));
  }
  auto* key = reinterpret_cast<PyObject*>(type);
  // A metaclass may make its classes unhashable; none of ours has such.
  if (Py_TYPE(type)->tp_hash != PyType_Type.tp_hash) return {};
  if (PyObject* reducer = raw_get(state.reducers.get(), key)) {
    return Ref::share(reducer);
  }
  Ref name = Ref::steal(PyType_GetName(type));
  PyObject* row = raw_get(state.named_reducers.get(), name.get());
  if (row == nullptr) return {};
  Ref module = Ref::steal(PyObject_GetAttr(key, state.names.module.get()));
  return Ref::share(raw_get(row, module.get()));
}

// Whether an instance of a subclass of set or frozenset is taken apart by the builtin's
// own __reduce__, which lists the elements in the order that hashes give them.
bool lists_elements(const State& state, PyObject* object) {
  if (!PyAnySet_Check(object)) return false;
  PyTypeObject* base = PySet_Check(object) ? &PySet_Type : &PyFrozenSet_Type;
  // A subclass that iterates in an order of its own means it.
  if (Py_TYPE(object)->tp_iter != base->tp_iter) return false;
  for (const Ref& name : {state.names.reduce, state.names.reduce_ex}) {
    auto* own = reinterpret_cast<PyObject*>(Py_TYPE(object));
    const Ref found = Ref::steal(PyObject_GetAttr(own, name.get()));
    const Ref builtin =
        Ref::steal(PyObject_GetAttr(reinterpret_cast<PyObject*>(base), name.get()));
    if (found.get() != builtin.get()) return false;
  }
  return true;
}

// The answer of such a __reduce__, with the elements in canonical order.
Ref with_sorted_elements(GraphEncoder& encoder, PyObject* object, const Ref& answer) {
  const Ref sorted = encoder.sorted(object);
  const Ref list = Ref::steal(PySequence_List(sorted.get()));
  const Ref arguments = Ref::steal(PyTuple_Pack(1, list.get()));
  return Ref::steal(PyTuple_Pack(3, PyTuple_GET_ITEM(answer.get(), 0), arguments.get(),
                                 PyTuple_GET_ITEM(answer.get(), 2)));
}

Ref reduce(GraphEncoder& encoder, PyObject* object) {
  const State& state = encoder.state();
  if (encoder.hooks().policies != nullptr) {
    // (policy, answer) for what must not travel as it is; None for all else.
    const Ref choice =
        Ref::steal(PyObject_CallOneArg(encoder.hooks().policies, object));
    if (choice.get() != Py_None) {
      encoder.note_substitution(object, text_of(PyTuple_GET_ITEM(choice.get(), 0)));
      return Ref::share(PyTuple_GET_ITEM(choice.get(), 1));
    }
  }
  // A Pickler's own table comes first, copyreg's after ours.
  const bool has_table = encoder.hooks().dispatch_table != nullptr;
  Ref reducer = has_table ? user_reducer(encoder, Py_TYPE(object)) : Ref();
  if (!reducer) reducer = own_reducer(state, object);
  if (!reducer && !has_table) reducer = user_reducer(encoder, Py_TYPE(object));
  if (reducer) return Ref::steal(PyObject_CallOneArg(reducer.get(), object));
  Ref protocol = Ref::steal(PyLong_FromLong(kProtocol));
  Ref answer = Ref::steal(
      PyObject_CallMethodOneArg(object, state.names.reduce_ex.get(), protocol.get()));
  return lists_elements(state, object) ? with_sorted_elements(encoder, object, answer)
                                       : answer;
}

Reduced take_apart(GraphEncoder& encoder, PyObject* answer) {
  const Py_ssize_t size = PyTuple_Check(answer) ? PyTuple_GET_SIZE(answer) : 0;
  if (size < 2 || size > 6) encoder.fail("has a reducer that gives no tuple of 2 to 6");
  Reduced parts;
  PyObject** const fields[] = {&parts.callable, &parts.arguments, &parts.state,
                               &parts.items,    &parts.pairs,     &parts.setter};
  for (Py_ssize_t i = 0; i < size; ++i) *fields[i] = PyTuple_GET_ITEM(answer, i);
  if (!PyCallable_Check(parts.callable))
    encoder.fail("has a reducer without a callable");
  if (!PyTuple_Check(parts.arguments)) encoder.fail("has a reducer without arguments");
  return parts;
}

void plan_array(PyObject* tuple, Py_ssize_t first, const char* label, Plan& plan) {
  const Py_ssize_t count = PyTuple_GET_SIZE(tuple);
  plan.raw().array(static_cast<std::size_t>(count - first));
  for (Py_ssize_t i = first; i < count; ++i) {
    plan.child(Ref::share(PyTuple_GET_ITEM(tuple, i)), Label::of_index(label, i));
  }
}

void plan_state(const Reduced& parts, Plan& plan) {
  if (parts.state == Py_None) {
    plan.raw().nil();
  } else if (PyDict_CheckExact(parts.state)) {
    plan.child(Ref::share(parts.state), Label{});
  } else if (PyTuple_CheckExact(parts.state) && PyTuple_GET_SIZE(parts.state) == 2 &&
             PyDict_CheckExact(PyTuple_GET_ITEM(parts.state, 1))) {
    // The instance's dict and its slots: both are attributes in a path.
    plan.raw().node(NodeTag::kTuple, 2);
    plan.child(Ref::share(PyTuple_GET_ITEM(parts.state, 0)), Label{});
    plan.child(Ref::share(PyTuple_GET_ITEM(parts.state, 1)), Label{});
  } else {
    plan.child(Ref::share(parts.state), Label::of_text(".__getstate__()"));
  }
}

void plan_items(const Reduced& parts, Plan& plan) {
  Ref items = parts.items == Py_None ? Ref::steal(PyTuple_New(0))
                                     : Ref::steal(PySequence_Tuple(parts.items));
  plan_array(items.get(), 0, "", plan);
}

void plan_pairs(GraphEncoder& encoder, const Reduced& parts, Plan& plan) {
  Ref pairs = parts.pairs == Py_None ? Ref::steal(PyTuple_New(0))
                                     : Ref::steal(PySequence_Tuple(parts.pairs));
  const Py_ssize_t count = PyTuple_GET_SIZE(pairs.get());
  plan.raw().map(static_cast<std::size_t>(count));
  for (Py_ssize_t i = 0; i < count; ++i) {
    PyObject* pair = PyTuple_GET_ITEM(pairs.get(), i);
    if (!PyTuple_Check(pair) || PyTuple_GET_SIZE(pair) != 2) {
      encoder.fail("has a reducer whose dict items are no pairs");
    }
    PyObject* key = PyTuple_GET_ITEM(pair, 0);
    plan.child(Ref::share(key), Label::of_text(".keys()"));
    plan.child(Ref::share(PyTuple_GET_ITEM(pair, 1)), Label::of_key("", key));
  }
}

// `callable` applied to `arguments`: the node up to where a reader has the object.
void plan_creation(GraphEncoder& encoder, const Reduced& parts, Plan& plan) {
  const State& state = encoder.state();
  const bool has_class = PyTuple_GET_SIZE(parts.arguments) > 0 &&
                         PyType_Check(PyTuple_GET_ITEM(parts.arguments, 0));
  PyObject* callable = parts.callable;
  const char* const label = ".__reduce_ex__()[1]";
  if (has_class && callable == state.newobj.get()) {
    encoder.out().node(NodeTag::kNewObject, 6);
    plan.child(Ref::share(PyTuple_GET_ITEM(parts.arguments, 0)),
               Label::of_text(".__class__"));
    plan_array(parts.arguments, 1, label, plan);
    plan.raw().map(0);
    return;
  }
  if (has_class && callable == state.newobj_ex.get() &&
      PyTuple_GET_SIZE(parts.arguments) == 3) {
    encoder.out().node(NodeTag::kNewObject, 6);
    plan.child(Ref::share(PyTuple_GET_ITEM(parts.arguments, 0)),
               Label::of_text(".__class__"));
    Ref positional = Ref::steal(PySequence_Tuple(PyTuple_GET_ITEM(parts.arguments, 1)));
    plan_array(positional.get(), 0, label, plan);
    PyObject* keywords = PyTuple_GET_ITEM(parts.arguments, 2);
    if (!PyDict_Check(keywords)) encoder.fail("has keyword arguments that are no dict");
    plan.raw().map(static_cast<std::size_t>(PyDict_GET_SIZE(keywords)));
    Py_ssize_t position = 0;
    PyObject *key, *value;
    while (PyDict_Next(keywords, &position, &key, &value)) {
      plan.child(Ref::share(key), Label::of_text(label));
      plan.child(Ref::share(value), Label::of_key(label, key));
    }
    return;
  }
  encoder.out().node(NodeTag::kObject, parts.setter == Py_None ? 5 : 6);
  plan.child(Ref::share(callable), Label::of_text(".__reduce_ex__()[0]"));
  if (callable == reinterpret_cast<PyObject*>(&PyMethod_Type) &&
      PyTuple_GET_SIZE(parts.arguments) == 2) {
    plan.raw().array(2);
    plan.child(Ref::share(PyTuple_GET_ITEM(parts.arguments, 0)),
               Label::of_text(".__func__"));
    plan.child(Ref::share(PyTuple_GET_ITEM(parts.arguments, 1)),
               Label::of_text(".__self__"));
    return;
  }
  plan_array(parts.arguments, 0, label, plan);
}

}  // namespace

Ref user_reducer(GraphEncoder& encoder, PyTypeObject* type) {
  auto* key = reinterpret_cast<PyObject*>(type);
  PyObject* table = encoder.hooks().dispatch_table;
  if (table == nullptr) {
    return Ref::share(raw_get(encoder.state().dispatch_table.get(), key));
  }
  Ref reducer = Ref::steal_or_null(PyObject_GetItem(table, key));
  if (!reducer) forgive(PyExc_KeyError);
  return reducer;
}

void describe_reduced(GraphEncoder& encoder, PyObject* object, Plan& plan) {
  const Ref answer = reduce(encoder, object);
  describe_answer(encoder, object, answer.get(), plan);
}

void describe_answer(GraphEncoder& encoder, PyObject* object, PyObject* answer,
                     Plan& plan) {
  if (answer == Py_None && encoder.hooks().policies != nullptr) {
    return encoder.out().nil();  // Dropped.
  }
  if (PyUnicode_Check(answer)) {
    const Ref module = attribute_or_null(object, encoder.state().names.module);
    const GlobalName name = find_global(encoder.state(), object, module.get(), answer);
    if (!name.module) encoder.fail("names itself as a global that is not there");
    encoder.global(name);
    return;
  }
  const Reduced parts = take_apart(encoder, answer);
  const int has_id = PySet_Contains(encoder.state().identified.get(), parts.callable);
  if (has_id < 0) PyErr_Clear();  // A callable that cannot be hashed is none of ours.
  if (has_id > 0) {
    const Ref id = encoder.id_of(object);
    encoder.out().node(NodeTag::kIdentified, 2);
    write_leaf(id.get(), encoder.out());
  }
  plan_creation(encoder, parts, plan);
  if (has_id <= 0) {
    plan.creates();
    plan.may_close_early(parts.setter == Py_None ? Plan::Early::kReduced
                                                 : Plan::Early::kReducedWithSetter);
  }
  plan_state(parts, plan);
  plan_items(parts, plan);
  plan_pairs(encoder, parts, plan);
  if (parts.setter != Py_None) {
    plan.child(Ref::share(parts.setter), Label::of_text(".__reduce_ex__()[5]"));
  }
  if (has_id > 0) plan.creates();
}

}  // namespace waybill::py
