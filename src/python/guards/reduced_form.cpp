// Tested by tests/python/cache/test_kept_objects.py.

#include "python/guards/reduced_form.h"

#include <algorithm>
#include <initializer_list>
#include <iterator>
#include <string_view>
#include <vector>

#include "python/guards/object_checks.h"
#include "python/guards/reach.h"
#include "python/runtime/attribute.h"
#include "python/runtime/compat.h"
#include "python/runtime/leaves.h"

namespace waybill::py {

namespace {

constexpr int kMaxTypeDepth = 8;  // Of generic types in each other.

// What a mapping proxy shows: it tells that to the garbage collector alone. Null if it
// refers to more.
PyObject* mapping_of(PyObject* proxy) {
  std::vector<PyObject*> referents;
  const auto take = [](PyObject* object, void* found) {
    static_cast<std::vector<PyObject*>*>(found)->push_back(object);
    return 0;
  };
  PyDictProxy_Type.tp_traverse(proxy, take, &referents);
  return referents.size() == 1 ? referents[0] : nullptr;
}

Ref own_attribute(PyObject* object, const char* text) {
  // Not by getattr, which may ask the class that an alias is of.
  Ref found = Ref::steal_or_null(PyObject_GenericGetAttr(object, interned(text).get()));
  if (!found) forgive(PyExc_AttributeError);
  return found;
}

Ref call_of(PyObject* callable, std::initializer_list<PyObject*> arguments) {
  Ref call = Ref::steal(PyTuple_New(static_cast<Py_ssize_t>(arguments.size()) + 1));
  PyTuple_SET_ITEM(call.get(), 0, Ref::share(callable).release());
  Py_ssize_t at = 0;
  for (PyObject* argument : arguments) {
    PyTuple_SET_ITEM(call.get(), ++at, Ref::share(argument).release());
  }
  return call;
}

// Of what a reducer answers.
Ref call_of(PyObject* answer) {
  const Ref first = call_of(PyTuple_GET_ITEM(answer, 0), {});
  return Ref::steal(PySequence_Concat(first.get(), PyTuple_GET_ITEM(answer, 1)));
}

// Of what C makes and only one type has. Null if it is none of these, or travels in
// another way, as an alias that is unpacked does: `*tuple[int]`.
Ref call_of_builtin(const State& state, PyObject* object) {
  auto* type = type_of(object);
  if (is_wrapper(object)) {
    const Ref parts = parts_of_wrapper(state, object);
    const Ref first = call_of(type, {});
    return Ref::steal(PySequence_Concat(first.get(), parts.get()));
  }
  if (Py_IS_TYPE(object, &PyDictProxy_Type)) {
    PyObject* mapping = mapping_of(object);
    // What a mapping of another kind says is unknown.
    if (mapping == nullptr || !PyDict_CheckExact(mapping)) return {};
    return call_of(type, {mapping});
  }
  if (own_attribute(object, "__unpacked__").get() != Py_False) return {};
  const Ref origin = own_attribute(object, "__origin__");
  const Ref arguments = own_attribute(object, "__args__");
  return origin && arguments ? call_of(type, {origin.get(), arguments.get()}) : Ref();
}

bool is_of_builtin_type(PyObject* object) {
  return is_wrapper(object) || Py_IS_TYPE(object, &PyDictProxy_Type) ||
         Py_IS_TYPE(object, &Py_GenericAliasType);
}

// `int | None`, which copyreg takes apart.
bool is_union(PyObject* object) {
  PyTypeObject* type = Py_TYPE(object);
  const std::string_view name = type->tp_name;
  return !PyType_HasFeature(type, Py_TPFLAGS_HEAPTYPE) &&
         (name == "types.UnionType" || name == "typing.Union");
}

// Whether it is of one of the types by which typing makes types of types.
bool is_of_typing(const State& state, PyObject* object) {
  PyTypeObject* type = Py_TYPE(object);
  if (!PyType_HasFeature(type, Py_TPFLAGS_HEAPTYPE)) return false;
  constexpr std::string_view kTypes[] = {
      "_GenericAlias",        "_UnionGenericAlias",     "_SpecialForm",
      "_SpecialGenericAlias", "_TypedCacheSpecialForm", "_TupleType"};
  return std::ranges::find(kTypes, std::string_view(type->tp_name)) !=
             std::end(kTypes) &&
         is_same_text(raw_get(type_dict(type).get(), state.names.module.get()),
                      state.names.typing.get());
}

// What a reducer answers; null if it fails: whoever encodes the object gets the error.
Ref asked(PyObject* reducer, PyObject* object) {
  Ref answer = Ref::steal_or_null(PyObject_CallOneArg(reducer, object));
  if (!answer) forgive(PyExc_Exception);
  return answer;
}

// What a reducer answers for such an object, as the encoder would ask for it; null if
// that is none of waybill, copyreg or typing.
Ref answer_of_typing(const State& state, PyObject* object) {
  auto* type = type_of(object);
  Ref reducer = Ref::share(raw_get(state.dispatch_table.get(), type));
  if (is_union(object)) {
    if (!reducer || !find_by_own_name(state, reducer.get()).module) return {};
    return asked(reducer.get(), object);
  }
  if (reducer || !is_of_typing(state, object)) return {};
  const Ref name = Ref::steal(PyType_GetName(Py_TYPE(object)));
  if (PyObject* row = raw_get(state.named_reducers.get(), name.get())) {
    reducer = Ref::share(raw_get(row, state.names.typing.get()));
  }
  if (reducer) return asked(reducer.get(), object);
  // If its __reduce_ex__ is that of object, that asks for this.
  PyTypeObject* object_type = &PyBaseObject_Type;
  const Ref own_dict = instance_dict(object);
  if ((own_dict && has_own_say(state.names, own_dict.get())) ||
      _PyType_Lookup(Py_TYPE(object), state.names.reduce_ex.get()) !=
          raw_get(type_dict(object_type).get(), state.names.reduce_ex.get())) {
    return {};
  }
  const Ref own = attribute_or_null(type_of(object), state.names.reduce);
  return own ? asked(own.get(), object) : Ref();
}

ReducedForm reduced_form_of_typing(const State& state, PyObject* object) {
  const Ref answer = answer_of_typing(state, object);
  if (!answer) return {};
  if (PyUnicode_CheckExact(answer.get())) {
    const Ref module = attribute_or_null(object, state.names.module);
    if (!module) return {};
    return {{}, find_global(state, object, module.get(), answer.get())};
  }
  if (!PyTuple_CheckExact(answer.get()) || PyTuple_GET_SIZE(answer.get()) != 2 ||
      !PyTuple_CheckExact(PyTuple_GET_ITEM(answer.get(), 1))) {
    return {};
  }
  return {call_of(answer.get()), {}};
}

// Of a sentinel that C makes (3.15), which says what it is called in which module.
GlobalName place_of_sentinel(const State& state, PyObject* object) {
  PyTypeObject* type = Py_TYPE(object);
  if (PyType_HasFeature(type, Py_TPFLAGS_HEAPTYPE) ||
      std::string_view(type->tp_name) != "sentinel") {
    return {};
  }
  const Ref name =
      Ref::steal_or_null(PyObject_CallMethodNoArgs(object, state.names.reduce.get()));
  if (!name) forgive(PyExc_Exception);
  const Ref module = attribute_or_null(object, state.names.module);
  if (!name || !PyUnicode_CheckExact(name.get()) || !module) return {};
  return find_global(state, object, module.get(), name.get());
}

// Of a sentinel of dataclasses.
GlobalName place_in_module(const State& state, PyObject* object) {
  PyTypeObject* type = Py_TYPE(object);
  const Ref type_name = Ref::steal(PyType_GetName(type));
  PyObject* row = raw_get(state.named_reducers.get(), type_name.get());
  if (row == nullptr) return {};
  const Ref home = Ref::share(raw_get(type_dict(type).get(), state.names.module.get()));
  if (!home || !PyUnicode_CheckExact(home.get()) ||
      raw_get(row, home.get()) != state.reduce_to_name.get()) {
    return {};
  }
  const Ref own = instance_dict(object);
  if (own && raw_get(own.get(), state.names.module.get()) != nullptr) return {};
  PyObject* module = find_module(state, home.get());
  if (module == nullptr) return {};
  for (const auto& [name, value] : PairsOf(PyModule_GetDict(module))) {
    if (value == object) return find_global(state, object, home.get(), name);
  }
  return {};
}
}  // namespace

ReducedForm reduced_form_of(const State& state, PyObject* object) {
  if (PyFunction_Check(object) || PyType_CheckExact(object)) return {};
  if (is_union(object) || is_of_typing(state, object)) {
    return reduced_form_of_typing(state, object);
  }
  if (is_reduced_by_user(state, object)) return {};
  if (is_of_builtin_type(object)) return {call_of_builtin(state, object), {}};
  if (is_empty_frozendict(object)) {
    return {call_of(type_of(object), {state.empty_dict.get()}), {}};
  }
  if (is_field_of_named_tuple(object)) {
    const Ref answer =
        Ref::steal(PyObject_CallMethodNoArgs(object, state.names.reduce.get()));
    return {call_of(answer.get()), {}};
  }
  if (GlobalName place = find_in_type(state, object); place.module) return {{}, place};
  if (GlobalName place = place_of_sentinel(state, object); place.module) {
    return {{}, place};
  }
  return {{}, place_in_module(state, object)};
}

Py_ssize_t count_of(PyObject* container) {
  if (PyDict_CheckExact(container)) return PyDict_GET_SIZE(container);
  return PyAnySet_CheckExact(container) ? PySet_GET_SIZE(container)
                                        : Py_SIZE(container);
}

bool find_own_dict(const State& state, PyObject* object, Ref& dict) {
  if (Py_TYPE(object)->tp_dictoffset == 0) return true;
  dict = instance_dict(object);
  // The object's, and ours.
  return !dict || (PyDict_CheckExact(dict.get()) && Py_REFCNT(dict.get()) <= 2 &&
                   !has_own_say(state.names, dict.get()));
}

bool is_without_text(PyObject* annotation, int depth) {
  if (PyUnicode_Check(annotation) || depth == kMaxTypeDepth) return false;
  if (PyType_Check(annotation) || is_simple(annotation) || annotation == Py_Ellipsis) {
    return true;
  }
  const std::string_view type = Py_TYPE(annotation)->tp_name;
  if (!Py_IS_TYPE(annotation, &Py_GenericAliasType) && !is_union(annotation) &&
      type != "_GenericAlias" && type != "_UnionGenericAlias") {
    return false;
  }
  const Ref arguments = own_attribute(annotation, "__args__");
  if (!arguments || !PyTuple_CheckExact(arguments.get())) return false;
  return std::ranges::all_of(items_of(arguments.get()), [&](PyObject* inner) {
    return is_without_text(inner, depth + 1);
  });
}

}  // namespace waybill::py
