#pragma once

// Where the nodes of classes are kept. Those of functions are kept on their code.

#include <Python.h>

#include <cstddef>
#include <memory>
#include <unordered_map>

#include "python/discovery/code_info.h"
#include "python/runtime/ref.h"

namespace waybill::py {

// Keeps no class alive. Used under the interpreter's lock.
class KeptClasses {
 public:
  // When there are more, all are forgotten. Each may have as much as KeptNode allows.
  static constexpr std::size_t kMaxEntries = 256;

  // What is kept for a class; null if nothing is.
  std::shared_ptr<const KeptNode> kept(PyObject* type) const;

  // The slot of a class, valid until the next call; null the first time, since many
  // classes are sent once. May run code of others, when a dead class is forgotten.
  KeptSlot* find(PyObject* type);

 private:
  struct Entry {
    Ref type;  // A weak reference.
    KeptSlot slot;
  };
  std::unordered_map<PyObject*, Entry> entries_;
};

}  // namespace waybill::py
