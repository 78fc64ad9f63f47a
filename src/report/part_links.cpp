// Steps are those of errors: src/python/encode/paths/label.h, and the labels that
// src/python/encode/codecs give. What Python cannot evaluate has a marker:
// docs/paths.md. Tested by tests/explain/explain_payload_test.cpp and
// tests/report/paths_at_test.cpp.

#include "report/part_links.h"

#include <algorithm>
#include <array>
#include <span>

namespace waybill::envelope {
namespace {

using steps::Style;
using wire::NodeTag;

bool is(const OpenContainer& container, NodeTag tag) {
  return container.tag == static_cast<std::uint8_t>(tag);
}

Link link_in_node(const OpenContainer& node) {
  const std::uint64_t index = node.index();
  if (is(node, NodeTag::kTuple)) return {.style = Style::kIndex, .number = index};
  if (is(node, NodeTag::kSet) || is(node, NodeTag::kFrozenSet)) {
    return {.style = Style::kPlace, .label = "element", .number = index};
  }
  const Part* part = node.shape == nullptr ? nullptr : node.shape->part(index);
  if (part == nullptr) return {.style = Style::kMarker, .label = "part"};
  const bool is_all = is(node, NodeTag::kIdentified) || is(node, NodeTag::kDefinitions);
  if (is_all && part->name == "value") return {};
  const std::string_view step = part->step.empty() ? part->name : part->step;
  const bool is_expression = step.starts_with('.') || step.starts_with('[');
  return {.style = is_expression ? Style::kText : Style::kMarker, .label = step};
}

Link link_in_map(const OpenContainer& map, Holds holds) {
  if (map.is_key()) return {.style = Style::kMarker, .label = "key"};
  Link link{.style = Style::kKey, .number = map.index() / 2, .at = map.key};
  switch (holds) {
    case Holds::kAttributes:
      link.style = Style::kAttribute;
      return link;
    case Holds::kGlobals:
      link.style = Style::kGlobal;
      return link;
    case Holds::kImports:
    case Holds::kKeywords:
      link.style = Style::kNamed;
      link.label = holds == Holds::kImports ? "import" : "argument";
      return link;
    case Holds::kFields: {
      const std::string_view name = function_field_name(map.field);
      if (!name.empty()) return {.style = Style::kDunder, .label = name};
      return {.style = Style::kPlace, .label = "field", .number = map.field};
    }
    default:
      return link;
  }
}

// What the lists and maps hold that the grammar asks for, by the names of the parts
// that they are.
struct InnerPart {
  Rule rule;
  std::string_view part;
  Holds holds;
};
constexpr auto kInnerParts = std::to_array<InnerPart>({
    {Rule::kCells, "closure", Holds::kClosure},
    {Rule::kObjectsOrEmpty, "closure", Holds::kCells},
    {Rule::kFunctionFields, "fields", Holds::kFields},
    {Rule::kNamedObjects, "globals", Holds::kGlobals},
    {Rule::kNamedObjects, "imports", Holds::kImports},
    {Rule::kNamedObjects, "dict", Holds::kAttributes},
    {Rule::kObjects, "definitions", Holds::kDefinitions},
    {Rule::kObjects, "bases", Holds::kBases},
    {Rule::kObjects, "args", Holds::kArguments},
    {Rule::kObjects, "items", Holds::kItems},
    {Rule::kPairs, "namespace", Holds::kAttributes},
    {Rule::kPairs, "attributes", Holds::kAttributes},
    {Rule::kPairs, "kwargs", Holds::kKeywords},
    {Rule::kPairs, "pairs", Holds::kPairs},
});

std::string_view name_of_part(const OpenContainer& own) {
  return own.part == nullptr ? std::string_view() : own.part->name;
}

bool is_state_pair(const OpenContainer& own) {
  return name_of_part(own) == "state" && is(own, NodeTag::kTuple) && own.count == 2;
}

}  // namespace

Holds holds_of(const OpenContainer& own, const OpenContainer* around) {
  const std::string_view part = name_of_part(own);
  if (!is_object(own.rule)) {
    const auto row = std::ranges::find_if(kInnerParts, [&](const InnerPart& each) {
      return each.rule == own.rule && each.part == part;
    });
    return row == kInnerParts.end() ? Holds::kValues : row->holds;
  }
  const bool is_in_state = around != nullptr && is_state_pair(*around);
  if (own.is_map) {
    const bool is_dict = is_in_state || part == "state" || part == "dict";
    return is_dict ? Holds::kAttributes : Holds::kPairs;
  }
  if (is_state_pair(own)) return Holds::kState;
  return own.tag == 0 ? Holds::kItems : Holds::kValues;
}

bool is_inner(const OpenContainer& own, const OpenContainer* around) {
  if (!is_object(own.rule)) return true;
  const Holds holds = holds_of(own, around);
  return holds == Holds::kAttributes || holds == Holds::kState;
}

Link link_in(const OpenContainer& around, const OpenContainer* second,
             const OpenContainer* third) {
  const Holds holds = holds_of(around, second);
  if (around.is_map) return link_in_map(around, holds);
  const std::uint64_t index = around.index();
  switch (holds) {
    case Holds::kArguments:
      return {.style = Style::kArgument, .label = "argument", .number = index};
    case Holds::kDefinitions:
      return {.style = Style::kPlace, .label = "definition", .number = index};
    case Holds::kBases:
      return {.style = Style::kIndex, .label = ".__bases__", .number = index};
    case Holds::kClosure:
      return {.style = Style::kIndex, .label = ".__closure__", .number = index};
    case Holds::kCells:
      return {.style = Style::kCell,
              .number = index,
              .at = third == nullptr ? 0 : third->offset};
    case Holds::kState:
      return {.style = Style::kMarker, .label = "state"};
    case Holds::kItems:
      return {.style = Style::kIndex, .number = index};
    default:
      return around.tag != 0 ? link_in_node(around) : Link{};
  }
}

std::string_view name_of_inner(Holds holds) {
  switch (holds) {
    case Holds::kAttributes:
      return ".__dict__";
    case Holds::kGlobals:
      return ".__globals__";
    case Holds::kCells:
    case Holds::kClosure:
      return ".__closure__";
    case Holds::kBases:
      return ".__bases__";
    case Holds::kState:
      return "<state>";
    default:
      return {};
  }
}

}  // namespace waybill::envelope
