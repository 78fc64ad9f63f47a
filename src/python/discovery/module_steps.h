#pragma once

// Steps from a module to what it has under a name, and what they report of imports.

#include <Python.h>

#include "python/discovery/facts.h"
#include "python/runtime/state.h"

namespace waybill::py {

// In all functions `id` is the value of the code in `scope` that makes the step.
class ModuleSteps {
 public:
  ModuleSteps(const State& state, ImportCollector& imports)
      : state_(state), imports_(imports) {}

  // One attribute step from a module: what the module's dict has under `name`, recorded
  // if that is a module.
  void step(const Scope& scope, ValueId id, const Fact& from, PyObject* name,
            Facts& result);

  // The same from the placeholder of a lazy import.
  void step_from_placeholder(const Scope& scope, ValueId id, const Fact& from,
                             PyObject* name, Facts& result);

  // Records a module as needed at load, unless a statement of the body imports it.
  void record(const Scope& scope, ValueId id, PyObject* module, bool imported);

 private:
  bool take_placeholder(PyObject* found, PyObject* whole, bool imported, Facts& result);
  void record_unlisted(const Scope& scope, ValueId id, PyObject* found, PyObject* whole,
                       bool imported);
  void record_pending(const Scope& scope, ValueId id, PyObject* module);

  const State& state_;
  ImportCollector& imports_;
};

}  // namespace waybill::py
