// Tested by tests/python/functions/test_annotations.py.

#include "python/walker/annotations.h"

#include <utility>

#include "python/runtime/attribute.h"
#include "python/runtime/compat.h"

namespace waybill::py {

namespace {

// The annotations; null if a name of theirs is not there yet.
Ref evaluated_now(PyObject* function) {
  Ref evaluated =
      Ref::steal_or_null(PyObject_GetAttr(function, interned("__annotations__").get()));
  if (!evaluated) forgive(PyExc_Exception);
  return evaluated && PyDict_CheckExact(evaluated.get()) ? evaluated : Ref();
}

}  // namespace

bool is_of_library(PyObject* annotate) {
  if (!PyFunction_Check(annotate)) return false;
  PyObject* module = as_function(annotate)->func_module;
  if (module == nullptr || !PyUnicode_Check(module)) return false;
  return PyUnicode_CompareWithASCIIString(module, "typing") == 0 ||
         PyUnicode_CompareWithASCIIString(module, "dataclasses") == 0;
}

Ref code_of_annotation(const State& state, PyObject* annotation, PyObject* owner) {
  PyObject* ask = state.code_of_annotation.get();
  if (owner != nullptr) return unless_none(call(ask, annotation, owner));
  Ref code;
  if (PyUnicode_CheckExact(annotation)) {
    code = Ref::share(raw_get(state.annotation_codes.get(), annotation));
  }
  return unless_none(code ? code : call(ask, annotation));
}

bool is_wrapping(const State& state, PyFunctionObject* function) {
  return raw_get(function->func_dict, state.names.wrapped.get()) != nullptr;
}

Annotations annotations_of(PyObject* function) {
  if (PyObject* annotate = deferred_annotate(function)) {
    Ref evaluated = is_of_library(annotate) ? evaluated_now(function) : Ref();
    return evaluated ? Annotations{nullptr, std::move(evaluated)}
                     : Annotations{annotate, {}};
  }
  Ref evaluated = evaluated_annotations(function);
  if (evaluated && PyDict_GET_SIZE(evaluated.get()) == 0) evaluated = Ref();
  return {nullptr, std::move(evaluated)};
}

}  // namespace waybill::py
