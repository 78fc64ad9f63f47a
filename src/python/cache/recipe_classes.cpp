// Classes among the known nodes. Tested by tests/python/cache/test_recipes.py.

#include "format/shapes.h"
#include "python/cache/recipe_writer.h"

namespace waybill::py {

using wire::FunctionField;
using wire::NodeTag;

void RecipeWriter::note_class(std::size_t offset) {
  const envelope::ReusableNode::Class* type = node_->class_at(offset - node_->start);
  if (type != nullptr) steps_.note(offset, static_cast<std::uint32_t>(type->object));
}

// Passes over one value of a class, but for what functions share with it.
bool RecipeWriter::pass(int depth) {
  if (depth > kDeepest) return false;
  const std::size_t offset = reader_.offset();
  wire::Token token;
  if (!reader_.next(token)) return false;
  std::uint64_t count = 0;
  std::uint8_t tag = 0;
  if (token.type == wire::TokenType::kMap) count = 2 * token.count;
  if (token.type == wire::TokenType::kArray) count = token.count;
  if (token.type == wire::TokenType::kArray && count != 0 &&
      reader_.take_node_tag(tag)) {
    --count;
    if (envelope::uses_code(tag)) ++uses_;
    switch (static_cast<NodeTag>(tag)) {
      case NodeTag::kNamespace:
        return name_space(offset) && steps_.step(Action::kPop);
      case NodeTag::kGlobal:
        if (steps_.reference_to(offset) == kNone) break;
        return global() && steps_.save_at(offset) && steps_.step(Action::kPop);
      case NodeTag::kFunction:
        return pass_method(depth);
      case NodeTag::kClass:
        note_class(offset);
        break;
      default:
        break;
    }
  }
  for (; count != 0; --count) {
    if (!pass(depth + 1)) return false;
  }
  return true;
}

bool RecipeWriter::pass_method(int depth) {
  std::uint64_t body = 0;
  std::uint64_t fields = 0;
  if (!reader_.read_unsigned(body, UINT64_MAX, {})) return false;
  std::uint64_t reference = steps_.reference_to(reader_.offset());
  if (reference == kNone) reference = reference_ahead();
  // Its cells are new, or came before.
  if (!pass(depth + 1) || !reader_.skip() || !reader_.read_map(fields, {})) {
    return false;
  }
  const RecipeBuilder::Known* known = steps_.find_known(reference);
  const bool is_shared = known != nullptr && known->object;
  if (is_shared) steps_.step(Action::kLoad, known->number);
  const Ref globals = is_shared ? known->object : Ref();
  for (; fields != 0; --fields) {
    std::uint64_t field = 0;
    if (!reader_.read_unsigned(field, UINT64_MAX, {})) return false;
    const bool adds =
        is_shared && field == static_cast<std::uint64_t>(FunctionField::kGlobals);
    if (!(adds ? store_globals(globals, depth) : pass(depth + 1))) return false;
  }
  return !is_shared || steps_.step(Action::kPop);
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
