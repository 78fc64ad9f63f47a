#pragma once

// Checks the objects that names of a payload denote against a policy. A module holds
// more than its own objects: `json:codecs.open` goes through one module into another,
// and imported objects and modules have aliases: os.path is posixpath.

#include <Python.h>

#include <cstddef>
#include <string>
#include <unordered_map>
#include <vector>

#include "python/runtime/ref.h"
#include "waybill/gate.h"

namespace waybill::py {

struct State;

// The objects that denying rules name, as far as sys.modules has them without an
// import: functions, classes and modules. A module that is denied as a whole stands for
// what it exports: `__all__`, or else the objects that name it as their module. Builtin
// objects are left out: os.error is OSError.
class DeniedNames {
 public:
  struct Name {
    Ref module, name;  // `name` null: the module itself.
  };

  // Both must outlive this. With a null `gate` nothing is denied.
  DeniedNames(const State& state, const Gate* gate) : state_(state), gate_(gate) {}

  // The names under which rules deny this object; an earlier rule may allow it. Cost: a
  // look-up; after modules were loaded, proportional to the denying rules and the names
  // in the modules that they deny.
  const std::vector<Name>& find(PyObject* object);

 private:
  void find_all(PyObject* loaded);
  void add_module(PyObject* loaded, PyObject* module_name, const Rule& rule);
  void add(PyObject* object, PyObject* module, PyObject* name);

  const State& state_;
  const Gate* gate_;
  Py_ssize_t modules_seen_ = -1;
  std::vector<Ref> held_;  // Owns the keys of names_.
  std::unordered_map<PyObject*, std::vector<Name>> names_;
};

// Checks one look-up. All functions throw PyError: PolicyError.
class LookupCheck {
 public:
  // Everything must outlive the check. With a null `gate` everything is allowed, and
  // `module` may be null. `offset`: of the node, for errors. `module`: the name in the
  // manifest, for which check_policy() has decided whether the object may be called.
  LookupCheck(const State& state, const Gate* gate, DeniedNames& denied,
              std::size_t offset, PyObject* module, PyObject* name)
      : state_(state),
        gate_(gate),
        denied_(denied),
        offset_(offset),
        module_(module),
        name_(name) {}

  // Checks the name that replaces the one in the payload. The policy must allow it for
  // every use for which it allows the old name.
  void check_renamed(PyObject* module, PyObject* name) const;

  // Checks the module that was found under the manifest's name, also under its own name
  // if that differs.
  void check_module(PyObject* module) const;

  // Checks an object on the way, from which `rest` of the name is followed.
  void check_step(PyObject* object, PyObject* rest) const;

  // Checks the object that the whole name denotes, also under the object's own name,
  // for every use for which the policy allows the payload's name.
  void check_object(PyObject* object) const;

 private:
  Request strongest_use() const;
  void demand(Request request, PyObject* module, PyObject* name) const;

  const State& state_;
  const Gate* gate_;
  DeniedNames& denied_;
  std::size_t offset_;
  PyObject* module_;
  PyObject* name_;
};

}  // namespace waybill::py
