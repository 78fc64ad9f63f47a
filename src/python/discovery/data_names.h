#pragma once

// Attributes that are asked for by names which are data: getattr under another name,
// attrgetter, vars(module)["name"], functools.reduce(getattr, …). Where a module goes
// into a call in code that can do such a thing, the code's text constants count as
// names.

#include <Python.h>

#include <vector>

#include "python/discovery/facts.h"

namespace waybill::py {

class DataNames {
 public:
  // Both must outlive this; `scopes` are there when it is first asked.
  DataNames(PyFunctionObject* function, const Scopes& scopes)
      : function_(function), scopes_(scopes) {}

  // Whether the code can look attributes up by such names, and has any.
  bool are_read();
  // All of them, whether or not they are read.
  const std::vector<Ref>& all();

 private:
  void add(PyObject* constant, int depth);

  PyFunctionObject* function_;
  const Scopes& scopes_;
  std::vector<Ref> names_;  // Once asked for.
  bool has_names_ = false;
};

}  // namespace waybill::py
