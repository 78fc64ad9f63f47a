// Tested by tests/python/cache/test_cached_functions.py.

#include "python/guards/reach.h"

#include <algorithm>

#include "python/runtime/attribute.h"

namespace waybill::py {

// True for views of an empty dict and empty frozendicts, which fields without metadata
// share, and for the empty dicts of these.
bool ReachVisitor::is_value(PyObject* object) const {
  if (Py_IS_TYPE(object, &PyDictProxy_Type)) return PyObject_Size(object) == 0;
  if (PyDict_CheckExact(object)) return is_in_view_ && PyDict_GET_SIZE(object) == 0;
  return is_empty_frozendict(object);
}

bool ReachVisitor::has_class_beside_function() const {
  const auto is_type = [](const VisitedObject& one) {
    const bool is_by_value = one.kind == Kind::kWalked || one.kind == Kind::kDefinition;
    return is_by_value && PyType_Check(one.object.get());
  };
  if (std::ranges::none_of(visited_, is_type)) return false;
  return std::ranges::any_of(visited_, [&](const VisitedObject& one) {
    // No class is found by name in __main__.
    PyObject* globals = one.object.get();
    if (one.key != key_of_namespace(globals)) return false;
    PyObject* module = module_of_dict(state_, globals);
    return module != nullptr && importable_name(state_, module) != nullptr &&
           std::ranges::any_of(visited_, [&](const VisitedObject& other) {
             return is_type(other) &&
                    find_in_module(state_, other.object.get(), module).module;
           });
  });
}

bool is_empty_dict(PyObject* dict) {
  return dict == nullptr || (PyDict_CheckExact(dict) && PyDict_GET_SIZE(dict) == 0);
}

std::array<Ref, 4> own_names(const State& state, PyFunctionObject* f,
                             PyCodeObject* code) {
  const auto or_none = [](PyObject* object) { return object ? object : Py_None; };
  const auto unless = [](PyObject* derived, PyObject* value) {
    const bool is_same =
        value == derived || (PyUnicode_Check(value) && PyUnicode_Check(derived) &&
                             PyUnicode_Compare(value, derived) == 0);
    return is_same ? Ref() : Ref::share(value);
  };
  PyObject* own_name = or_none(look_up(state, f->func_globals, state.names.name.get()));
  return {unless(code->co_name, f->func_name),
          unless(code->co_qualname, f->func_qualname),
          unless(own_name, or_none(f->func_module)),
          unless(default_doc(code), or_none(f->func_doc))};
}

bool can_return_text(PyCodeObject* annotate, PyCodeObject* owner) {
  const auto is_name = [&](PyObject* text) {
    if (PyUnicode_CompareWithASCIIString(text, "return") == 0) return true;
    return std::ranges::any_of(
        items_of(owner->co_localsplusnames),
        [&](PyObject* name) { return PyUnicode_Compare(name, text) == 0; });
  };
  return std::ranges::any_of(items_of(annotate->co_consts), [&](PyObject* constant) {
    return PyUnicode_CheckExact(constant) && !is_name(constant);
  });
}

bool has_class_dict(const State& state, PyFunctionObject* function) {
  auto* code = as_code(function->func_code);
  const Ref names = Ref::steal(PyCode_GetFreevars(code));
  return std::ranges::any_of(items_of(names.get()), [&](PyObject* name) {
    return is_same_text(name, state.names.classdict.get());
  });
}

bool is_dict_of(PyObject* type, PyObject* dict) {
  return PyType_Check(type) && type_dict(as_type(type)).get() == dict;
}

void evaluate_annotations(const State& state, PyObject* type) {
  if (kKeepsAnnotations) return;
  PyObject* annotate = raw_get(as_type(type), state.names.annotate_func.get());
  if (annotate == nullptr || !is_library_annotate(annotate)) return;
  steal_unless(PyExc_Exception,
               PyObject_GetAttr(type, interned("__annotations__").get()));
}

bool is_unsent_annotations(const State& state, PyObject* dict, PyObject* name) {
  const Names& names = state.names;
  const bool is_cache = name == names.annotations_cache.get();
  if (!is_cache && name != names.annotate_func.get()) return false;
  PyObject* annotate = raw_get(dict, names.annotate_func.get());
  PyObject* cache = raw_get(dict, names.annotations_cache.get());
  const bool has_annotate = annotate != nullptr && annotate != Py_None;
  const bool is_evaluated =
      has_annotate && is_library_annotate(annotate) && cache != nullptr;
  if (!is_cache) return is_evaluated;
  return is_empty_dict(cache) || (has_annotate && !is_evaluated);
}

}  // namespace waybill::py
