#pragma once

// Writes the recipe of the definitions of a payload.

#include <Python.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "python/cache/recipe.h"
#include "python/cache/recipe_builder.h"
#include "python/runtime/ref.h"
#include "python/runtime/state.h"
#include "wire/format.h"
#include "wire/reader.h"

namespace waybill::py {

// Reads definitions in the order in which the decoder builds them. A function of this
// class that returns false has met what no step makes; then there is no recipe. State,
// envelope, places and code must outlive the writer.
class RecipeWriter {
 public:
  using Places = std::span<const Recipe::Place>;

  RecipeWriter(const State& state, const Envelope& envelope, Places places,
               Recipe::CodeUses& code)
      : state_(state),
        envelope_(envelope),
        places_(places),
        code_(code),
        steps_(envelope, places) {}

  std::optional<Recipe> write();

 private:
  using Action = Recipe::Action;

  // Values inside each other. Who nests deeper is not worth a recipe.
  static constexpr int kDeepest = 32;
  static constexpr std::uint64_t kNone = RecipeBuilder::kNone;

  // Each makes the steps for one value, or for the parts of one.
  bool definition();
  bool value(int depth);
  bool items(std::uint64_t count, int depth);
  bool extension(const wire::Token& token);
  bool tuple(std::uint64_t count, std::size_t offset, int depth);
  bool dict(std::uint64_t count, int depth);
  bool node(wire::NodeTag tag, std::uint64_t count, std::size_t offset, int depth);
  bool global();
  bool text_or_none(Ref& text);
  bool name_space(std::size_t offset);
  bool any_namespace(int depth);
  bool drop_value(int depth);
  bool cells(std::uint64_t& count, std::vector<std::uint32_t>& fresh, int depth);
  bool function(std::size_t offset, int depth);
  bool field(wire::FunctionField field, const Ref& its_namespace,
             const std::vector<std::uint32_t>& fresh, int depth);
  bool store_globals(const Ref& its_namespace, int depth);
  bool contents(const std::vector<std::uint32_t>& fresh, int depth);
  bool skip_empty_content();

  // Classes are there. Only what their methods add to namespaces of functions is made.
  bool type(std::uint64_t count, std::size_t offset, int depth);
  bool pass(int depth);
  bool pass_values(std::uint64_t count, int depth);
  bool pass_class(std::uint64_t count, std::size_t offset, int depth);
  bool pass_method(int depth);
  std::uint64_t reference_ahead() const;
  // The number of the class or function at a position.
  std::uint32_t place_at(std::size_t position) const;

  // A namespace that was made: what it says of itself, and its saved number.
  struct KnownNamespace {
    Ref name, package;
    bool is_package;
    Ref plain;  // The dict that its copies are made from.
    std::uint32_t number;
  };

  const State& state_;
  const Envelope& envelope_;
  Places places_;
  Recipe::CodeUses& code_;
  bool has_classes_ = false;  // Some definitions are, or hold some.
  wire::Reader reader_{{}};
  RecipeBuilder steps_;
  std::vector<KnownNamespace> namespaces_;
  Ref namespace_;  // Of the function at hand: the dict that its copies are made from.
};

}  // namespace waybill::py
