#pragma once

// Builds the functions of cached definitions without reading their payload again.

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

// A program for a stack machine that builds the functions among the definitions of a
// verified payload: namespace, closure, defaults and other fields. Each run makes new
// functions, cells, dicts and lists, and looks names up in modules. All runs share
// text, numbers, tuples of these, and code objects. The caller provides the classes. No
// step runs foreign code.
//
// Holds code, text, numbers and the module builtins; no other module, and nothing that
// a run has made.
class Recipe {
 public:
  enum class Action : std::uint8_t {
    kConstant,      // Pushes `object`.
    kModule,        // Pushes the module of import `number`.
    kGlobal,        // Pushes the attribute `object` of that module.
    kBuiltin,       // Pushes the attribute `object` of builtins.
    kMethodOfType,  // Pops a static C type, and pushes its method `object`.
    kTuple,         // Pops `number` items, and pushes a tuple of them.
    kList,          // Pops `number` items, and pushes a list of them.
    kDict,          // Pops `number` keys and values, and pushes a dict of them.
    kCopy,          // Pushes a copy of the dict `object`.
    kAddPath,       // Gives the namespace on top a __path__.
    kCell,          // Pushes an empty cell.
    kFunction,  // Pops `number` cells and a namespace; pushes a function of `object`.
    kStoreGlobal,  // Pops a value and stores it as the global `object` of the namespace
                   // or function on top.
    kStoreField,   // Pops a value and sets field `number`, named `object`, of the
                   // function on top.
    kStoreContent,  // Pops a value and fills the cell that was saved as `number`.
    kSave,          // Saves the object on top as `number`.
    kLoad,          // Pushes the object that was saved as `number`.
    kPop,           // Pops a value.
  };
  struct Step {
    Action action;
    std::uint32_t number = 0;
    Ref object = {};
  };
  // A node of a class or function in the definitions, by its position in the payload.
  struct Node {
    std::size_t position;
    bool is_class;
    std::vector<std::uint8_t> id;  // The id of a class.
  };

  // The numbers of saved objects by their positions, in order.
  using Numbers = std::vector<std::pair<std::size_t, std::uint32_t>>;

  Recipe(std::vector<Step> steps, std::size_t saved_count, Numbers numbers)
      : steps_(std::move(steps)),
        saved_count_(saved_count),
        numbers_(std::move(numbers)) {}

  // std::nullopt if steps cannot build the definitions: if these contain objects made
  // by calls, dotted names other than those of types, or cycles of lists. `nodes`: all
  // classes and functions, in order. Throws PyError. Cost: one pass over the
  // definitions.
  static std::optional<Recipe> create(const State& state,
                                      const VerifiedEnvelope& envelope,
                                      std::span<const Node> nodes);

  // Builds the functions. `modules`: those needed at load, by number of import.
  // `objects` holds the classes at the numbers of their nodes, and receives the
  // functions and, after all nodes, the other saved objects. False if a name is gone
  // from the dict of a module. Throws PyError: MemoryError.
  bool run(const State& state, std::span<const Ref> modules,
           std::vector<Ref>& objects) const;
  // The number of the object at a position; std::nullopt if there is no object.
  std::optional<std::uint32_t> number_at(std::size_t position) const;

 private:
  std::vector<Step> steps_;
  std::size_t saved_count_;  // Nodes first, in their order.
  Numbers numbers_;
};

}  // namespace waybill::py
