#pragma once

// Guards of a function or class by value: what it reaches was looked at once, and is
// compared later with what it reaches then.

#include <Python.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "python/guards/reach.h"
#include "python/runtime/ref.h"
#include "python/runtime/state.h"
#include "python/walker/import_collector.h"

namespace waybill::py {

// Holds text, numbers, names and weak references: no module, class, function or dict is
// kept alive.
class ReachGuards {
 public:
  // Notes what a function or class reaches. `visited` gets the objects that a payload
  // may refer to. Null if something there cannot be compared later, or if it is too
  // much.
  static std::unique_ptr<ReachGuards> note(const State& state, CodeInfos& infos,
                                           PyObject* root, VisitedObjects& visited);
  // Whether the caches have not been emptied since.
  bool is_current(const State& state) const {
    return generation_ == state.cache_generation;
  }
  // Whether what has no version was among that, so that changes cannot be seen.
  bool can_hold() const { return can_hold_; }

  // Whether this class, or this function, which has the same code, reaches the same:
  // every look-up is made again, and nothing from the time before is trusted, but that
  // the dict of a class is as it was where the interpreter's version of the class is.
  // `visited` gets the objects that stand for those that note() gave, in their order.
  // Cost: a few dict look-ups for each global and each class. May run code of others,
  // in dicts whose keys are no exact text.
  bool hold(const State& state, CodeInfos& infos, PyObject* root,
            VisitedObjects& visited) const;

 private:
  class Recorder;
  class Checker;

  // What one look at the program showed.
  struct Guard {
    enum class Kind : std::uint8_t {
      kAbsent,     // Nothing.
      kConstant,   // Text, a number or a singleton.
      kSeen,       // An object that came before: its number.
      kContainer,  // A tuple, list, dict or set of so many items, whose guards follow.
      kCall,       // What a call makes, of so many parts, whose guards follow.
      kMembers,    // An instance whose class, slots and items of its dict follow.
      kPlaced,     // An object that travels as a name in the module of its class.
      kCount,      // So many cells, bases, or names of a dict.
      kModule,     // A module that can be imported, by its name.
      kGlobal,     // A class or function that is found in a module.
      kBuiltin,    // A type of the interpreter's own, by its name in builtins.
      kMethod,     // A function of a class, whose guards come later.
      kNeeded,     // A function or class by value, which has guards of its own.
      kType,       // Such a class: its version and its id.
      kGiven,      // An attribute of a class that is not written.
      kNamespace,  // What a globals dict says of itself.
      kObject,     // An object without guards of its own: a cell, a dict.
    };
    Kind kind = Kind::kAbsent;
    bool is_shared = false;    // kConstant: it is long enough to be referred to.
    std::uint32_t number = 0;  // kSeen, kContainer, kCall, kCount; kNamespace: its
                               // bits; kType, kMembers: the version of the class.
    // kConstant: itself, or a copy if it is shared. kGlobal, kType: a weak reference;
    // kMembers: one to the class. kContainer: the type. kBuiltin: itself.
    Ref held{};
    // Of a module or global; kNamespace: __name__ and __package__; kType: the id;
    // kMembers: copyreg's names of the slots.
    Ref module{}, name{};
  };

  std::uint64_t generation_ = 0;  // Of the caches, see State.
  std::vector<Guard> guards_;
  std::vector<Ref> codes_;  // Weak references.
  bool can_hold_ = true;
};

// Whether what code was seen to look into besides shows what it showed.
bool holds(const State& state, const SeenWorld& seen);

}  // namespace waybill::py
