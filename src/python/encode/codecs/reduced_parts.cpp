// Writes a reduction, the result of a reducer, as a node: a name, or a callable with
// its arguments, state, items and pairs. The checks and their messages are those of
// pickle. Tested by tests/python/kinds/test_reduce.py.

#include "python/encode/codec.h"
#include "python/encode/plain_writer.h"
#include "python/runtime/compat.h"
#include "python/runtime/modules.h"
#include "python/walker/class_attributes.h"

namespace waybill::py {

namespace {

using wire::NodeTag;

// The parts of a reduction; all borrowed from it.
struct ReductionParts {
  PyObject *callable, *arguments;
  PyObject *state, *items, *pairs, *setter;  // None if the reduction has no such part.
};

std::string name_of_type(PyObject* object) { return Py_TYPE(object)->tp_name; }

// The messages are those of pickle, which people search for.
ReductionParts split_reduction(EncodeContext& context, PyObject* reduction) {
  if (!PyTuple_Check(reduction)) {
    context.fail("__reduce__ must return a string or tuple, not " +
                 name_of_type(reduction));
  }
  const Py_ssize_t size = PyTuple_GET_SIZE(reduction);
  if (size < 2 || size > 6) {
    context.fail("tuple returned by __reduce__ must contain 2 through 6 elements");
  }
  const auto part = [&](Py_ssize_t i) {
    return i < size ? PyTuple_GET_ITEM(reduction, i) : Py_None;
  };
  ReductionParts parts{part(0), part(1), part(2), part(3), part(4), part(5)};
  const auto demand = [&](const char* position, bool fits, const char* wanted,
                          PyObject* given) {
    if (fits) return;
    context.fail(std::string(position) +
                 " item of the tuple returned by __reduce__ must be " + wanted +
                 ", not " + name_of_type(given));
  };
  const auto is_iterator = [](PyObject* object) {
    return object == Py_None || PyIter_Check(object) != 0;
  };
  demand("first", PyCallable_Check(parts.callable) != 0, "callable", parts.callable);
  demand("second", PyTuple_Check(parts.arguments), "a tuple", parts.arguments);
  demand("fourth", is_iterator(parts.items), "an iterator", parts.items);
  demand("fifth", is_iterator(parts.pairs), "an iterator", parts.pairs);
  demand("sixth", parts.setter == Py_None || PyCallable_Check(parts.setter) != 0,
         "a function", parts.setter);
  if (parts.state == Py_None) parts.setter = Py_None;  // There is nothing to set.
  return parts;
}

// Checks the arguments of __newobj__ and __newobj_ex__ as pickle does.
void demand_class_first(EncodeContext& context, PyObject* object,
                        const ReductionParts& parts, const std::string& name) {
  const Py_ssize_t count = PyTuple_GET_SIZE(parts.arguments);
  if (name == "__newobj_ex__" && count != 3) {
    context.fail("__newobj_ex__ expected 3 arguments, got " + std::to_string(count));
  }
  if (count == 0) context.fail(name + " expected at least 1 argument, got 0");
  PyObject* type = PyTuple_GET_ITEM(parts.arguments, 0);
  if (!PyType_Check(type)) {
    context.fail("first argument to " + name + "() must be a class, not " +
                 name_of_type(type));
  }
  if (type == type_of(object)) return;
  // A proxy may travel as its referent, whose class it returns as __class__.
  const Ref shown = get_attribute(object, context.state.names.class_);
  if (shown.get() != type) {
    context.fail("first argument to " + name + "() must be the object's own class");
  }
}

// Whether the __new__ of a class needs more than these arguments, and object.__new__
// can make the instance instead. Protocols 0 and 1 of pickle use object.__new__; later
// ones fail at load.
bool needs_more_arguments(const State& state, PyObject* arguments) {
  PyObject* cls = PyTuple_GET_ITEM(arguments, 0);
  auto* type = as_type(cls);
  if (type->tp_new == PyBaseObject_Type.tp_new) return false;
  const Ref constructor = attribute_or_null(cls, state.names.new_);
  return constructor &&
         needs_more_than(constructor.get(), PyTuple_GET_SIZE(arguments)) &&
         has_object_layout(type);
}

// Plans the items of a tuple from `first` on. `make_label`: makes the label of an item
// from `text` and its index, which counts from `first`.
void plan_array(PyObject* tuple, Py_ssize_t first,
                Label (*make_label)(const char*, Py_ssize_t), const char* text,
                Plan& plan) {
  const Py_ssize_t count = PyTuple_GET_SIZE(tuple);
  plan.raw().array(checked_count(count - first));
  for (Py_ssize_t i = first; i < count; ++i) {
    plan.add_child(Ref::share(PyTuple_GET_ITEM(tuple, i)), make_label(text, i - first));
  }
}

void plan_arguments(PyObject* tuple, Py_ssize_t first, Plan& plan) {
  plan_array(tuple, first, Label::of_numbered, "argument", plan);
}

void plan_state(const ReductionParts& parts, Plan& plan) {
  if (parts.state == Py_None) {
    plan.raw().nil();
  } else if (PyDict_CheckExact(parts.state)) {
    plan.add_child(Ref::share(parts.state), Label{});
  } else if (PyTuple_CheckExact(parts.state) && PyTuple_GET_SIZE(parts.state) == 2 &&
             PyDict_CheckExact(PyTuple_GET_ITEM(parts.state, 1))) {
    // The dict of the instance and its slots. In paths, both are attributes.
    plan.raw().node(NodeTag::kTuple, 2);
    PyObject* own = PyTuple_GET_ITEM(parts.state, 0);
    plan.add_child(Ref::share(own),
                   PyDict_CheckExact(own) ? Label{} : Label::of_marker("state"));
    plan.add_child(Ref::share(PyTuple_GET_ITEM(parts.state, 1)), Label{});
  } else {
    plan.add_child(Ref::share(parts.state), Label::of_marker("state"));
  }
}

void plan_items(const ReductionParts& parts, Plan& plan) {
  Ref items = parts.items == Py_None ? Ref::steal(PyTuple_New(0))
                                     : Ref::steal(PySequence_Tuple(parts.items));
  plan_array(items.get(), 0, Label::of_index, "", plan);
}

void plan_pairs(const ReductionParts& parts, Plan& plan) {
  Ref pairs = parts.pairs == Py_None ? Ref::steal(PyTuple_New(0))
                                     : Ref::steal(PySequence_Tuple(parts.pairs));
  plan.raw().map(checked_count(PyTuple_GET_SIZE(pairs.get())));
  for (PyObject* pair : items_of(pairs.get())) {
    if (!PyTuple_Check(pair) || PyTuple_GET_SIZE(pair) != 2) {
      raise(PyExc_TypeError, "dict items iterator must return 2-tuples");
    }
    PyObject* key = PyTuple_GET_ITEM(pair, 0);
    plan.add_child(Ref::share(key), Label::of_marker("key"));
    plan.add_child(Ref::share(PyTuple_GET_ITEM(pair, 1)), Label::of_key("", key));
  }
}

// Plans an instance that object.__new__ makes, without the __new__ of its class.
void plan_reconstruction(EncodeContext& context, const ReductionParts& parts,
                         Plan& plan) {
  context.out.node(NodeTag::kObject, parts.setter == Py_None ? 5 : 6);
  plan.add_child(context.state.reconstructor, Label::of_marker("constructor"));
  plan.raw().array(3);
  plan.add_child(Ref::share(PyTuple_GET_ITEM(parts.arguments, 0)),
                 Label::of_text(".__class__"));
  plan.add_child(Ref::share(as_object(&PyBaseObject_Type)),
                 Label::of_text(".__class__"));
  plan.raw().nil();
}

// Plans an object that __newobj__ or, with keywords, __newobj_ex__ makes.
void plan_new_object(EncodeContext& context, PyObject* arguments, bool is_ex,
                     Plan& plan) {
  context.out.node(NodeTag::kNewObject, 6);
  plan.add_child(Ref::share(PyTuple_GET_ITEM(arguments, 0)),
                 Label::of_text(".__class__"));
  if (!is_ex) {
    plan_arguments(arguments, 1, plan);
    plan.raw().map(0);
    return;
  }
  PyObject* positional = PyTuple_GET_ITEM(arguments, 1);
  PyObject* keywords = PyTuple_GET_ITEM(arguments, 2);
  if (!PyTuple_Check(positional)) {
    context.fail("second argument to __newobj_ex__() must be a tuple, not " +
                 name_of_type(positional));
  }
  if (!PyDict_Check(keywords)) {
    context.fail("third argument to __newobj_ex__() must be a dict, not " +
                 name_of_type(keywords));
  }
  plan_arguments(positional, 0, plan);
  plan.raw().map(checked_count(PyDict_GET_SIZE(keywords)));
  for (const auto& [key, value] : DictItems(keywords)) {
    plan.add_child(Ref::share(key), Label::of_marker("key"));
    plan.add_child(Ref::share(value), Label::of_named("argument", key));
  }
}

// Plans the call of `callable`: the node up to where the object exists.
void plan_creation(EncodeContext& context, PyObject* object,
                   const ReductionParts& parts, Plan& plan) {
  const State& state = context.state;
  PyObject* callable = parts.callable;
  const bool is_ex = callable == state.newobj_ex.get();
  if (callable == state.newobj.get() || is_ex) {
    demand_class_first(context, object, parts, is_ex ? "__newobj_ex__" : "__newobj__");
    if (!is_ex && PyTuple_GET_SIZE(parts.arguments) == 1 &&
        needs_more_arguments(state, parts.arguments)) {
      return plan_reconstruction(context, parts, plan);
    }
    // A node kNewObject cannot hold a setter.
    if (parts.setter == Py_None) {
      return plan_new_object(context, parts.arguments, is_ex, plan);
    }
  }
  const auto* type = as_type(callable);
  if (PyType_Check(callable) && type->tp_new == nullptr &&
      type->tp_vectorcall == nullptr) {  // Structs of msgspec have tp_vectorcall.
    // sys.version_info, for example, which is then written by its name in sys.
    raise(PyExc_TypeError, "cannot pickle '%.200s' object: its type has no constructor",
          type->tp_name);
  }
  context.out.node(NodeTag::kObject, parts.setter == Py_None ? 5 : 6);
  plan.add_child(Ref::share(callable), Label::of_marker("constructor"));
  if (callable == as_object(&PyMethod_Type) && PyTuple_GET_SIZE(parts.arguments) == 2) {
    plan.raw().array(2);
    plan.add_child(Ref::share(PyTuple_GET_ITEM(parts.arguments, 0)),
                   Label::of_text(".__func__"));
    plan.add_child(Ref::share(PyTuple_GET_ITEM(parts.arguments, 1)),
                   Label::of_text(".__self__"));
    return;
  }
  plan_arguments(parts.arguments, 0, plan);
}

void describe_parts(EncodeContext& context, PyObject* object, PyObject* reduction,
                    Plan& plan) {
  const ReductionParts parts = split_reduction(context, reduction);
  const int has_id = PySet_Contains(context.state.identified.get(), parts.callable);
  if (has_id < 0) PyErr_Clear();  // waybill's callables are hashable.
  if (has_id > 0) {
    const Ref id = context.id_of(object);
    context.out.node(NodeTag::kIdentified, 2);
    write_leaf(id.get(), context.out);
  }
  plan_creation(context, object, parts, plan);
  if (has_id <= 0) {
    plan.mark_creation();
    plan.allow_early_close(parts.setter == Py_None
                               ? Plan::EarlyClose::kReduced
                               : Plan::EarlyClose::kReducedWithSetter);
  }
  plan_state(parts, plan);
  plan_items(parts, plan);
  plan_pairs(parts, plan);
  if (parts.setter != Py_None) {
    plan.add_child(Ref::share(parts.setter), Label::of_marker("setter"));
  }
  if (has_id > 0) plan.mark_creation();
}

// The object and the name in a reduction that is a call of getattr with two arguments;
// null parts for all other reductions.
struct AttributeCall {
  PyObject* object = nullptr;
  PyObject* name = nullptr;
};
AttributeCall attribute_call_in(const State& state, PyObject* reduction) {
  if (!PyTuple_Check(reduction) || PyTuple_GET_SIZE(reduction) != 2) return {};
  PyObject* arguments = PyTuple_GET_ITEM(reduction, 1);
  PyObject* builtins = PyModule_GetDict(state.builtins.get());
  if (PyTuple_GET_ITEM(reduction, 0) != raw_get(builtins, state.names.getattr.get()) ||
      !PyTuple_Check(arguments) || PyTuple_GET_SIZE(arguments) != 2 ||
      !PyUnicode_Check(PyTuple_GET_ITEM(arguments, 1))) {
    return {};
  }
  return {PyTuple_GET_ITEM(arguments, 0), PyTuple_GET_ITEM(arguments, 1)};
}

// The module and the name by which a reduction finds the object: it is a name or, if
// there are modules by value, a call of getattr for a module. Null parts for all other
// reductions.
GlobalName find_reduced_global(EncodeContext& context, PyObject* object,
                               PyObject* reduction) {
  const State& state = context.state;
  if (PyUnicode_Check(reduction)) {
    const Ref module = attribute_or_null(object, state.names.module);
    const bool is_homeless = !module || module.get() == Py_None;
    GlobalName name = is_homeless ? find_anywhere(state, object, reduction)
                                  : find_global(state, object, module.get(), reduction);
    if (name.module && is_findable(state, name.module.get())) return name;
    PyObject* home = is_homeless ? state.names.main.get() : module.get();
    return find_unimportable(state, object, home, reduction);
  }
  if (!context.by_value.any()) return {};
  const AttributeCall asked = attribute_call_in(state, reduction);
  if (asked.object == nullptr || !PyModule_Check(asked.object)) return {};
  return {Ref::share(asked.object), Ref::share(asked.name)};
}

// Whether the reduction for a method of a C type is the call of getattr that its
// builtin
// __reduce__ returns. Such a method can be found by name.
bool is_getattr_on_type(const State& state, PyObject* object, PyObject* reduction) {
  if (!PyCFunction_CheckExact(object)) return false;
  // PyCFunction_GET_SELF() is null for a static method, which has its type there.
  const auto* method = reinterpret_cast<PyCFunctionObject*>(object);
  const AttributeCall asked = attribute_call_in(state, reduction);
  return asked.object != nullptr && asked.object == method->m_self &&
         PyUnicode_CompareWithASCIIString(asked.name, method->m_ml->ml_name) == 0;
}

// Whether the receiver cannot import a module.
bool travels_by_value(EncodeContext& context, PyObject* module) {
  return context.by_value.has(module) ||
         importable_name(context.state, module) == nullptr;
}

}  // namespace

void describe_reduction(EncodeContext& context, PyObject* object, PyObject* reduction,
                        Plan& plan) {
  if (reduction == Py_None && context.hooks().replace != nullptr) {
    return context.out.nil();  // `replace` drops the object.
  }
  if (is_empty_frozendict(object)) {
    const Ref call = Ref::steal(
        Py_BuildValue("O(O)", Py_TYPE(object), context.state.empty_dict.get()));
    return describe_parts(context, object, call.get(), plan);
  }
  if (is_getattr_on_type(context.state, object, reduction)) {
    const GlobalName name = find_in_type(context.state, object);
    if (name.module) return write_global(context, name);
  }
  const GlobalName name = find_reduced_global(context, object, reduction);
  if (name.module && context.extensions.is_extension(name.module.get()) &&
      context.stack.is_within_code()) {
    const Ref later =
        context.extensions.stand_in(object, name.module.get(), name, context.imports());
    return describe_parts(context, object, later.get(), plan);
  }
  const bool is_name = PyUnicode_Check(reduction);
  if (name.module ? travels_by_value(context, name.module.get()) : is_name) {
    if (PyType_Check(object)) return describe_class(context, object, plan);
    const Ref apart = Ref::steal(PyObject_CallFunctionObjArgs(
        context.state.reduce_global.get(), object,
        is_name ? reduction : name.path.get(), name.module ? Py_True : Py_False,
        context.by_value.names(), nullptr));
    return describe_parts(context, object, apart.get(), plan);
  }
  if (is_name) return write_global(context, name);
  const Ref members = reduction_without_class(context, object, reduction);
  describe_parts(context, object, members ? members.get() : reduction, plan);
}

}  // namespace waybill::py
