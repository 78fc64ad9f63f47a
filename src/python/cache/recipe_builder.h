#pragma once

// Collects the steps of a recipe, and tracks the values that references refer to.

#include <Python.h>

#include <algorithm>
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

  // A complete value to which references refer.
  struct Value {
    bool is_saved;         // Else `object` is a constant.
    std::uint32_t number;  // The number of the saved value.
    Ref object;            // The constant, or the prototype of a namespace.
    bool is_made = false;  // By each run, and not a namespace.
  };

  // The nodes are the first saved values.
  RecipeBuilder(const Envelope& envelope, std::span<const Recipe::Node> nodes) {
    recipe_.saved_count_ = nodes.size();
    for (std::size_t i = 0; i < envelope.definitions.shared; ++i) {
      references_.emplace(envelope.shared[i], i);
    }
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      recipe_.numbers_.emplace_back(nodes[i].position, static_cast<std::uint32_t>(i));
    }
  }

  std::size_t size() const { return recipe_.steps_.size(); }

  Recipe take() {
    for (const auto& [position, reference] : references_) {
      const Value* value = find_value(reference);
      if (value == nullptr || !value->is_saved || value->object) continue;
      recipe_.numbers_.emplace_back(position, value->number);
    }
    std::ranges::sort(recipe_.numbers_);
    return std::move(recipe_);
  }

  // ---- Steps. Unless documented otherwise, they return true ------------------------

  bool add(Action action, std::uint64_t number = 0, Ref object = {}) {
    recipe_.steps_.push_back(
        {action, static_cast<std::uint32_t>(number), std::move(object)});
    return true;
  }
  // Pushes the constant at this position of the payload.
  bool add_constant(Ref object, std::size_t position) {
    const std::uint64_t reference = reference_to(position);
    if (reference != kNone) values_[reference] = {false, 0, object};
    return add(Action::kConstant, 0, std::move(object));
  }
  // Pushes the value of a reference; false if that is not complete yet.
  bool add_reference(std::uint64_t reference) {
    const Value* value = find_value(reference);
    if (value == nullptr) return false;
    return value->is_saved ? add(Action::kLoad, value->number)
                           : add(Action::kConstant, 0, value->object);
  }

  // Whether the steps from `start` on push `count` constants and do nothing else.
  bool are_constants(std::size_t start, std::uint64_t count) const {
    const auto& steps = recipe_.steps_;
    return steps.size() - start == count &&
           std::all_of(
               steps.begin() + static_cast<std::ptrdiff_t>(start), steps.end(),
               [](const auto& step) { return step.action == Action::kConstant; });
  }
  // Removes the last step, which pushes a constant, and returns the constant.
  Ref pop_constant() {
    Ref object = std::move(recipe_.steps_.back().object);
    recipe_.steps_.pop_back();
    return object;
  }
  // Removes the steps from `start` on. False if one of them saves a value, which other
  // steps may load.
  bool drop_from(std::size_t start) {
    const auto first = recipe_.steps_.begin() + static_cast<std::ptrdiff_t>(start);
    const auto saves = [](const auto& step) { return step.action == Action::kSave; };
    if (std::any_of(first, recipe_.steps_.end(), saves)) return false;
    recipe_.steps_.erase(first, recipe_.steps_.end());
    return true;
  }

  // ---- Referenced values ----------------------------------------------------------

  // Saves the value on top of the stack, and returns its number.
  std::uint32_t save() {
    const auto number = static_cast<std::uint32_t>(recipe_.saved_count_++);
    add(Action::kSave, number);
    return number;
  }
  // Saves the value on top, which was made or looked up, if references refer to it.
  bool save_made(std::size_t position) {
    if (reference_to(position) != kNone) record_made(position, save());
    return true;
  }
  bool save_found(std::size_t position) {
    if (reference_to(position) != kNone) record_found(position, save());
    return true;
  }
  // Records a saved value that was made or looked up, if references refer to it.
  void record_made(std::size_t position, std::uint32_t number) {
    record(position, {true, number, {}, true});
  }
  void record_found(std::size_t position, std::uint32_t number) {
    record(position, {true, number, {}});
  }
  // record_found() for a namespace, which is a copy of the dict `prototype`.
  void record_namespace(std::size_t position, std::uint32_t number,
                        const Ref& prototype) {
    record(position, {true, number, prototype});
  }

  // The number of the references to the value at a position; kNone if there are none.
  std::uint64_t reference_to(std::size_t position) const {
    const auto found = references_.find(position);
    return found == references_.end() ? kNone : found->second;
  }
  // Null if the value is not complete yet.
  const Value* find_value(std::uint64_t reference) const {
    const auto found = values_.find(reference);
    return found == values_.end() ? nullptr : &found->second;
  }

 private:
  void record(std::size_t position, Value value) {
    const std::uint64_t reference = reference_to(position);
    if (reference != kNone) values_[reference] = std::move(value);
  }

  std::map<std::size_t, std::uint64_t> references_;  // By position.
  std::map<std::uint64_t, Value> values_;            // By reference.
  Recipe recipe_;
};

}  // namespace waybill::py
