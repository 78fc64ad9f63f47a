#pragma once

// What is known of the values of one function's code.

#include <Python.h>

#include <memory>
#include <vector>

#include "python/discovery/code_info.h"
#include "python/discovery/import_collector.h"

namespace waybill::py {

struct Scope;

// A display made by the code itself.
struct Pack {
  const Scope* scope;
  ValueId value;
};

// What one value may be.
struct Facts {
  std::vector<Fact> objects;
  std::vector<Pack> packs;
  bool unknown = false;  // It may be anything else as well.

  void add(PyObject* object, bool imported);
  // Whether anything came to it. Beyond some hundreds of objects it is known well
  // enough.
  bool merge(const Facts& from);
};

// One code object of the function.
struct Scope {
  const CodeInfo* info;
  const Scope* outer;        // Null for the function's own code.
  std::uint32_t constant;    // Its index in the constants of `outer`.
  std::vector<Facts> facts;  // By ValueId.
};

// The function's own code first.
using Scopes = std::vector<std::unique_ptr<Scope>>;

}  // namespace waybill::py
