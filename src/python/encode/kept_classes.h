#pragma once

// What is kept of classes: their nodes, and how their instances are taken apart. The
// nodes of functions are kept on their code.

#include <Python.h>

#include <cstddef>
#include <cstdint>
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

  // Whether this was noted of a class, and neither it nor a base of it has changed:
  // that nothing but copyreg has a say in how its instances are taken apart.
  bool is_plain(PyTypeObject* type) const;
  void note_plain(PyTypeObject* type);

 private:
  struct Entry {
    Ref type;  // A weak reference.
    KeptSlot slot;
    std::uint32_t plain_version = 0;  // Of the class when that was noted, or 0.
  };
  // Makes one if there is none.
  Entry& entry(PyObject* type, bool& is_new);

  std::unordered_map<PyObject*, Entry> entries_;
};

}  // namespace waybill::py
