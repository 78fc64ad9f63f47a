// Functions about what is let in: policies, limits, the ceiling of the process.

#include <Python.h>

#include <memory>

#include "border.h"
#include "methods.h"
#include "python/capsules.h"
#include "python/runtime/text.h"

namespace waybill::extension {

namespace {

Ref policy(PyObject*, PyObject* rules) { return py::new_policy(rules); }

// A list of sentences.
Ref doubts(PyObject*, PyObject* policy) {
  Ref sentences = Ref::steal(PyList_New(0));
  for (const std::string& doubt : py::policy_of(policy).doubts()) {
    check(PyList_Append(sentences.get(), text(doubt).get()));
  }
  return sentences;
}

// Tells whether, and the rule that decided or None.
Ref ask(PyObject*, PyObject* const* arguments) {
  for (int i = 1; i < 4; ++i) {
    if (PyUnicode_Check(arguments[i])) continue;
    PyErr_SetString(PyExc_TypeError, "request, module and name should be str");
    throw PyError();
  }
  const Policy& policy = py::policy_of(arguments[0]);
  const std::string word = py::text_of(arguments[1]);
  for (const Request request :
       {Request::kImport, Request::kLookup, Request::kCall, Request::kCode}) {
    if (name_of(request) != word) continue;
    const Verdict verdict =
        policy.ask(request, py::text_of(arguments[2]), py::text_of(arguments[3]));
    const Ref rule =
        verdict.rule != nullptr ? text(verdict.rule->text()) : Ref::share(Py_None);
    return Ref::steal(
        Py_BuildValue("(OO)", verdict.allows ? Py_True : Py_False, rule.get()));
  }
  PyErr_SetString(PyExc_ValueError,
                  "a request is 'import', 'lookup', 'call' or 'code'");
  throw PyError();
}

Ref restrict_process(PyObject*, PyObject* load_options) {
  LoadOptions restriction = py::load_options_of(load_options);
  if (restriction.keys) {  // Those that are added to the ring later do not count.
    restriction.keys = std::make_shared<const KeyRing>(restriction.keys->clone());
  }
  waybill::restrict_process(restriction);
  return Ref::share(Py_None);
}

Ref restrictions(PyObject*, PyObject*) {
  return Ref::steal(PyLong_FromSize_t(process_restrictions()));
}

void add(PyObject* module, const char* name, const Ref& value) {
  check(PyModule_AddObjectRef(module, name, value.get()));
}

}  // namespace

PyMethodDef kGateMethods[] = {
    method<policy>("policy", "policy(rules, /) -> capsule"),
    method<doubts>("doubts", "doubts(policy, /) -> list"),
    method<ask, 4>("ask", "ask(policy, request, module, name, /) -> (allowed, rule)"),
    method<restrict_process>("restrict_process", "restrict_process(load_options, /)"),
    method<restrictions>("restrictions", "restrictions() -> int", METH_NOARGS),
    {nullptr, nullptr, 0, nullptr},
};

void add_gate_constants(PyObject* module) {
  add(module, "LIMITS", py::limits_tuple(Limits{}));
  add(module, "STRICT_LIMITS", py::limits_tuple(kStrictLimits));
  add(module, "STANDARD_TYPES", text(standard_types_policy()));
}

}  // namespace waybill::extension
