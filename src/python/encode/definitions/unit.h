#pragma once

// A function or class by value, as the encoder keeps it: with a guard for everything in
// the program that its definition depends on.

#include <Python.h>

#include <array>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "python/encode/definitions/definition.h"
#include "python/guards/guards.h"
#include "python/runtime/ref.h"
#include "python/runtime/state.h"

namespace waybill::py {

// Keeps no module, class, function or dict alive.
struct KeptUnit {
  std::unique_ptr<ReachGuards> guards;
  std::uint64_t number = 0;  // No two have the same.
  // Of the component that it is the first of: with source, and without; null if none
  // was made. `others`: the numbers of the other units of that component, in order.
  std::array<std::shared_ptr<const Definition>, 2> definitions;
  std::vector<std::uint64_t> others;
};

// What is kept of classes; that of functions is kept on their code.
// Keeps no class alive. Used under the interpreter's lock.
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

// Makes all that is kept be forgotten: tables, and units when they are met.
void forget_kept(State& state);

// One in a payload: what its guards visit now.
struct Unit {
  explicit Unit(Arena& arena) : visited(&arena) {}

  Ref object;
  std::shared_ptr<KeptUnit> kept;  // Null if it cannot stand among definitions.
  VisitedObjects visited;          // The object itself first.
  bool is_stored = false;          // To be found by later payloads.
};

// Looks at the object of `unit`: takes what is kept of it if that still holds, or notes
// it anew. `visited` is empty where it cannot stand among definitions.
// May run code of others, see ReachGuards::hold().
void look_at_unit(State& state, CodeInfos& infos, Unit& unit);

}  // namespace waybill::py
