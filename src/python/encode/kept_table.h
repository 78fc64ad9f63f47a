#pragma once

// What is kept of classes; that of functions is kept on their code.

#include <Python.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>

#include "python/discovery/code_info.h"
#include "python/runtime/ref.h"
#include "python/runtime/state.h"

namespace waybill::py {

// Makes all that is kept be forgotten: tables, and units when they are met.
void forget_kept(State& state);

// Keeps no class and no code alive. Used under the interpreter's lock.
class KeptTable {
 public:
  // When there are more entries than `most`, all are forgotten.
  explicit KeptTable(std::size_t most) : most_(most) {}

  // Its slot, valid until the next call of slot(). May run code of others, when
  // something dead is forgotten.
  KeptSlot& slot(PyObject* key) { return entry(key).slot; }
  // The same, or null if it has none.
  KeptSlot* find(PyObject* key);

  // Whether this was noted of a class, and neither it nor a base of it has changed:
  // that nothing but copyreg has a say in how its instances are taken apart.
  bool is_plain(PyTypeObject* type);
  void note_plain(PyTypeObject* type);

 private:
  struct Entry {
    Ref key;  // A weak reference.
    KeptSlot slot;
    std::uint32_t plain_version = 0;  // Of the class when that was noted, or 0.
  };
  // Null if there is none, or if it is of a class that is gone.
  Entry* existing(PyObject* key);
  // Makes one if there is none.
  Entry& entry(PyObject* key);

  std::size_t most_;
  std::unordered_map<PyObject*, Entry> entries_;
};

}  // namespace waybill::py
