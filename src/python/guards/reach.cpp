// Tested by tests/python/cache/test_kept_functions.py.

#include "python/guards/reach.h"

#include <algorithm>

namespace waybill::py {

bool ReachVisitor::has_class_beside_function(const State& state) const {
  if (std::ranges::none_of(by_value_, [](PyObject* o) { return PyType_Check(o); })) {
    return false;
  }
  for (const VisitedObject& one : visited_) {
    // Of __main__ no class is found by name.
    PyObject* globals = one.object.get();
    if (one.key != key_of_namespace(globals)) continue;
    PyObject* module = module_of_dict(state, globals);
    if (module == nullptr || importable_name(state, module) == nullptr) continue;
    for (PyObject* type : by_value_) {
      if (!PyType_Check(type)) continue;
      const Ref path =
          Ref::steal(PyType_GetQualName(reinterpret_cast<PyTypeObject*>(type)));
      PyObject* name = module_name(state, module);
      if (find_global(state, type, name, path.get()).module) return true;
    }
  }
  return false;
}

bool is_same_text(PyObject* a, PyObject* b) {
  if (a == b) return true;
  return a != nullptr && b != nullptr && PyUnicode_CheckExact(a) &&
         PyUnicode_CheckExact(b) && PyUnicode_Compare(a, b) == 0;
}

bool is_empty_dict(PyObject* dict) {
  return dict == nullptr || (PyDict_CheckExact(dict) && PyDict_GET_SIZE(dict) == 0);
}

std::array<Ref, 4> own_names(const State& state, PyFunctionObject* f) {
  auto* code = reinterpret_cast<PyCodeObject*>(f->func_code);
  const auto or_none = [](PyObject* object) { return object ? object : Py_None; };
  const auto unless = [](PyObject* told, PyObject* value) {
    return is_same_text(value, told) ? Ref() : Ref::share(value);
  };
  PyObject* own_name = or_none(look_up(state, f->func_globals, state.names.name.get()));
  return {unless(code->co_name, f->func_name),
          unless(code->co_qualname, f->func_qualname),
          unless(own_name, or_none(f->func_module)),
          unless(default_doc(code), or_none(f->func_doc))};
}

bool may_give_text(PyCodeObject* annotate, PyCodeObject* owner) {
  const auto is_name = [&](PyObject* text) {
    if (PyUnicode_CompareWithASCIIString(text, "return") == 0) return true;
    PyObject* names = owner->co_localsplusnames;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(names); ++i) {
      if (PyUnicode_Compare(PyTuple_GET_ITEM(names, i), text) == 0) return true;
    }
    return false;
  };
  PyObject* constants = annotate->co_consts;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(constants); ++i) {
    PyObject* constant = PyTuple_GET_ITEM(constants, i);
    if (PyUnicode_CheckExact(constant) && !is_name(constant)) return true;
  }
  return false;
}

bool is_wrapping(const State& state, PyFunctionObject* function) {
  return function->func_dict != nullptr &&
         raw_get(function->func_dict, state.names.wrapped.get()) != nullptr;
}

bool has_class_dict(const State& state, PyFunctionObject* function) {
  auto* code = reinterpret_cast<PyCodeObject*>(function->func_code);
  const Ref names = Ref::steal(PyCode_GetFreevars(code));
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(names.get()); ++i) {
    if (is_same_text(PyTuple_GET_ITEM(names.get(), i), state.names.classdict.get())) {
      return true;
    }
  }
  return false;
}

}  // namespace waybill::py
