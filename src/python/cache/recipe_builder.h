#pragma once

// Collects the steps of a recipe, and remembers what references mean by then.

#include <Python.h>

#include <cstdint>
#include <map>
#include <span>
#include <utility>

#include "python/cache/recipe.h"
#include "verify/reusable_nodes.h"

namespace waybill::py {

class RecipeBuilder {
 public:
  using Action = Recipe::Action;
  using Nodes = std::span<const envelope::ReusableNode>;

  static constexpr std::uint64_t kNone = static_cast<std::uint64_t>(-1);

  // A value that references mean, once it is there.
  struct Known {
    bool is_saved;         // Or `object` is a constant.
    std::uint32_t number;  // Where it is saved.
    Ref object;            // Of a namespace: the dict that its copies are made from.
    bool is_made = false;  // Anew by each run, and no namespace.
  };

  // The first values that are saved are what the nodes mean.
  explicit RecipeBuilder(Nodes nodes);

  std::size_t size() const { return recipe_.steps_.size(); }
  Recipe take() { return std::move(recipe_); }

  // Adds a step. True, for `return`.
  bool step(Action action, std::uint64_t number = 0, Ref object = {});
  // Pushes a constant that stands at this position of the payload.
  bool constant(Ref object, std::size_t position);
  // Whether all steps since then push constants, `count` of them.
  bool are_constants(std::size_t since, std::uint64_t count) const;
  // Takes the constant that was pushed last away.
  Ref unstep();

  // Saves what is on top; gives where.
  std::uint32_t save();
  // Saves what is on top if references mean it: what was made, what was looked up, or
  // a namespace, of which `plain` is the dict that its copies are made from.
  bool save_made(std::size_t position);
  bool save_found(std::size_t position);
  bool save_namespace(std::size_t position, const Ref& plain);
  // Takes note of an object that is saved, and made or found, if references mean it.
  void note_made(std::size_t position, std::uint32_t number);
  void note_found(std::size_t position, std::uint32_t number);

  // The number by which references mean what stands there; kNone if none does.
  std::uint64_t reference_to(std::size_t position) const;
  // Null if that is not there yet.
  const Known* find_known(std::uint64_t reference) const;
  // Pushes what a reference means; false if that is not there yet.
  bool reference(std::uint64_t number);

 private:
  void note(std::size_t position, Known known);

  std::map<std::size_t, std::uint64_t> references_;  // By what stands where.
  Recipe recipe_;
  std::map<std::uint64_t, Known> known_;  // By reference.
};

}  // namespace waybill::py
