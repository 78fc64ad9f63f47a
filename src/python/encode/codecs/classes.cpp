// Classes by value: the parts that make the class, then the attributes that are set on
// it. waybill._classes.parts, in Python, returns the parts. Tested by
// tests/python/classes/test_classes.py.

#include <algorithm>

#include "python/encode/codec.h"
#include "python/encode/plain_writer.h"
#include "python/runtime/compat.h"
#include "python/runtime/identity.h"
#include "python/runtime/modules.h"
#include "python/walker/class_attributes.h"

namespace waybill::py {

namespace {

// The label of the bases. The bases in a class statement, such as Generic[T], may
// differ from __bases__.
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
  const bool is_relayed = !context.options.omits_ids && !is_home(context.state, type);
  Ref parts, home_state;
  if (is_relayed) {
    const Ref relayed = call(context.state.parts_to_relay.get(), type);
    parts = Ref::share(PyTuple_GET_ITEM(relayed.get(), 0));
    home_state = null_if_none(Ref::share(PyTuple_GET_ITEM(relayed.get(), 1)));
  } else {
    parts = call(context.state.class_parts.get(), type);
  }
  if (context.extensions.extension_of_type(as_type(type)) != nullptr) {
    context.fail("needs a class in C from a module that travels by value");
  }
  if (PyTuple_Check(parts.get()) && PyTuple_GET_SIZE(parts.get()) == 2) {
    // A callable and its arguments: the class has no id.
    if (PyCallable_Check(PyTuple_GET_ITEM(parts.get(), 0))) {
      return describe_reduction(context, type, parts.get(), plan);
    }
    // A module that has the class, and its name there.
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
    context.fail("is a class whose parts cannot be read; define it in a module");
  }
  if (context.options.by_source) {
    parts = call(lazy_helper(context.state, &LazyHelpers::parts_by_source), parts.get(),
                 type);
  }
  context.dicts.add_class(type);
  const Ref id = context.id_of(type);
  context.out.node(wire::NodeTag::kClass, home_state ? 7 : 6);
  plan.allow_early_close(home_state ? Plan::EarlyClose::kClassWithHomeState
                                    : Plan::EarlyClose::kClass);
  write_leaf(id.get(), context.out);
  const char* const labels[] = {".__class__", ".__name__",
                                label_of_bases(type, PyTuple_GET_ITEM(parts.get(), 2)),
                                "", ""};
  for (Py_ssize_t i = 0; i < 5; ++i) {
    // The class exists once its namespace is read; its attributes may refer to it.
    if (i == 4) plan.mark_creation();
    PyObject* part = PyTuple_GET_ITEM(parts.get(), i);
    const bool is_dict = i >= 3;
    const Ref value = i == 4 ? context.deferred.with_carrier(type, Ref::share(part))
                             : Ref::share(part);
    plan.add_child(value, is_dict ? Label{} : Label::of_text(labels[i]));
  }
  if (home_state) plan.add_child(home_state, Label{});
}

}  // namespace waybill::py
