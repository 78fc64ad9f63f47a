// Tested by tests/python/functions/test_annotations.py.

#include "python/walker/annotations.h"

#include <utility>

#include "python/runtime/attribute.h"
#include "python/runtime/compat.h"

namespace waybill::py {

namespace {

// The annotations; null if one of their names is not defined yet.
Ref evaluate_annotations_of(PyObject* function) {
  Ref evaluated = steal_unless(
      PyExc_Exception, PyObject_GetAttr(function, interned("__annotations__").get()));
  return evaluated && PyDict_CheckExact(evaluated.get()) ? evaluated : Ref();
}

}  // namespace

bool is_library_annotate(PyObject* annotate) {
  if (!PyFunction_Check(annotate)) return false;
  PyObject* module = as_function(annotate)->func_module;
  if (module == nullptr || !PyUnicode_Check(module)) return false;
  return PyUnicode_CompareWithASCIIString(module, "typing") == 0 ||
         PyUnicode_CompareWithASCIIString(module, "dataclasses") == 0;
}

Ref code_of_annotation(const State& state, PyObject* annotation, PyObject* owner) {
  PyObject* helper = state.code_of_annotation.get();
  if (owner != nullptr) return null_if_none(call(helper, annotation, owner));
  Ref code;
  if (PyUnicode_CheckExact(annotation)) {
    code = Ref::share(raw_get(state.annotation_codes.get(), annotation));
  }
  return null_if_none(code ? code : call(helper, annotation));
}

bool has_wrapped_function(const State& state, PyFunctionObject* function) {
  return raw_get(function->func_dict, state.names.wrapped.get()) != nullptr;
}

Annotations annotations_of(PyObject* function) {
  if (PyObject* annotate = deferred_annotate(function)) {
    Ref evaluated =
        is_library_annotate(annotate) ? evaluate_annotations_of(function) : Ref();
    return evaluated ? Annotations{nullptr, std::move(evaluated)}
                     : Annotations{annotate, {}};
  }
  Ref evaluated = evaluated_annotations(function);
  if (evaluated && PyDict_GET_SIZE(evaluated.get()) == 0) evaluated = Ref();
  return {nullptr, std::move(evaluated)};
}

}  // namespace waybill::py
