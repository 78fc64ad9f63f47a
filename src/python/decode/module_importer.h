#pragma once

// Imports what a manifest lists, through the import system.

#include <Python.h>

#include <utility>
#include <vector>

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
  // The manifest must outlive the importer. If it `leaves_missing`, something stands
  // for modules that cannot be imported, and raises the error when it is used.
  ModuleImporter(const State& state, const Manifest& manifest,
                 bool leaves_missing = false)
      : state_(state),
        manifest_(manifest),
        leaves_missing_(leaves_missing),
        modules_(manifest.imports.size()) {}

  // Takes the module of a record from a caller that has looked it up.
  void have(std::size_t index, Ref module) { modules_[index] = std::move(module); }

  // Imports all that is needed at load and was not imported yet, in the manifest's
  // order, and registers what is lazy. Throws PyError: MissingModuleError, or what a
  // module raised.
  void import_all();

  std::size_t size() const { return modules_.size(); }

  // The module of a record; imports it if import_all() has not.
  Ref get(std::size_t index);

  // Its name as a str.
  Ref name(std::size_t index) const;

 private:
  const State& state_;
  const Manifest& manifest_;
  bool leaves_missing_ = false;
  std::vector<Ref> modules_;
};

}  // namespace waybill::py
