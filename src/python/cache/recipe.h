#pragma once

// How to make the definitions of a payload again, without reading them.

#include <Python.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "python/runtime/ref.h"
#include "python/runtime/state.h"
#include "waybill/envelope.h"

namespace waybill::py {

// The steps that build the functions among the definitions of a verified payload:
// namespace, closure, defaults and other fields. Each run makes new functions, cells,
// dicts and lists, and looks names up in modules. Text, numbers, tuples of these and
// code objects are shared by all runs. Classes are given. No step runs code of others.
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
    kOfType,    // Pops a type in C, and pushes the function that it has under `object`.
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
    // The code object of the next use, whose body has this index.
    virtual Ref next(std::size_t body) = 0;
    // Passes over it.
    virtual void pass() = 0;

   protected:
    ~CodeUses() = default;
  };
  // A class or function in the definitions, by its position in the payload.
  struct Place {
    std::size_t position;
    bool is_class;
    std::vector<std::uint8_t> id;  // Of a class.
  };

  // Nothing if the definitions hold what these steps do not make: objects made by
  // calls, names with dots but those of types, cycles of lists. `places`: all classes
  // and functions, in order. Throws PyError. Cost: one pass over the definitions.
  static std::optional<Recipe> of(const State& state, const Envelope& envelope,
                                  std::span<const Place> places, CodeUses& code);

  // Makes the functions. `modules`: by number of import, those that are needed at load.
  // `objects`: by number of the places, those of classes; gets all, and what else may
  // be referred to. False if a module no longer has a name in its dict. Throws PyError,
  // for want of memory.
  bool make(const State& state, std::span<const Ref> modules,
            std::vector<Ref>& objects) const;
  // The number of what stands at a position, among the objects; nothing if it is not
  // among them.
  std::optional<std::uint32_t> number_at(std::size_t position) const;

 private:
  friend class RecipeBuilder;

  std::vector<Step> steps_;
  std::size_t saved_count_ = 0;  // Places first, in their order.
  std::vector<std::pair<std::size_t, std::uint32_t>> numbers_;  // By position.
};

}  // namespace waybill::py
