// Steps are those of errors: src/python/encode/paths/label.cpp, and the labels that
// src/python/encode/codecs give. What Python cannot evaluate has a marker:
// docs/paths.md. Tested by tests/explain/explain_payload_test.cpp and
// tests/report/paths_at_test.cpp.

#include "format/part_links.h"

#include <algorithm>
#include <array>
#include <span>

namespace waybill::envelope {
namespace {

using wire::FunctionField;
using wire::NodeTag;
using Style = Link::Style;

bool is(const LinkContainer& container, NodeTag tag) {
  return container.tag == static_cast<std::uint8_t>(tag);
}

bool is_field(const LinkContainer& fields, FunctionField field) {
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
    {NodeTag::kFunction, "namespace", ".__globals__"},
    {NodeTag::kModule, "namespace", ".__dict__"},
    {NodeTag::kNamespace, "name", "['__name__']"},
    {NodeTag::kNamespace, "package", "['__package__']"},
});

// What stands in angle brackets for parts that Python has no expression for, where it
// is not the name of the part.
constexpr auto kMarkers = std::to_array<NamedPart>({
    {NodeTag::kObject, "callable", "constructor"},
    {NodeTag::kPersistent, "id", "persistent id"},
});

const NamedPart* find(std::span<const NamedPart> table, const LinkContainer& node,
                      std::string_view part) {
  const auto found = std::ranges::find_if(table, [&](const NamedPart& row) {
    return is(node, row.tag) && row.part == part;
  });
  return found == table.end() ? nullptr : &*found;
}

Link link_in_node(const LinkContainer& node) {
  const std::uint64_t index = node.index;
  if (is(node, NodeTag::kTuple)) return {.style = Style::kIndex, .number = index};
  if (is(node, NodeTag::kSet) || is(node, NodeTag::kFrozenSet)) {
    return {.style = Style::kPlace, .label = "element", .number = index};
  }
  const std::string_view part = part_name(node.tag, index);
  if (is(node, NodeTag::kIdentified) && part == "value") return {};
  if (const NamedPart* named = find(kNamedParts, node, part)) {
    return {.style = Style::kLabel, .label = named->label};
  }
  const NamedPart* marker = find(kMarkers, node, part);
  const std::string_view word = marker == nullptr ? part : marker->label;
  return {.style = Style::kMarker, .label = word.empty() ? "part" : word};
}

Link link_in_map(const LinkContainer& map) {
  const std::uint64_t pair = map.index / 2;
  if (map.is_key) return {.style = Style::kMarker, .label = "key"};
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
    case Holds::kFields: {
      const std::string_view name = function_field_name(map.field);
      if (name.empty()) {
        return {.style = Style::kPlace, .label = "field", .number = map.field};
      }
      return {.style = Style::kDunder, .label = name};
    }
    default:
      break;
  }
  return link;
}

Holds holds_of_rule(Rule rule, const LinkContainer& around) {
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
      return part_name(around.tag, around.index) == "args" ? Holds::kArguments
                                                           : Holds::kItems;
    case Rule::kPairs:
      if (is(around, NodeTag::kClass)) return Holds::kAttributes;
      return part_name(around.tag, around.index) == "kwargs" ? Holds::kKeywords
                                                             : Holds::kPairs;
    default:
      return Holds::kValues;
  }
}

bool is_state(const LinkContainer& around) {
  return (is(around, NodeTag::kObject) || is(around, NodeTag::kNewObject)) &&
         part_name(around.tag, around.index) == "state";
}

}  // namespace

bool note_inner(Rule rule, const LinkContainer& around, const LinkContainer& own) {
  if (!is_object(rule)) {
    own.note.holds = holds_of_rule(rule, around);
    return true;
  }
  if (own.is_map &&
      (is_state(around) || around.note.holds == Holds::kState ||
       (!around.is_key && is_field(around, FunctionField::kAttributes)))) {
    own.note.holds = Holds::kAttributes;
    return true;
  }
  if (is_state(around) && is(own, NodeTag::kTuple) && own.count == 2) {
    own.note.holds = Holds::kState;
    return true;
  }
  return false;
}

Holds holds_of_object(const LinkContainer& container) {
  if (container.is_map) return Holds::kPairs;
  return container.tag == 0 ? Holds::kItems : Holds::kValues;
}

Link link_in(const LinkContainer& around) {
  if (around.is_map) return link_in_map(around);
  const std::uint64_t index = around.index;
  switch (around.note.holds) {
    case Holds::kArguments:
      return {.style = Style::kArgument, .number = index};
    case Holds::kBases:
      return {.style = Style::kIndex, .label = "bases", .number = index};
    case Holds::kClosure:
      return {.style = Style::kIndex, .label = "closure", .number = index};
    case Holds::kCells:
      return {.style = Style::kCell, .number = index};
    case Holds::kState:
      return {.style = Style::kMarker, .label = "state"};
    case Holds::kItems:
      return {.style = Style::kIndex, .number = index};
    default:
      return around.tag != 0 ? link_in_node(around) : Link{};
  }
}

bool is_type_of(const LinkContainer& around, const Part* part) {
  return (part != nullptr && part->is_called) ||
         (is(around, NodeTag::kClass) &&
          part_name(around.tag, around.index) == "metaclass");
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

Link LinkTracker::link_of(const LinkContainer& around, std::size_t inner) const {
  Link link = link_in(around);
  if (link.style != Style::kCell) return link;
  const std::size_t depth = cells_.size() - inner;
  const std::uint64_t place = link.number;
  const bool is_known = depth != 0 && place < cells_[depth - 1].size();
  link.number = is_known ? cells_[depth - 1][place] : UINT32_MAX;
  return link;
}

void LinkTracker::note_cell(const LinkContainer& around, const LinkContainer& own) {
  if (around.note.holds != Holds::kClosure || !is(own, NodeTag::kCell)) return;
  cells_.back().push_back(static_cast<std::uint32_t>(around.index));
}

}  // namespace waybill::envelope
