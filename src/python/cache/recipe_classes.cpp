// Classes among the known nodes. Tested by tests/python/cache/test_recipes.py.

#include "format/shapes.h"
#include "python/cache/recipe_writer.h"

namespace waybill::py {

using wire::FunctionField;
using wire::NodeTag;

// A class inside of a function.
bool RecipeWriter::type(std::uint64_t count, std::size_t offset, int depth) {
  return pass_class(count, offset, depth) &&
         steps_.step(Action::kLoad, place_at(offset));
}

bool RecipeWriter::pass_class(std::uint64_t count, std::size_t offset, int depth) {
  steps_.note_found(offset, place_at(offset));
  return pass_values(count, depth);
}

bool RecipeWriter::pass_values(std::uint64_t count, int depth) {
  for (; count != 0; --count) {
    if (!pass(depth + 1)) return false;
  }
  return true;
}

// Passes over one value of a class, but for what functions share with it.
bool RecipeWriter::pass(int depth) {
  if (depth > kDeepest) return false;
  const std::size_t offset = reader_.offset();
  const std::uint64_t reference = reference_ahead();
  wire::Token token;
  if (!reader_.next(token)) return false;
  // A class keeps its own while a function gets another.
  if (const RecipeBuilder::Known* known = steps_.find_known(reference)) {
    return !known->is_made;
  }
  if (token.type == wire::TokenType::kMap) return pass_values(2 * token.count, depth);
  if (token.type != wire::TokenType::kArray) return true;
  std::uint8_t tag = 0;
  if (token.count == 0 || !reader_.read_node_tag(tag)) {
    return pass_values(token.count, depth);
  }
  if (envelope::uses_code(tag)) code_.pass();
  switch (static_cast<NodeTag>(tag)) {
    case NodeTag::kNamespace:
      return token.count == 4 && name_space(offset) && steps_.step(Action::kPop);
    case NodeTag::kGlobal:
      if (steps_.reference_to(offset) == kNone) break;
      return global() && steps_.save_found(offset) && steps_.step(Action::kPop);
    case NodeTag::kFunction:
      return pass_method(depth);
    case NodeTag::kClass:
      return pass_class(token.count - 1, offset, depth);
    default:
      break;
  }
  return pass_values(token.count - 1, depth);
}

bool RecipeWriter::pass_method(int depth) {
  std::uint64_t body = 0;
  std::uint64_t fields = 0;
  namespace_ = Ref();
  if (!reader_.read_unsigned(body, UINT64_MAX, {}) || !any_namespace(depth)) {
    return false;
  }
  // It is on top until the fields have been passed.
  const Ref globals = namespace_;
  if (!pass(depth + 1) || !reader_.read_map(fields, {})) return false;
  for (; fields != 0; --fields) {
    std::uint64_t field = 0;
    if (!reader_.read_unsigned(field, UINT64_MAX, {})) return false;
    const bool adds = field == static_cast<std::uint64_t>(FunctionField::kGlobals);
    if (!(adds ? store_globals(globals, depth) : pass(depth + 1))) return false;
  }
  return steps_.step(Action::kPop);
}

// The number of the reference that is next; kNone if none is.
std::uint64_t RecipeWriter::reference_ahead() const {
  wire::Reader ahead = reader_;
  wire::Token token;
  std::uint64_t number = 0;
  const bool is_reference =
      ahead.next(token) && token.type == wire::TokenType::kExtension &&
      token.ext_type == static_cast<std::int8_t>(wire::ExtType::kReference) &&
      wire::index_of(token.bytes, number);
  return is_reference ? number : kNone;
}

}  // namespace waybill::py
