#pragma once

// Guards of a function or class by value: a record of all that it reached, which is
// compared later with all that it reaches then.

#include <Python.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "python/guards/reach.h"
#include "python/runtime/ref.h"
#include "python/runtime/state.h"
#include "python/walker/import_collector.h"

namespace waybill::py {

// Keeps no module, class, function or dict alive.
class ReachGuards {
 public:
  // Records all that a function or class reaches. `visited` gets the objects that a
  // payload may refer to. Null if one of them cannot be compared later, or if there are
  // too many.
  static std::unique_ptr<ReachGuards> record(const State& state, CodeInfos& infos,
                                             PyObject* root, VisitedObjects& visited);
  // Whether the caches have not been cleared since record().
  bool is_current(const State& state) const {
    return generation_ == state.cache_generation;
  }
  // False if a visited class has no version, so that changes of it cannot be detected.
  bool is_checkable() const { return is_checkable_; }

  // Whether a class, or a function with the same code, still reaches the same objects
  // as in record(). Repeats every look-up. Only an unchanged version of a class proves
  // that its dict has not changed. `visited` gets the objects that correspond to those
  // of record(), in the same order. Cost: a few dict look-ups for each global and each
  // class. May run Python code, in dicts with keys that are not exact strs.
  bool are_satisfied(const State& state, CodeInfos& infos, PyObject* root,
                     VisitedObjects& visited) const;

 private:
  class Recorder;
  class Checker;

  // The record of one visited object.
  struct Guard {
    enum class Kind : std::uint8_t {
      kAbsent,      // No object.
      kConstant,    // Text, a number or a singleton.
      kVisited,     // An object that was visited before.
      kContainer,   // A tuple, list, dict or set; the guards of its items follow.
      kCall,        // An object that a call makes; the guards of the call follow.
      kMembers,     // An instance; the guards of its class, slots and dict follow.
      kNamed,       // An object that travels as a name in the module of its class.
      kCount,       // A number of cells, bases, or names of a dict.
      kModule,      // A module that can be imported.
      kGlobal,      // A class or function that is found in a module.
      kBuiltin,     // A type of the interpreter, in builtins.
      kMethod,      // A function of a class; its guards come later.
      kDefinition,  // A function or class by value, which has guards of its own.
      kType,        // The class by value whose guards these are.
      kImplicit,    // An attribute of a class that is not written.
      kNamespace,   // A globals dict.
      kObject,      // A cell or dict; the guards of its content follow.
    };
    Kind kind = Kind::kAbsent;
    bool is_shared = false;  // kConstant: written once; later uses are references.
    // kVisited: number of the object. kContainer, kCall, kCount: number of items.
    // kNamespace: flags. kType, kMembers: version of the class.
    std::uint32_t number = 0;
    // kConstant: the value, or a copy if it is shared. kContainer: its type. kBuiltin:
    // the type. kGlobal, kType: a weak reference to the object; kMembers: to its class.
    Ref held{};
    // kModule, kGlobal, kNamed: module and name. kNamespace: __name__ and __package__.
    // kBuiltin: its name. kType: the id. kMembers: names of the slots.
    Ref module{}, name{};
  };

  std::uint64_t generation_ = 0;  // Of the caches; see State::cache_generation.
  std::vector<Guard> guards_;
  std::vector<Ref> codes_;  // Weak references.
  bool is_checkable_ = true;
};

// Whether all look-ups of a trace still have the same results.
bool is_unchanged(const State& state, const LookupTrace& trace);

}  // namespace waybill::py
