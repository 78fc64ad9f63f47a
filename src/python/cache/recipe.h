#pragma once

// How to make the known nodes of a payload again, without reading them.

#include <Python.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "python/runtime/ref.h"
#include "python/runtime/state.h"
#include "verify/reusable_nodes.h"

namespace waybill::py {

// The steps that build the functions among the known nodes of a verified payload:
// namespace, closure, defaults and other fields, and the functions in them. Each run
// makes new functions, cells, dicts and lists, and looks names up in modules. Text,
// numbers, tuples of these and code objects are shared by all runs. Classes are given.
// No step runs code of others.
//
// Holds code, text, numbers and the module builtins; no other module, and nothing that
// a run has made.
class Recipe {
 public:
  enum class Action : std::uint8_t {
    kConstant,  // Pushes `object`.
    kModule,    // Pushes the module of import `number`.
    kGlobal,    // Pushes what that module has under the name `object`.
    kBuiltin,   // Pushes what builtins has under that name.
    kTuple,     // Pops `number` items, and pushes a tuple of them.
    kList,      // Pops `number` items, and pushes a list of them.
    kDict,      // Pops `number` keys and values, and pushes a dict of them.
    kCopy,      // Pushes a copy of the dict `object`.
    kPackage,   // Gives the namespace on top a __path__.
    kCell,      // Pushes an empty cell.
    kFunction,  // Pops `number` cells and a namespace; pushes a function of `object`.
    kStoreGlobal,  // Pops a value: the global `object` of the namespace or function on
                   // top.
    kStoreField,   // Pops a value: the field `number`, named `object`, of the function.
    kStoreContent,  // Pops a value: the content of the cell that was saved as `number`.
    kSave,          // Saves the object on top as `number`.
    kLoad,          // Pushes what was saved as `number`.
    kPop,           // Pops a value.
  };
  struct Step {
    Action action;
    std::uint32_t number = 0;
    Ref object = {};
  };
  // The uses of code in the payload.
  class CodeUses {
   public:
    // Passes over the uses before this one.
    virtual void go_to(std::size_t use) = 0;
    // The code object of the use at hand, whose body has this index. Passes over it.
    virtual Ref next(std::size_t body) = 0;

   protected:
    ~CodeUses() = default;
  };

  // Nothing if the nodes hold what these steps do not make: objects made by calls,
  // names with dots, cycles of lists. Throws PyError. Cost: one pass over the nodes.
  static std::optional<Recipe> of(const State& state,
                                  std::span<const envelope::ReusableNode> nodes,
                                  CodeUses& code);

  // Fills in the functions. `modules`: by number of import, those that are needed at
  // load; `objects`: what the nodes mean, see envelope::object_count(), null for
  // functions. False if a module no longer has a name in its dict. Throws PyError, for
  // want of memory.
  bool make(const State& state, std::span<const Ref> modules,
            std::span<Ref> objects) const;

 private:
  friend class RecipeBuilder;

  std::vector<Step> steps_;
  std::size_t saved_count_ = 0;  // What nodes mean first, in that order.
};

}  // namespace waybill::py
