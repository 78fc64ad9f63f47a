// Tested by tests/python/cache/test_kept_functions.py.

#include "python/discovery/function_reach.h"

namespace waybill::py {

bool is_same_text(PyObject* a, PyObject* b) {
  if (a == b) return true;
  return a != nullptr && b != nullptr && PyUnicode_CheckExact(a) &&
         PyUnicode_CheckExact(b) && PyUnicode_Compare(a, b) == 0;
}

bool is_empty_dict(PyObject* dict) {
  return dict == nullptr || (PyDict_CheckExact(dict) && PyDict_GET_SIZE(dict) == 0);
}

bool is_ordinary(const State& state, PyFunctionObject* f) {
  auto* code = reinterpret_cast<PyCodeObject*>(f->func_code);
  PyObject* own_name = raw_get(f->func_globals, state.names.name.get());
  PyObject* module = f->func_module != nullptr ? f->func_module : Py_None;
  PyObject* doc = f->func_doc != nullptr ? f->func_doc : Py_None;
  PyObject* default_ = default_doc(code);
  return is_empty_dict(f->func_dict) &&
         type_parameters(reinterpret_cast<PyObject*>(f)) == nullptr &&
         is_same_text(f->func_name, code->co_name) &&
         is_same_text(f->func_qualname, code->co_qualname) &&
         is_same_text(module, own_name != nullptr ? own_name : Py_None) &&
         (doc == default_ || is_same_text(doc, default_));
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

}  // namespace waybill::py
