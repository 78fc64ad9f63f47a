#pragma once

// Imports the modules of a manifest, through the import system.

#include <Python.h>

#include <set>
#include <utility>
#include <vector>

#include "python/decode/decode_hooks.h"
#include "python/decode/renaming.h"
#include "python/runtime/ref.h"
#include "python/runtime/state.h"
#include "waybill/manifest.h"

namespace waybill::py {

// The module that sys.modules (`loaded`) has under the name, if it is completely
// imported; else null. Cost: three look-ups, where the import system takes thirty.
Ref imported_module(const State& state, PyObject* loaded, PyObject* name);

class ModuleImporter {
 public:
  // Everything but the hooks must outlive the importer. With hooks.allows_missing, a
  // placeholder replaces a module that cannot be imported, and raises the error when it
  // is used.
  ModuleImporter(const State& state, const Manifest& manifest, const DecodeHooks& hooks)
      : state_(state),
        manifest_(manifest),
        renaming_(state, manifest, hooks),
        allows_missing_(hooks.allows_missing),
        modules_(manifest.imports.size()) {}

  // Sets the module of a record, which the caller has looked up.
  void set_module(std::size_t index, Ref module) {
    modules_[index] = std::move(module);
  }

  // Imports the modules that are needed at load, in the manifest's order, and registers
  // lazy imports. Missing modules with renamed names are deferred to finish(). Throws
  // PyError: MissingModuleError, or an exception of a module.
  void import_all();
  // Imports the deferred modules, unless their names were relocated. Throws PyError.
  void finish();

  std::size_t size() const { return modules_.size(); }

  // The module of a record; imports it if import_all() has not.
  Ref get(std::size_t index);
  // Imports module `name`, which has the object that the payload calls `module:path`.
  Ref import_for(PyObject* name, PyObject* module, PyObject* path);
  // Records that a name of the record's module was found in another module.
  void mark_relocated(std::size_t index) { relocated_.insert(index); }

  // The module's name in the payload, as a str.
  Ref name(std::size_t index) const;

  Renaming& renaming() { return renaming_; }

 private:
  void get_or_defer(std::size_t index);
  template <typename Need>
  Ref import_named(PyObject* name, Need need);
  Ref import_moved(PyObject* name, const Ref& error);

  const State& state_;
  const Manifest& manifest_;
  Renaming renaming_;
  bool allows_missing_ = false;
  std::vector<Ref> modules_;
  // Records of missing modules, and of those with names found in other modules.
  std::set<std::size_t> deferred_, relocated_;
};

}  // namespace waybill::py
