#pragma once

// Names of a payload that have other names here: by the caller's rules, or because a
// library is known to have moved them. waybill._environment.renames has the rules.

#include <Python.h>

#include "python/decode/decode_hooks.h"
#include "python/runtime/ref.h"
#include "python/runtime/state.h"
#include "waybill/manifest.h"

namespace waybill::py {

// All functions throw PyError. The gate has admitted each name that they return.
class Renaming {
 public:
  // A module and a path in it; null if no rule applies.
  struct Name {
    Ref module, path;
    explicit operator bool() const { return bool(module); }
  };

  // Everything but the hooks must outlive this.
  Renaming(const State& state, const Manifest& manifest, const DecodeHooks& hooks)
      : state_(state), manifest_(manifest), rules_(hooks.renames), gate_(hooks.gate) {}

  // ---- The caller's rules: they apply even if the old name exists here -------------

  bool has_rules() const { return rules_ != nullptr; }
  // The new name of a module or of a path in one; null if it has none. Records the use.
  Ref module(PyObject* name) const;
  Name name(PyObject* module, PyObject* path) const;
  bool has_names_of(PyObject* module) const;

  // ---- Known moves in libraries, for names that do not exist here ------------------

  // `error`: the reason why the module cannot be imported.
  Ref moved_module(PyObject* name, PyObject* error) const;
  Name moved_name(PyObject* module, PyObject* path) const;
  // Record that a name was found at its new place; then the result must not be cached,
  // since the old name may exist here later.
  void record_moved_module(PyObject* name, PyObject* moved);
  void record_moved_name(PyObject* module, PyObject* path, const Name& moved);
  bool has_used_moves() const { return has_used_moves_; }

  // ---- Errors ----------------------------------------------------------------------

  // The environment of the sender as a tuple for Python code; None if the payload
  // does not describe it.
  Ref environment() const;
  // Adds to an AttributeError the likely reason why the module lacks the name.
  void explain(PyObject* error, PyObject* module, PyObject* path) const;

 private:
  PyObject* moves() const;
  Name name_of(PyObject* answer) const;
  void check_import_allowed(PyObject* name, PyObject* old) const;

  const State& state_;
  const Manifest& manifest_;
  PyObject* rules_;
  const Gate* gate_;
  bool has_used_moves_ = false;
};

}  // namespace waybill::py
