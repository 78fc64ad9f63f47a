#pragma once

// Names of a payload that are others here: the caller's rules, and what libraries are
// known to have moved. Python's half, waybill._environment.renames, has the rules.

#include <Python.h>

#include "python/decode/decode_hooks.h"
#include "python/runtime/ref.h"
#include "python/runtime/state.h"
#include "waybill/manifest.h"

namespace waybill::py {

// All functions throw PyError. What answers a name has asked the gate about that name.
class Renaming {
 public:
  // What a module has; null: no rule is about it.
  struct Name {
    Ref module, path;
    explicit operator bool() const { return bool(module); }
  };

  // Everything must outlive this, but for the hooks themselves.
  Renaming(const State& state, const Manifest& manifest, const DecodeHooks& hooks)
      : state_(state), manifest_(manifest), rules_(hooks.renames), gate_(hooks.gate) {}

  // ---- The caller's rules: asked first, and whether or not the old name is here ----

  bool has_rules() const { return rules_ != nullptr; }
  // The module that a name means; null if it means what it says. That is noted.
  Ref module(PyObject* name) const;
  Name name(PyObject* module, PyObject* path) const;
  bool has_names_of(PyObject* module) const;

  // ---- What libraries moved: asked about what is not here --------------------------

  // `error` says why the module cannot be imported.
  Ref known_module(PyObject* name, PyObject* error) const;
  Name known_name(PyObject* module, PyObject* path) const;
  // It was found there: what this payload became holds no longer than until the old
  // name is here.
  void note_known_module(PyObject* name, PyObject* moved);
  void note_known(PyObject* module, PyObject* path, const Name& moved);
  bool has_used_known() const { return has_used_known_; }

  // ---- Errors ----------------------------------------------------------------------

  // What the payload says that it was made with, as Python's half takes it; None if it
  // says nothing.
  Ref environment() const;
  // Adds to an AttributeError why the module may have no such name.
  void explain(PyObject* error, PyObject* module, PyObject* path) const;

 private:
  PyObject* known() const;
  Name name_of(PyObject* answer) const;
  void demand_import(PyObject* name, PyObject* old) const;

  const State& state_;
  const Manifest& manifest_;
  PyObject* rules_;
  const Gate* gate_;
  bool has_used_known_ = false;
};

}  // namespace waybill::py
