#pragma once

// Asks a policy what names of a payload turned out to be. A module holds more than its
// own things: `json:codecs.open` goes through one module into another, and what was
// imported from elsewhere answers to an alias. So does a module: os.path is posixpath.

#include <Python.h>

#include <cstddef>
#include <string>

#include "waybill/admission.h"

namespace waybill::py {

struct State;

class LookupCheck {
 public:
  // Everything must outlive the check. `admission` null: all is allowed, and `module`
  // may be null. `offset`: of the node, for errors. `module`: the name in the manifest,
  // which check_policy() has asked about; what may be called was decided under it.
  LookupCheck(const State& state, const Admission* admission, std::size_t offset,
              PyObject* module, PyObject* name);

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
  const Admission* admission_;
  std::size_t offset_;
  PyObject* module_;
  PyObject* name_;
};

}  // namespace waybill::py
