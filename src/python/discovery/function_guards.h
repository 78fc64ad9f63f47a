#pragma once

// Guards of a function by value: what it reaches was looked at once, and is compared
// later with what it reaches then.

#include <Python.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "python/discovery/function_reach.h"
#include "python/discovery/import_collector.h"
#include "python/runtime/ref.h"
#include "python/runtime/state.h"

namespace waybill::py {

// Holds text, numbers, names and weak references: no module, class, function or dict is
// kept alive.
class FunctionGuards {
 public:
  // Notes what the function reaches. `met` gets the objects that a payload may refer
  // to. Null if something there cannot be compared later, or if it is too much.
  static std::unique_ptr<FunctionGuards> note(const State& state, PyObject* function,
                                              std::vector<MetObject>& met);
  // What was looked up besides.
  void note(SeenWorld seen) { seen_ = std::move(seen); }

  // Whether this function, which has the same code, reaches the same: every look-up is
  // made again, and nothing from the time before is trusted. `met` gets the objects
  // that stand for those that note() gave, in their order. Cost: a few dict look-ups
  // for each global. May run code of others, in dicts whose keys are no exact text.
  bool hold(const State& state, PyObject* function, std::vector<MetObject>& met) const;

 private:
  class Noting;
  class Comparing;

  // What one look at the program showed.
  struct Guard {
    enum class Kind : std::uint8_t {
      kAbsent,     // Nothing.
      kConstant,   // Text, a number or a singleton.
      kSeen,       // An object that came before: its number.
      kTuple,      // A tuple of so many items, whose guards follow.
      kCount,      // So many cells, or names of a dict.
      kModule,     // A module that can be imported, by its name.
      kGlobal,     // A class or function that is found in a module.
      kFunction,   // A function by value; its own guards come later.
      kNamespace,  // What a globals dict says of itself.
      kObject,     // An object without guards of its own: a cell, a dict.
    };
    Kind kind = Kind::kAbsent;
    bool is_shared = false;    // kConstant: it is long enough to be referred to.
    std::uint32_t number = 0;  // kSeen, kTuple, kCount; kNamespace: two bits.
    Ref held{};                // kConstant: itself. kGlobal: a weak reference.
    // Of a module or global; kNamespace: __name__ and __package__.
    Ref module{}, name{};
  };

  std::uint64_t generation_ = 0;  // Of the caches, see State.
  std::vector<Guard> guards_;
  std::vector<Ref> codes_;  // Weak references.
  SeenWorld seen_;
};

}  // namespace waybill::py
