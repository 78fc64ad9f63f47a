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
  // Its slot; null if it has none.
  KeptSlot* find(PyObject* type);
  // The same, which is made if there is none; valid until the next call. May run code
  // of others, when something dead is forgotten.
  KeptSlot& slot(PyObject* type);

 private:
  static constexpr std::size_t kMost = 256;  // More are all forgotten.

  struct Entry {
    Ref type;  // A weak reference.
    KeptSlot slot;
  };
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
