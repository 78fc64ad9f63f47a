#include "embedded/generator.h"

#include <iterator>
#include <string_view>

#include "wire/writer.h"

namespace waybill::fuzz {
namespace {

using envelope::Rule;
using wire::ExtType;
using wire::NodeTag;
using wire::TokenType;
using wire::Writer;

constexpr std::string_view kTexts[] = {
    "",
    "a",
    "x",
    "__init__",
    "__slots__",
    "__module__",
    "__qualname__",
    "__dict__",
    "__doc__",
    "__class__",
    "__name__",
    "golden",
    "a.b",
    "\xc3\xa4",
    "a text that is longer than sixty-four bytes, so that it is shared by identity"};
constexpr std::string_view kBuiltins[] = {"object",   "ValueError", "complex",
                                          "property", "getattr",    "Exception"};
constexpr std::int64_t kNumbers[] = {0,     1,         -1,        2,         127,
                                     128,   255,       256,       -32,       -33,
                                     65535, INT32_MAX, INT32_MIN, INT64_MAX, INT64_MIN};
constexpr double kReals[] = {0.0, -0.0, 1.5, 1e308};

template <typename Table>
auto one_of(Random& random, const Table& table) {
  return table[below(random, std::size(table))];
}

template <typename Put>
Value written(Put put) {
  Writer writer;
  put(writer);
  return leaf_of(writer.take());
}

Value text(std::string_view view) {
  return written([&](Writer& writer) { writer.text(view); });
}

Value number(std::int64_t value) {
  return written([&](Writer& writer) { writer.integer(value); });
}

Value extension(Random& random) {
  const std::uint8_t bytes[] = {static_cast<std::uint8_t>(below(random, 4)),
                                1,
                                2,
                                3,
                                4,
                                5,
                                6,
                                7,
                                8,
                                9,
                                10,
                                11,
                                12,
                                13,
                                14,
                                15};
  constexpr std::size_t kLengths[] = {1, 1, 1, 9, 16, 4, 1};
  const std::size_t type = below(random, std::size(kLengths));
  return written([&](Writer& writer) {
    writer.extension(static_cast<ExtType>(type), {bytes, kLengths[type]});
  });
}

Value container(TokenType type) {
  Value value;
  value.type = type;
  return value;
}

Value random_container(Random& random, TokenType type, Rule key, Rule item, int depth) {
  Value value = container(type);
  for (std::size_t count = below(random, 3); count != 0; --count) {
    if (type == TokenType::kMap) {
      value.items.push_back(random_value(random, key, depth));
    }
    value.items.push_back(random_value(random, item, depth));
  }
  return value;
}

Value node_tag(NodeTag tag) {
  const std::uint8_t byte[] = {static_cast<std::uint8_t>(tag)};
  return written([&](Writer& writer) { writer.extension(ExtType::kNode, byte); });
}

Value builtin(Random& random) {
  Value node = container(TokenType::kArray);
  node.items = {node_tag(NodeTag::kGlobal),
                written([](Writer& writer) { writer.nil(); }),
                text(one_of(random, kBuiltins))};
  return node;
}

Value node_of(Random& random, const envelope::Shape& shape, int depth) {
  Value node = container(TokenType::kArray);
  node.items.push_back(node_tag(shape.tag));
  const std::size_t max_count =
      shape.max_count == envelope::kMany ? 3 : shape.max_count;
  const std::size_t count =
      shape.min_count + below(random, max_count - shape.min_count + 1);
  for (std::size_t i = 0; i < count; ++i) {
    const envelope::Part& part = *shape.part(i);
    node.items.push_back(part.is_called ? builtin(random)
                                        : random_value(random, part.rule, depth - 1));
  }
  return node;
}

Value node_with(Random& random, NodeTag tag, int depth) {
  return node_of(random, *envelope::shape_of(static_cast<std::uint8_t>(tag)), depth);
}

Value fields(Random& random, int depth) {
  Value map = container(TokenType::kMap);
  const std::uint64_t step = 1 + below(random, 6);
  for (std::uint64_t field = below(random, 4);; field += step) {
    const envelope::Part* part = envelope::function_part(field);
    if (part == nullptr) break;
    map.items.push_back(number(static_cast<std::int64_t>(field)));
    map.items.push_back(random_value(random, part->rule, depth));
  }
  return map;
}

Value object(Random& random, int depth) {
  switch (depth == 0 ? 0 : below(random, 6)) {
    case 0:
    case 1:
      return random_leaf(random);
    case 2:
      return random_container(random, TokenType::kArray, Rule::kObject, Rule::kObject,
                              depth - 1);
    case 3:
      return random_container(random, TokenType::kMap, Rule::kObject, Rule::kObject,
                              depth - 1);
    default: {
      return node_of(random, one_of(random, envelope::kShapes), depth);
    }
  }
}

}  // namespace

Value random_leaf(Random& random) {
  switch (below(random, 7)) {
    case 0:
      return number(one_of(random, kNumbers));
    case 1:
      return text(one_of(random, kTexts));
    case 2:
      return written([&](Writer& w) { w.real(one_of(random, kReals)); });
    case 3:
      return written([&](Writer& w) { w.boolean(below(random, 2) != 0); });
    case 4:
      return written([](Writer& w) { w.nil(); });
    case 5:
      return random_value(random, Rule::kBinary);
    default:
      return extension(random);
  }
}

Value random_value(Random& random, Rule rule, int depth) {
  const bool is_rare = below(random, 4) == 0;
  switch (rule) {
    case Rule::kTextOrNil:
    case Rule::kIdOrNil:
    case Rule::kModuleOrNil:
      if (is_rare) return written([](Writer& w) { w.nil(); });
      if (rule == Rule::kIdOrNil) return random_value(random, Rule::kBinary);
      if (rule == Rule::kTextOrNil) return text(one_of(random, kTexts));
      return written([&](Writer& w) { w.index(ExtType::kModule, below(random, 4)); });
    case Rule::kText:
      return text(one_of(random, kTexts));
    case Rule::kBoolean:
      return written([&](Writer& w) { w.boolean(is_rare); });
    case Rule::kBinary: {
      const Bytes bytes(below(random, 20), static_cast<std::uint8_t>(random()));
      return written([&](Writer& w) { w.binary(bytes); });
    }
    case Rule::kUnsigned:
    case Rule::kCodeIndex:
      return number(static_cast<std::int64_t>(below(random, 3)));
    case Rule::kNamespace:
      return node_with(random, NodeTag::kNamespace, depth);
    case Rule::kCell:
      return node_with(random, NodeTag::kCell, 1);
    case Rule::kObjects:
    case Rule::kObjectsOrEmpty:
      return random_container(random, TokenType::kArray, rule, Rule::kObject, depth);
    case Rule::kCells:
      return random_container(random, TokenType::kArray, rule, Rule::kCell, depth);
    case Rule::kPairs:
      return random_container(random, TokenType::kMap, Rule::kObject, Rule::kObject,
                              depth);
    case Rule::kNamedObjects:
      return random_container(random, TokenType::kMap, Rule::kText, Rule::kObject,
                              depth);
    case Rule::kFunctionFields:
      return fields(random, depth);
    default:
      return object(random, depth);
  }
}

}  // namespace waybill::fuzz
