// Tested by tests/python/cache/test_recipes.py.

#include "python/cache/recipe_builder.h"

#include <algorithm>
#include <utility>

namespace waybill::py {

RecipeBuilder::RecipeBuilder(const Envelope& envelope,
                             std::span<const Recipe::Place> places) {
  recipe_.saved_count_ = places.size();
  for (std::size_t i = 0; i < envelope.definitions.shared; ++i) {
    references_.emplace(envelope.shared[i], i);
  }
  for (std::size_t i = 0; i < places.size(); ++i) {
    recipe_.numbers_.emplace_back(places[i].position, static_cast<std::uint32_t>(i));
  }
}

Recipe RecipeBuilder::take() {
  for (const auto& [position, reference] : references_) {
    const Known* known = find_known(reference);
    if (known == nullptr || !known->is_saved || known->object) continue;
    recipe_.numbers_.emplace_back(position, known->number);
  }
  std::ranges::sort(recipe_.numbers_);
  return std::move(recipe_);
}

bool RecipeBuilder::drop_since(std::size_t since) {
  const auto first = recipe_.steps_.begin() + static_cast<std::ptrdiff_t>(since);
  const auto saves = [](const auto& step) { return step.action == Action::kSave; };
  if (std::any_of(first, recipe_.steps_.end(), saves)) return false;
  recipe_.steps_.erase(first, recipe_.steps_.end());
  return true;
}

bool RecipeBuilder::step(Action action, std::uint64_t number, Ref object) {
  recipe_.steps_.push_back(
      {action, static_cast<std::uint32_t>(number), std::move(object)});
  return true;
}

bool RecipeBuilder::constant(Ref object, std::size_t position) {
  const std::uint64_t reference = reference_to(position);
  if (reference != kNone) known_[reference] = {false, 0, object};
  return step(Action::kConstant, 0, std::move(object));
}

bool RecipeBuilder::are_constants(std::size_t since, std::uint64_t count) const {
  const auto& steps = recipe_.steps_;
  return steps.size() - since == count &&
         std::all_of(steps.begin() + static_cast<std::ptrdiff_t>(since), steps.end(),
                     [](const auto& step) { return step.action == Action::kConstant; });
}

Ref RecipeBuilder::unstep() {
  Ref object = std::move(recipe_.steps_.back().object);
  recipe_.steps_.pop_back();
  return object;
}

std::uint32_t RecipeBuilder::save() {
  const auto number = static_cast<std::uint32_t>(recipe_.saved_count_++);
  step(Action::kSave, number);
  return number;
}

bool RecipeBuilder::save_made(std::size_t position) {
  if (reference_to(position) != kNone) note_made(position, save());
  return true;
}

bool RecipeBuilder::save_found(std::size_t position) {
  if (reference_to(position) != kNone) note_found(position, save());
  return true;
}

void RecipeBuilder::note_namespace(std::size_t position, std::uint32_t number,
                                   const Ref& plain) {
  note(position, {true, number, plain});
}

void RecipeBuilder::note_made(std::size_t position, std::uint32_t number) {
  note(position, {true, number, {}, true});
}

void RecipeBuilder::note_found(std::size_t position, std::uint32_t number) {
  note(position, {true, number, {}});
}

void RecipeBuilder::note(std::size_t position, Known known) {
  const std::uint64_t reference = reference_to(position);
  if (reference != kNone) known_[reference] = std::move(known);
}

std::uint64_t RecipeBuilder::reference_to(std::size_t position) const {
  const auto found = references_.find(position);
  return found == references_.end() ? kNone : found->second;
}

const RecipeBuilder::Known* RecipeBuilder::find_known(std::uint64_t reference) const {
  const auto known = known_.find(reference);
  return known == known_.end() ? nullptr : &known->second;
}

bool RecipeBuilder::reference(std::uint64_t number) {
  const Known* known = find_known(number);
  if (known == nullptr) return false;
  return known->is_saved ? step(Action::kLoad, known->number)
                         : step(Action::kConstant, 0, known->object);
}

}  // namespace waybill::py
