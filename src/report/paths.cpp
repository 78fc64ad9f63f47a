// Steps are spelled as in errors: src/python/encode/paths/label.h, and the labels in
// src/python/encode/codecs. Steps that Python cannot evaluate are markers:
// docs/paths.md.
// Tested by tests/report/paths_at_test.cpp and tests/explain/explain_payload_test.cpp.

#include "report/paths.h"

#include <algorithm>
#include <array>
#include <utility>

#include "format/leaf_kind.h"
#include "format/manifest_codec.h"
#include "format/path_steps.h"

namespace waybill::envelope {
namespace {

using steps::Style;
using wire::FunctionField;
using wire::NodeTag;
using wire::Reader;
using wire::Token;

bool has_tag(const OpenContainer& container, NodeTag tag) {
  return container.tag == static_cast<std::uint8_t>(tag);
}

Link link_in_node(const OpenContainer& node) {
  const std::uint64_t index = node.index();
  if (has_tag(node, NodeTag::kTuple)) return {.style = Style::kIndex, .number = index};
  if (has_tag(node, NodeTag::kSet) || has_tag(node, NodeTag::kFrozenSet)) {
    return {.style = Style::kNumbered, .label = "element", .number = index};
  }
  const Part* part = node.shape == nullptr ? nullptr : node.shape->part(index);
  if (part == nullptr) return {.style = Style::kMarker, .label = "part"};
  const bool is_wrapper =
      has_tag(node, NodeTag::kIdentified) || has_tag(node, NodeTag::kDefinitions);
  if (is_wrapper && part->name == "value") return {};
  const std::string_view step = part->step.empty() ? part->name : part->step;
  const bool is_expression = step.starts_with('.') || step.starts_with('[');
  return {.style = is_expression ? Style::kText : Style::kMarker, .label = step};
}

// The steps to the parts of a container with one role, and to the container itself if
// it is implicit.
struct RoleSteps {
  Style style = Style::kNone;
  std::string_view label = {};
  std::string_view to_container = {};
};
constexpr auto kSteps = std::to_array<RoleSteps>({
    {},                                               // kValues
    {Style::kIndex},                                  // kItems
    {Style::kKey},                                    // kPairs
    {Style::kAttribute, "", ".__dict__"},             // kAttributes
    {Style::kGlobal, "", ".__globals__"},             // kGlobals
    {Style::kNamed, "import"},                        // kImports
    {Style::kCell, "", ".__closure__"},               // kCells
    {Style::kIndex, ".__closure__", ".__closure__"},  // kClosure
    {},                                               // kFields
    {Style::kArgument, "argument"},                   // kArguments
    {Style::kNamed, "argument"},                      // kKeywords
    {Style::kNumbered, "definition"},                 // kDefinitions
    {Style::kIndex, ".__bases__", ".__bases__"},      // kBases
    {Style::kMarker, "state", "<state>"},             // kState
});
static_assert(kSteps.size() == static_cast<std::size_t>(ContainerRole::kState) + 1);

const RoleSteps& steps_of(ContainerRole role) {
  return kSteps[static_cast<std::size_t>(role)];
}

Link link_to_field(std::uint64_t field) {
  const std::string_view name = function_field_name(field);
  if (!name.empty()) return {.style = Style::kDunder, .label = name};
  return {.style = Style::kNumbered, .label = "field", .number = field};
}

// A malformed payload may have a map in the place of a list, and vice versa.
Link link_in_map(const OpenContainer& map, ContainerRole role) {
  if (map.is_key()) return {.style = Style::kMarker, .label = "key"};
  if (role == ContainerRole::kFields) return link_to_field(map.field);
  const RoleSteps& row =
      steps_of(steps::has_key(steps_of(role).style) ? role : ContainerRole::kPairs);
  return {
      .style = row.style, .label = row.label, .number = map.index() / 2, .at = map.key};
}

// The roles of lists and maps that the grammar prescribes, by rule and name of the
// part.
struct RoleRow {
  Rule rule;
  std::string_view part;
  ContainerRole role;
};
constexpr auto kRoles = std::to_array<RoleRow>({
    {Rule::kCells, "closure", ContainerRole::kClosure},
    {Rule::kObjectsOrEmpty, "closure", ContainerRole::kCells},
    {Rule::kFunctionFields, "fields", ContainerRole::kFields},
    {Rule::kNamedObjects, "globals", ContainerRole::kGlobals},
    {Rule::kNamedObjects, "imports", ContainerRole::kImports},
    {Rule::kNamedObjects, "dict", ContainerRole::kAttributes},
    {Rule::kObjects, "definitions", ContainerRole::kDefinitions},
    {Rule::kObjects, "bases", ContainerRole::kBases},
    {Rule::kObjects, "args", ContainerRole::kArguments},
    {Rule::kObjects, "items", ContainerRole::kItems},
    {Rule::kPairs, "namespace", ContainerRole::kAttributes},
    {Rule::kPairs, "attributes", ContainerRole::kAttributes},
    {Rule::kPairs, "kwargs", ContainerRole::kKeywords},
    {Rule::kPairs, "pairs", ContainerRole::kPairs},
});

std::string_view name_of_part(const OpenContainer& own) {
  return own.part == nullptr ? std::string_view() : own.part->name;
}

bool is_state_pair(const OpenContainer& own) {
  return name_of_part(own) == "state" && has_tag(own, NodeTag::kTuple) &&
         own.count == 2;
}

}  // namespace

ContainerRole role_of(const OpenContainer& own, const OpenContainer* around) {
  const std::string_view part = name_of_part(own);
  if (!is_object(own.rule)) {
    const auto row = std::ranges::find_if(kRoles, [&](const RoleRow& each) {
      return each.rule == own.rule && each.part == part;
    });
    return row == kRoles.end() ? ContainerRole::kValues : row->role;
  }
  const bool is_in_state = around != nullptr && is_state_pair(*around);
  if (own.is_map) {
    const bool is_dict = is_in_state || part == "state" || part == "dict";
    return is_dict ? ContainerRole::kAttributes : ContainerRole::kPairs;
  }
  if (is_state_pair(own)) return ContainerRole::kState;
  return own.tag == 0 ? ContainerRole::kItems : ContainerRole::kValues;
}

bool is_implicit(const OpenContainer& own, const OpenContainer* around) {
  if (!is_object(own.rule)) return true;
  const ContainerRole role = role_of(own, around);
  return role == ContainerRole::kAttributes || role == ContainerRole::kState;
}

Link link_in(const OpenContainer& around, const OpenContainer* second,
             const OpenContainer* third) {
  const ContainerRole role = role_of(around, second);
  if (around.is_map) return link_in_map(around, role);
  const RoleSteps& row = steps_of(role);
  if (row.style == Style::kNone || steps::has_key(row.style)) {
    return around.tag != 0 ? link_in_node(around) : Link{};
  }
  const bool is_cell = row.style == Style::kCell && third != nullptr;
  return {.style = row.style,
          .label = row.label,
          .number = around.index(),
          .at = is_cell ? third->offset : 0};
}

std::string_view step_to_implicit(ContainerRole role) {
  return steps_of(role).to_container;
}

namespace {

constexpr std::size_t kMaxKeyText = 100;     // Bytes of a key that are shown.
constexpr std::size_t kMaxNameText = 200;    // Bytes of a name that are shown.
constexpr std::uint64_t kMaxTupleItems = 8;  // Items of a tuple shown as a key.

// Whether the text is a Python identifier. Any character beyond ASCII counts as a
// letter.
bool is_name(std::string_view text) {
  const auto is_letter = [](unsigned char byte) {
    return byte == '_' || byte >= 0x80 || (byte >= 'a' && byte <= 'z') ||
           (byte >= 'A' && byte <= 'Z');
  };
  return !text.empty() && is_letter(static_cast<unsigned char>(text[0])) &&
         !steps::is_keyword(text) && std::ranges::all_of(text, [&](char byte) {
           return is_letter(static_cast<unsigned char>(byte)) ||
                  (byte >= '0' && byte <= '9');
         });
}

// Whether repr() of a leaf is an expression.
bool is_literal_leaf(const Token& token) {
  const LeafKind kind = leaf_kind(token);
  if (kind == LeafKind::kReal) return token.real - token.real == 0;  // Finite.
  return kind <= LeafKind::kComplex;
}

// Like repr() of text: in double quotes if that avoids a backslash.
std::string quoted_key(std::string_view text) {
  if (text.find('\'') == text.npos || text.find('"') != text.npos) {
    return "'" + escaped(text, false) + "'";
  }
  std::string shown = "\"";
  for (std::size_t end = 0; end != text.npos; text.remove_prefix(end + 1)) {
    end = text.find('\'');
    shown += escaped(text.substr(0, end), false);
    if (end == text.npos) break;
    shown += '\'';
  }
  return shown + '"';
}

// Whether repr() of a value is a short expression: a leaf, or a tuple of a few leaves.
bool is_literal(const ValueView& value) {
  if (!value.is(NodeTag::kTuple)) return is_literal_leaf(value.token());
  const std::uint64_t count = *value.items();
  if (count > kMaxTupleItems) return false;
  for (std::uint64_t i = 0; i < count; ++i) {
    const ValueView item = ValueView::at(value.envelope(), value.value(i));
    if (!is_literal_leaf(item.token())) return false;
  }
  return true;
}

}  // namespace

std::string StepFormatter::text_of(const ValueView& value) const {
  return value_text(reader_at(envelope_, value.offset()), names_, kMaxKeyText);
}

std::string_view StepFormatter::key_name(const Link& link) const {
  const std::string_view text = follow(link.at).text();
  return text.size() <= kMaxNameText ? text : std::string_view();
}

// A key as Python writes it, cut if it is too long.
StepText StepFormatter::key_text(const Link& link) const {
  const ValueView key = follow(link.at);
  if (key.is_text()) {
    const std::string_view text = key.text();
    const bool can_fit = text.size() <= kMaxKeyText;
    std::string shown = quoted_key(start_of(text, kMaxKeyText));
    if (can_fit && shown.size() <= kMaxKeyText) return {std::move(shown), true};
    return {start_of(shown, kMaxKeyText), false};
  }
  if (is_literal(key)) {
    std::string text = text_of(key);
    const bool is_whole = text.find("…") == text.npos && !text.starts_with('<');
    if (is_whole) return {std::move(text), true};
  }
  return {steps::marker(shown_type(key)), false};
}

// The type of a key, which a step shows if the key cannot be written in full.
std::string StepFormatter::shown_type(const ValueView& key) const {
  const LeafKind kind = leaf_kind(key.token());
  if (kind == LeafKind::kReal || kind == LeafKind::kDict)
    return std::string(names_of(kind).type);
  // An int of too many digits: all other leaves are cut instead.
  if (kind != LeafKind::kList) return "int";
  const Shape* shape = key.shape();
  if (shape == nullptr) return "list";
  if (!key.is_object()) return std::string(shape->name);
  std::string name = text_of(follow(key.reader_inside().offset()));
  constexpr std::string_view kClass = "<class ";
  if (name.starts_with(kClass) && name.ends_with('>'))
    name = name.substr(kClass.size(), name.size() - kClass.size() - 1);
  return name;
}

StepText StepFormatter::step(const Link& link, std::size_t holder) {
  // The arguments that make a bound method are attributes of it.
  if (link.style == Style::kArgument && link.number < 2 && is_method_call(holder)) {
    return {link.number == 0 ? ".__func__" : ".__self__"};
  }
  if (link.style == Style::kAttribute) {
    const std::string_view name = key_name(link);
    if (is_name(name) && !can_be_descriptor(link, holder)) {
      return {steps::attribute(name)};
    }
  }
  const StepText key = steps::has_key(link.style) ? key_text(link) : StepText{};
  const std::uint64_t number =
      link.style == Style::kCell ? closure_index_of(link) : link.number;
  return {steps::spelled(link.style, link.label, key.text, number),
          steps::is_expression(link.style) && key.evaluates};
}

std::uint64_t StepFormatter::closure_index_of(const Link& link) {
  const auto [found, is_new] = cells_.try_emplace(link.at);
  std::vector<std::uint32_t>& places = found->second;
  if (is_new) {
    const ValueView function = ValueView::at(envelope_, link.at);
    const ValueView closure = ValueView::at(
        envelope_, function.value(position_of(NodeTag::kFunction, "closure")));
    std::uint32_t place = 0;
    for (const std::size_t cell : closure.values()) {
      if (ValueView::at(envelope_, cell).is(NodeTag::kCell)) places.push_back(place);
      ++place;
    }
  }
  return link.number < places.size() ? places[link.number] : UINT32_MAX;
}

// Whether the attribute may be a descriptor, for which `class.name` evaluates to
// something else. Any object of a class may be one.
bool StepFormatter::can_be_descriptor(const Link& link, std::size_t holder) const {
  if (!follow(holder).is(NodeTag::kClass)) return false;
  Reader key = reader_at(envelope_, link.at);
  if (!key.skip()) return false;
  return follow(key.offset()).is_object();
}

bool StepFormatter::is_method_call(std::size_t holder) const {
  const ValueView object = follow(holder);
  if (!object.is(NodeTag::kObject)) return false;
  const ValueView callable = follow(object.reader_inside().offset());
  if (!callable.is(NodeTag::kGlobal)) return false;
  const auto global = global_name(callable.reader_inside(), &envelope_.manifest);
  return global && global->module == "types" && global->name == "MethodType";
}

// The name in the fields of the function, else that of its code.
std::string_view StepFormatter::name_of_function(const ValueView& function) const {
  const std::size_t code = function.code_index();
  const std::size_t fields = function.value(position_of(NodeTag::kFunction, "fields"));
  const std::vector<std::size_t> values = ValueView::at(envelope_, fields).values();
  for (std::size_t i = 0; i + 1 < values.size(); i += 2) {
    const auto field = ValueView::at(envelope_, values[i]).number();
    const ValueView value = follow(values[i + 1]);
    const bool is_name = field == static_cast<std::uint64_t>(FunctionField::kName);
    if (is_name && value.is_text()) return value.text();
  }
  return code < names_.code.size() ? names_.code[code] : std::string_view();
}

StepText StepFormatter::name_at(std::size_t offset) const {
  const ValueView value = follow(offset);
  std::string_view name;
  if (value.is(NodeTag::kFunction)) {
    name = name_of_function(value);
  } else if (value.is(NodeTag::kClass)) {
    name = follow(value.value(position_of(NodeTag::kClass, "name"))).text();
  } else if (value.is(NodeTag::kGlobal)) {
    name = follow(value.value(position_of(NodeTag::kGlobal, "name"))).text();
  }
  std::string shown = start_of(name.substr(name.rfind('.') + 1), kMaxNameText);
  // No expression begins with "<lambda>".
  return {is_name(shown) ? std::move(shown) : "obj"};
}

namespace {

constexpr std::size_t kMaxSteps = 32;  // Longer paths are cut at the start.

class PathWalk {
 public:
  PathWalk(const Envelope& envelope, const ValueNames& names)
      : steps_(envelope, names),
        cursor_(reader_at(envelope, envelope.payload.offset)) {}

  std::vector<std::string> run(std::span<const std::size_t> offsets) {
    std::vector<std::string> paths(offsets.size());
    std::size_t at = 0;
    while (at != offsets.size() && cursor_.next()) {
      if (cursor_.event() == CursorEvent::kClose) continue;
      const std::size_t offset = cursor_.token().offset;
      for (; at != offsets.size() && offsets[at] <= offset; ++at) {
        if (offsets[at] == offset) paths[at] = path_here();
      }
    }
    return paths;
  }

 private:
  // Collects steps from the inside out. The path of a value in a definition begins at
  // that definition.
  std::string path_here() {
    const auto open = cursor_.open();
    std::vector<std::string> parts;  // In reverse order.
    std::size_t depth = cursor_.depth();
    bool is_begun = false;
    if (cursor_.event() == CursorEvent::kOpen && has_no_link(depth)) {
      parts.emplace_back(step_to_implicit(role_at(open, depth)));
    } else {
      is_begun = add_step(depth, parts);
    }
    for (; !is_begun && depth != 0 && parts.size() < kMaxSteps; --depth) {
      if (!has_no_link(depth - 1)) is_begun = add_step(depth - 1, parts);
    }
    std::string path;
    if (!is_begun) path = depth == 0 ? steps_.root().text : "…";
    for (std::size_t i = parts.size(); i-- != 0;) path += parts[i];
    return path;
  }

  // Whether an open container needs no step: it is implicit, and not a node, such as a
  // namespace or a cell, which has a name of its own.
  bool has_no_link(std::size_t depth) const {
    const auto open = cursor_.open();
    const bool is_node = open[depth].tag != 0 && !is_object(open[depth].rule);
    return !is_node && is_implicit_at(open, depth);
  }

  // Adds the step to the value at this depth. True if the path begins there.
  bool add_step(std::size_t depth, std::vector<std::string>& parts) {
    const auto open = cursor_.open();
    if (depth != 0 && role_at(open, depth - 1) == ContainerRole::kDefinitions) {
      const bool is_open = depth < open.size();
      parts.push_back(
          steps_.name_at(is_open ? open[depth].offset : cursor_.token().offset).text);
      return true;
    }
    const Link link = link_at(open, depth);
    if (link.style == steps::Style::kNone) return false;
    parts.push_back(steps_.step(link, holder_at(open, depth)).text);
    return false;
  }

  StepFormatter steps_;
  PayloadCursor<> cursor_;
};

}  // namespace

std::vector<std::string> paths_at(const Envelope& envelope, const ValueNames& names,
                                  std::span<const std::size_t> offsets) {
  return PathWalk(envelope, names).run(offsets);
}

}  // namespace waybill::envelope
