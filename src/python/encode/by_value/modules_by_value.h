#pragma once

// Modules whose functions and classes travel by value although they could be imported:
// those that the caller named, their submodules, and local modules that code of theirs
// uses, which are added here.

#include <Python.h>

#include "python/discovery/code_info.h"
#include "python/runtime/modules.h"

namespace waybill::py {

class ModulesByValue {
 public:
  // `names`: a set of str, borrowed; or null.
  ModulesByValue(const State& state, PyObject* names) : state_(state), names_(names) {}

  // Whether the caller named any.
  bool any() const { return names_ != nullptr; }
  PyObject* names() const { return names_; }

  // Whether functions, classes and objects of a module travel by value.
  bool has(PyObject* module) const;
  bool has_name(PyObject* name) const {
    return names_ != nullptr && has_name_or_parent(names_, name);
  }
  // Whether of a module travels what code needs of it: one of these, or the script's
  // own, which is another one at the receiver.
  bool is_sent_in_parts(PyObject* module) const {
    return is_script(state_, module) || has(module);
  }
  // What the module of these globals is; null if it does not travel by value.
  PyObject* with_globals(PyObject* globals) const;

  // Adds the module of what such a module holds, if it is local: a module, or what
  // comes from one. It may run code of others, so the caller holds `object` itself.
  void add_module_of(PyObject* object);
  // The same of all that a function of such a module names or imports.
  void add_modules_of_code(PyObject* function, const CodeInfo& info);

 private:
  void add_imported(PyObject* name);
  void add_imported(PyObject* function, const CodeInfo& info);

  const State& state_;
  PyObject* names_;
};

}  // namespace waybill::py
