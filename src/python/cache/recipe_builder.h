#pragma once

// Collects the steps of a recipe, and remembers what references mean by then.

#include <Python.h>

#include <cstdint>
#include <map>
#include <span>
#include <utility>

#include "python/cache/recipe.h"

namespace waybill::py {

class RecipeBuilder {
 public:
  using Action = Recipe::Action;

  static constexpr std::uint64_t kNone = static_cast<std::uint64_t>(-1);

  // A value that references mean, once it is there.
  struct Known {
    bool is_saved;         // Or `object` is a constant.
    std::uint32_t number;  // Where it is saved.
    Ref object;            // Of a namespace: the dict that its copies are made from.
    bool is_made = false;  // Anew by each run, and no namespace.
  };

  // The first values that are saved are what the places mean.
  RecipeBuilder(const Envelope& envelope, std::span<const Recipe::Place> places);

  std::size_t size() const { return recipe_.steps_.size(); }
  Recipe take();

  // Adds a step. True, for `return`.
  bool step(Action action, std::uint64_t number = 0, Ref object = {});
  // Pushes a constant that stands at this position of the payload.
  bool constant(Ref object, std::size_t position);
  // Whether all steps since then push constants, `count` of them.
  bool are_constants(std::size_t since, std::uint64_t count) const;
  // Takes the constant that was pushed last away.
  Ref unstep();
  // Takes all steps since then away; false if what they save may be used elsewhere.
  bool drop_since(std::size_t since);

  // Saves what is on top; gives where.
  std::uint32_t save();
  // Saves what is on top if references mean it: what was made, or what was looked up.
  bool save_made(std::size_t position);
  bool save_found(std::size_t position);
  // Takes note of an object that is saved, and made or found, if references mean it.
  void note_made(std::size_t position, std::uint32_t number);
  void note_found(std::size_t position, std::uint32_t number);
  // The same of a namespace, of which `plain` is the dict that its copies are made
  // from.
  void note_namespace(std::size_t position, std::uint32_t number, const Ref& plain);

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
