#pragma once

// What an extension module of a package by value makes. The module does not travel, and
// the sender has said that the receiver has it not. Classes need their bases at once,
// so a class with such a base cannot be sent. What code only refers to becomes a
// stand-in, which says what is missing when it is used.

#include <Python.h>

#include <map>
#include <utility>

#include "python/discovery/import_collector.h"
#include "python/encode/by_value/modules_by_value.h"

namespace waybill::py {

class Extensions {
 public:
  // Both outlive this.
  Extensions(const State& state, const ModulesByValue& by_value)
      : state_(state), by_value_(by_value) {}

  // Whether a module is an extension inside of a package that travels by value.
  bool is_one(PyObject* module) const;

  // The extension that has a class on the way of a type's, or of its metaclass's; null
  // if none has.
  PyObject* of_type(PyTypeObject* type);
  // The same for any object that one may have made; `name` is where a class is found.
  PyObject* of_object(PyObject* object, GlobalName& name);

  // The reducer's answer that makes a stand-in for what an extension made. `name`:
  // where it is found, if it is. The manifest gets the need.
  Ref stand_in(PyObject* object, PyObject* extension, const GlobalName& name,
               ImportCollector& imports) const;

  void forget_types() { of_types_.clear(); }

 private:
  const State& state_;
  const ModulesByValue& by_value_;
  std::map<PyObject*, std::pair<Ref, Ref>> of_types_;  // By the type: it, extension.
};

}  // namespace waybill::py
