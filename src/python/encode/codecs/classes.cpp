// Classes by value: what is needed to make the class, then what is set on it. The parts
// are told by waybill._class_parts, in Python.
// Tested by tests/python/classes/test_classes.py.

#include <algorithm>

#include "python/encode/codec.h"
#include "python/encode/plain_writer.h"
#include "python/runtime/compat.h"
#include "python/runtime/identity.h"
#include "python/runtime/modules.h"
#include "python/walker/class_attributes.h"

namespace waybill::py {

namespace {

// What the home of a received class last said of it, where that is not what the class
// is now. Null at home, and where both are the same.
Ref word_of(EncodeContext& context, PyObject* type, PyObject* attributes) {
  if (context.options.names_no_ids || is_home(context.state, type)) return {};
  return null_if_none(call(context.state.word_of.get(), type, attributes));
}

// The bases as they were written are not always what the class has as such: Generic[T].
const char* label_of_bases(PyObject* type, PyObject* bases) {
  PyObject* own = as_type(type)->tp_bases;
  const bool is_own = PyList_CheckExact(bases) &&
                      PyTuple_GET_SIZE(own) == PyList_GET_SIZE(bases) &&
                      std::equal(&PyTuple_GET_ITEM(own, 0),
                                 &PyTuple_GET_ITEM(own, 0) + PyTuple_GET_SIZE(own),
                                 &PyList_GET_ITEM(bases, 0));
  return is_own ? ".__bases__" : ".__orig_bases__";
}

}  // namespace

void describe_class(EncodeContext& context, PyObject* type, Plan& plan) {
  if (context.options.only_names_classes) {
    context.out.node(wire::NodeTag::kClass, 1);
    write_leaf(own_id(context.state, type).get(), context.out);
    return;
  }
  Ref parts = ordinary_class_parts(context.state, type);
  if (!parts) {
    parts = call(context.state.class_parts.get(), type);
  }
  if (context.extensions.of_type(as_type(type)) != nullptr) {
    context.fail("needs a class in C of a module that travels by value");
  }
  if (PyTuple_Check(parts.get()) && PyTuple_GET_SIZE(parts.get()) == 2) {
    // What makes it, or has it: it is none of those that are known by an id.
    if (PyCallable_Check(PyTuple_GET_ITEM(parts.get(), 0))) {
      return describe_answer(context, type, parts.get(), plan);
    }
    // A module and a name under which that has it, other than its own.
    PyObject* home = PyTuple_GET_ITEM(parts.get(), 0);
    PyObject* path = PyTuple_GET_ITEM(parts.get(), 1);
    GlobalName name = find_global(context.state, type, home, path);
    const bool is_loaded = find_module(context.state, home) != nullptr;
    if (!is_loaded) name = {Ref::share(home), Ref::share(path)};
    if (!name.module) context.fail("is a class that its module does not have");
    write_global(context, name);
    return;
  }
  if (!PyTuple_Check(parts.get()) || PyTuple_GET_SIZE(parts.get()) != 5) {
    context.fail("is a class whose parts cannot be told");
  }
  if (context.options.by_source) {
    parts = call(late(context.state, &LateHelpers::parts_by_source), parts.get(), type);
  }
  context.dicts.add_class(type);
  const Ref id = context.id_of(type);
  const Ref word = word_of(context, type, PyTuple_GET_ITEM(parts.get(), 4));
  context.out.node(wire::NodeTag::kClass, word ? 7 : 6);
  plan.may_close_early(word ? Plan::Early::kClassWithHomeState : Plan::Early::kClass);
  write_leaf(id.get(), context.out);
  const char* const labels[] = {".__class__", ".__name__",
                                label_of_bases(type, PyTuple_GET_ITEM(parts.get(), 2)),
                                "", ""};
  for (Py_ssize_t i = 0; i < 5; ++i) {
    // The class is there once its namespace is; its attributes may refer to it.
    if (i == 4) plan.creates();
    PyObject* part = PyTuple_GET_ITEM(parts.get(), i);
    const bool is_dict = i >= 3;
    const Ref value = i == 4 ? context.deferred.with_carrier(type, Ref::share(part))
                             : Ref::share(part);
    plan.child(value, is_dict ? Label{} : Label::of_text(labels[i]));
  }
  if (word) plan.child(word, Label{});
}

}  // namespace waybill::py
