// Tested by tests/python/cache/test_kept_functions.py.

#include "python/discovery/node_reach.h"

namespace waybill::py {

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
  PyObject* own_name = or_none(raw_get(f->func_globals, state.names.name.get()));
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
