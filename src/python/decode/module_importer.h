#pragma once

// Imports what a manifest lists, through the import system.

#include <Python.h>

#include <set>
#include <utility>
#include <vector>

#include "python/decode/decode_hooks.h"
#include "python/decode/names/renaming.h"
#include "python/runtime/ref.h"
#include "python/runtime/state.h"
#include "waybill/manifest.h"

namespace waybill::py {

// What sys.modules, given as `loaded`, has under the name, if that is a module and its
// import has come to an end; null if not. Cost: three look-ups, where the import system
// takes thirty.
Ref imported_module(const State& state, PyObject* loaded, PyObject* name);

class ModuleImporter {
 public:
  // Everything must outlive the importer, but for the hooks themselves. If they leave
  // what is missing, something stands for modules that cannot be imported, and raises
  // the error when it is used.
  ModuleImporter(const State& state, const Manifest& manifest, const DecodeHooks& hooks)
      : state_(state),
        manifest_(manifest),
        renaming_(state, manifest, hooks),
        leaves_missing_(hooks.leaves_missing),
        modules_(manifest.imports.size()) {}

  // Takes the module of a record from a caller that has looked it up.
  void have(std::size_t index, Ref module) { modules_[index] = std::move(module); }

  // Imports all that is needed at load and was not imported yet, in the manifest's
  // order, and registers what is lazy; but for modules that are not here and of which
  // the caller renames names. Throws PyError: MissingModuleError, or what a module
  // raised.
  void import_all();
  // Imports those that were left, unless names of theirs were found elsewhere. Throws
  // PyError.
  void finish();

  std::size_t size() const { return modules_.size(); }

  // The module of a record; imports it if import_all() has not.
  Ref get(std::size_t index);
  // A module that has what is called `module:path` in the payload.
  Ref import_for(PyObject* name, PyObject* module, PyObject* path);
  // A name of the record's module was found elsewhere.
  void found_elsewhere(std::size_t index) { elsewhere_.insert(index); }

  // Its name in the payload as a str.
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
  bool leaves_missing_ = false;
  std::vector<Ref> modules_;
  // Records of what is missing, and of what names were found elsewhere.
  std::set<std::size_t> deferred_, elsewhere_;
};

}  // namespace waybill::py
