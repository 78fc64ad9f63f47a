// Paths are spelled as those in errors: src/python/encode/paths/object_path.cpp, and
// the labels that src/python/encode/codecs give. Where these say what Python cannot
// evaluate, such as .__reduce_ex__()[1][0], a word in angle brackets stands.
// Tested by tests/explain/explain_payload_test.cpp.

#include "explain/part_links.h"

#include <algorithm>
#include <array>

namespace waybill::envelope {
namespace {

using wire::FunctionField;
using wire::NodeTag;
using Style = Link::Style;
using Container = LinkCursor::Container;

bool is(const Container& container, NodeTag tag) {
  return container.tag == static_cast<std::uint8_t>(tag);
}

bool is_field(const Container& fields, FunctionField field) {
  return fields.note.holds == Holds::kFields &&
         fields.field == static_cast<std::uint64_t>(field);
}

// The parts of nodes that Python reaches by an attribute.
struct NamedPart {
  NodeTag tag;
  std::string_view part, label;
};
constexpr auto kNamedParts = std::to_array<NamedPart>({
    {NodeTag::kSlice, "start", ".start"},
    {NodeTag::kSlice, "stop", ".stop"},
    {NodeTag::kSlice, "step", ".step"},
    {NodeTag::kRange, "start", ".start"},
    {NodeTag::kRange, "stop", ".stop"},
    {NodeTag::kRange, "step", ".step"},
    {NodeTag::kCell, "content", ".cell_contents"},
    {NodeTag::kNewObject, "class", ".__class__"},
    {NodeTag::kClass, "metaclass", ".__class__"},
    {NodeTag::kClass, "name", ".__name__"},
});

Link link_in_node(const Container& node) {
  const std::uint64_t index = node.index();
  if (is(node, NodeTag::kTuple)) return {.style = Style::kIndex, .number = index};
  if (is(node, NodeTag::kSet) || is(node, NodeTag::kFrozenSet)) {
    return {.style = Style::kMarker, .label = "element", .number = index};
  }
  const std::string_view part = part_name(node.tag, index);
  const auto* named = std::ranges::find_if(kNamedParts, [&](const NamedPart& row) {
    return is(node, row.tag) && row.part == part;
  });
  if (named != kNamedParts.end())
    return {.style = Style::kLabel, .label = named->label};
  return {.style = Style::kOnly, .label = part.empty() ? "part" : part};
}

Link link_in_map(const Container& map) {
  const std::uint64_t pair = map.index() / 2;
  if (map.is_key()) return {.style = Style::kMarker, .label = "key", .number = pair};
  Link link{.style = Style::kPair, .number = pair, .key = map.note.key};
  switch (map.note.holds) {
    case Holds::kAttributes:
      link.style = Style::kAttribute;
      break;
    case Holds::kGlobals:
      link.style = Style::kGlobal;
      break;
    case Holds::kImports:
      link.style = Style::kImport;
      break;
    case Holds::kKeywords:
      link.style = Style::kKeyword;
      break;
    case Holds::kFields:
      return {.style = Style::kDunder, .label = function_field_name(map.field)};
    default:
      break;
  }
  return link;
}

Holds holds_of_rule(Rule rule, const Container& around) {
  switch (rule) {
    case Rule::kCells:
      return Holds::kClosure;
    case Rule::kObjectsOrEmpty:
      return Holds::kCells;
    case Rule::kFunctionFields:
      return Holds::kFields;
    case Rule::kNamedObjects:
      if (is_field(around, FunctionField::kGlobals)) return Holds::kGlobals;
      if (is_field(around, FunctionField::kImports)) return Holds::kImports;
      return Holds::kAttributes;
    case Rule::kObjects:
      if (is(around, NodeTag::kClass)) return Holds::kBases;
      return part_name(around.tag, around.index()) == "args" ? Holds::kArguments
                                                             : Holds::kItems;
    case Rule::kPairs:
      if (is(around, NodeTag::kClass)) return Holds::kAttributes;
      return part_name(around.tag, around.index()) == "kwargs" ? Holds::kKeywords
                                                               : Holds::kPairs;
    default:
      return Holds::kValues;
  }
}

bool is_state(const Container& around) {
  return (is(around, NodeTag::kObject) || is(around, NodeTag::kNewObject)) &&
         part_name(around.tag, around.index()) == "state";
}

}  // namespace

bool is_inner(LinkCursor& cursor, Holds& holds) {
  const Container& around = cursor.around();
  const Container& own = cursor.container();
  if (!is_object(cursor.rule())) {
    holds = holds_of_rule(cursor.rule(), around);
    return true;
  }
  if (own.is_map &&
      (is_state(around) || around.note.holds == Holds::kState ||
       (!around.is_key() && is_field(around, FunctionField::kAttributes)))) {
    holds = Holds::kAttributes;
    return true;
  }
  if (is_state(around) && is(own, NodeTag::kTuple) && own.count == 2) {
    holds = Holds::kState;
    return true;
  }
  return false;
}

Holds holds_of_object(const Container& container) {
  if (container.is_map) return Holds::kPairs;
  return container.tag == 0 ? Holds::kItems : Holds::kValues;
}

Link link_here(LinkCursor& cursor) {
  const Container& around = cursor.around();
  if (around.is_map) {
    Link link = link_in_map(around);
    link.value = cursor.token().offset;
    return link;
  }
  const std::uint64_t index = around.index();
  switch (around.note.holds) {
    case Holds::kArguments:
      return {.style = Style::kArgument, .number = index};
    case Holds::kBases:
      return {.style = Style::kIndex, .label = "bases", .number = index};
    case Holds::kCells:
      return {.style = Style::kCell, .number = index};
    case Holds::kState:
      return {.style = Style::kMarker, .label = "state", .number = index};
    case Holds::kItems:
      return {.style = Style::kIndex, .number = index};
    default:
      return around.shape != nullptr ? link_in_node(around)
                                     : Link{.style = Style::kRoot};
  }
}

bool is_type_here(LinkCursor& cursor) {
  const Container& around = cursor.around();
  const std::string_view part = part_name(around.tag, around.index());
  return (cursor.part() != nullptr && cursor.part()->is_called) ||
         (is(around, NodeTag::kClass) && part == "metaclass");
}

}  // namespace waybill::envelope
