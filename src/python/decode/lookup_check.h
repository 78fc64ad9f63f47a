#pragma once

// Asks a policy what names of a payload turned out to be. A module holds more than its
// own things: `json:codecs.open` goes through one module into another, and what was
// imported from elsewhere answers to an alias. So does a module: os.path is posixpath.

#include <Python.h>

#include <cstddef>
#include <string>
#include <unordered_map>
#include <vector>

#include "python/runtime/ref.h"
#include "waybill/gate.h"

namespace waybill::py {

struct State;

// What the rules that deny something mean by their names, as far as sys.modules tells
// without an import: functions, classes and modules. Of a module that is denied as a
// whole it is what the module exports (`__all__`, or else what says that it is from
// there), but for what is builtin: os.error is OSError.
class DeniedNames {
 public:
  struct Name {
    Ref module, name;  // `name` null: the module itself.
  };

  // Both must outlive this. `gate` null: nothing is denied.
  DeniedNames(const State& state, const Gate* gate) : state_(state), gate_(gate) {}

  // The names under which this object is denied, unless an earlier rule allows it.
  // Cost: a look-up; where modules were loaded since the last call, one by the number
  // of rules that deny and of the names in the modules that they deny.
  const std::vector<Name>& of(PyObject* object);

 private:
  void find_all(PyObject* loaded);
  void add_module(PyObject* loaded, PyObject* module_name, const Rule& rule);
  void add(PyObject* object, PyObject* module, PyObject* name);

  const State& state_;
  const Gate* gate_;
  Py_ssize_t modules_seen_ = -1;
  std::vector<Ref> held_;
  std::unordered_map<PyObject*, std::vector<Name>> names_;
};

class LookupCheck {
 public:
  // Everything must outlive the check. `gate` null: all is allowed, and `module`
  // may be null. `offset`: of the node, for errors. `module`: the name in the manifest,
  // which check_policy() has asked about; what may be called was decided under it.
  LookupCheck(const State& state, const Gate* gate, DeniedNames& denied,
              std::size_t offset, PyObject* module, PyObject* name);

  // The name is another here: this one has to be allowed as well, for all that the old
  // one may be used for. Throws PyError: PolicyError.
  void renamed(PyObject* module, PyObject* name) const;

  // `module` is what the manifest's name turned out to be. One that has another name of
  // its own is asked about under that one too. Throws PyError: PolicyError.
  void entered(PyObject* module) const;

  // A step on the way gave `object`, and `rest` of the name is to be followed from
  // there. Throws PyError: PolicyError.
  void passed(PyObject* object, PyObject* rest) const;

  // The whole name gave `object`. What calls itself otherwise has to be allowed under
  // its own name as well, for all that the name may be used for.
  void found(PyObject* object) const;

 private:
  Request use() const;
  void demand(Request request, PyObject* module, PyObject* name) const;

  const State& state_;
  const Gate* gate_;
  DeniedNames& denied_;
  std::size_t offset_;
  PyObject* module_;
  PyObject* name_;
};

}  // namespace waybill::py
