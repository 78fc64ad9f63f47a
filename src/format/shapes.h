#pragma once

// The grammar of payloads: the values of each kind of node in order, and their meaning.
// A new kind of node is a new row here, a number in wire/format.h and a row in
// docs/wire_format.md; a test compares them. No other file contains the position of a
// value.

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <optional>
#include <span>
#include <string_view>

#include "waybill/policy.h"
#include "wire/format.h"

namespace waybill::envelope {

// The values that a place accepts. An object is a value that Python code can hold: a
// plain value, a node, or a back-reference.
enum class Rule : std::uint8_t {
  kObject,
  kObjectOrEmpty,  // An object, or kEmpty.
  kText,           // Text, or an extension kText.
  kTextOrNil,
  kBoolean,
  kBinary,
  kIdOrNil,         // An id, as binary, or nil.
  kUnsigned,        // A nonnegative integer.
  kCodeIndex,       // An index into the code section.
  kModuleOrNil,     // An extension kModule, or nil.
  kNamespace,       // A node kNamespace or kStreamReference, or a reference.
  kCell,            // A node kCell without content or kStreamReference, or a reference.
  kObjects,         // An array of objects, not a node.
  kCells,           // An array of cells.
  kObjectsOrEmpty,  // An array of contents of cells.
  kPairs,           // A map of objects to objects.
  kNamedObjects,    // A map of text to objects.
  kFunctionFields,  // A map of FunctionField to the value of that field.
  kConstant,        // A constant that compilers write.
  kConstantOrCode,  // A constant, or the hash of nested code.
};

// What a rule accepts, as error messages say it.
constexpr std::string_view describe(Rule rule) {
  constexpr std::string_view kTexts[] = {
      "an object",
      "an object",
      "text",
      "text or nil",
      "a boolean",
      "binary",
      "an id or nil",
      "an integer that is not negative",
      "an index into the code section",
      "a module or nil",
      "a namespace or a reference to one",
      "a cell without content or a reference to one",
      "an array",
      "an array",
      "an array",
      "a map",
      "a map",
      "a map of function fields",
      "a constant",
      "a constant or code",
  };
  static_assert(std::size(kTexts) ==
                static_cast<std::size_t>(Rule::kConstantOrCode) + 1);
  return kTexts[static_cast<std::size_t>(rule)];
}

constexpr bool is_object(Rule rule) {
  return rule == Rule::kObject || rule == Rule::kObjectOrEmpty;
}

inline bool is_constant(Rule rule) {
  return rule == Rule::kConstant || rule == Rule::kConstantOrCode;
}

// Whether a place with this rule may hold a reference, and be the target of one.
inline bool is_referable(Rule rule) {
  return is_object(rule) || rule == Rule::kNamespace || rule == Rule::kCell;
}

// A value of a node, or of a function's fields.
struct Part {
  Rule rule = Rule::kObject;
  std::string_view name = {};  // For reports; empty for items.
  // The step of paths from the node to the value, if it is not "<name>": a Python
  // expression, or the text of a marker.
  std::string_view step = {};
  bool is_called = false;    // Building the node calls this value.
  bool is_optional = false;  // Only the last part can be.
};

inline constexpr std::uint8_t kMany = 0xff;

struct Shape {
  wire::NodeTag tag;
  std::string_view name;  // For reports.
  // The number of values after the tag.
  std::uint8_t min_count;
  std::uint8_t max_count;  // kMany: any number, each with the rule of the first part.
  std::array<Part, 7> parts;
  bool is_constant = false;  // Allowed among the constants of code.
  // The node's request to a policy; nothing for data, and for objects that the program
  // supplies (persistent ids, buffers, earlier payloads).
  std::optional<Request> request = {};

  // The part at this position; null if the node has none.
  constexpr const Part* part(std::size_t position) const {
    if (max_count == kMany) return parts.data();
    return position < max_count ? &parts[position] : nullptr;
  }
};

// Rows of the table.
constexpr Shape shape(wire::NodeTag tag, std::string_view name,
                      std::optional<Request> request, auto... parts) {
  const auto min_count = (std::uint8_t{0} + ... + std::uint8_t{!parts.is_optional});
  constexpr auto kMaxParts = static_cast<std::uint8_t>(sizeof...(parts));
  return {tag,   name,   static_cast<std::uint8_t>(min_count), kMaxParts, {parts...},
          false, request};
}
constexpr Shape sequence(wire::NodeTag tag, std::string_view name) {
  return {tag, name, 0, kMany, {}, false, std::nullopt};
}
constexpr Shape constant(Shape shape) {
  shape.is_constant = true;
  return shape;
}

// One row per node tag, in order of the tags.
inline constexpr auto kShapes = [] {
  using enum Rule;
  using enum Request;
  using wire::NodeTag;
  constexpr std::nullopt_t kNothing = std::nullopt;
  constexpr Part kSetter{kObject, "setter", "", true, true};
  constexpr Part kHomeState{kObject, "home_state", "", false, true};
  return std::to_array<Shape>({
      constant(sequence(NodeTag::kTuple, "tuple")),
      sequence(NodeTag::kSet, "set"),
      constant(sequence(NodeTag::kFrozenSet, "frozenset")),
      shape(NodeTag::kByteArray, "bytearray", kNothing, Part{kBinary, "bytes"}),
      constant(shape(NodeTag::kSlice, "slice", kNothing,
                     Part{kObject, "start", ".start"}, Part{kObject, "stop", ".stop"},
                     Part{kObject, "step", ".step"})),
      shape(NodeTag::kRange, "range", kNothing, Part{kObject, "start", ".start"},
            Part{kObject, "stop", ".stop"}, Part{kObject, "step", ".step"}),
      shape(NodeTag::kGlobal, "global", kLookup, Part{kModuleOrNil, "module"},
            Part{kText, "name"}),
      shape(NodeTag::kNamespace, "namespace", kCode,
            Part{kTextOrNil, "name", "['__name__']"},
            Part{kTextOrNil, "package", "['__package__']"},
            Part{kBoolean, "is_package"}, Part{kUnsigned, "number", "", false, true}),
      shape(NodeTag::kCell, "cell", kCode,
            Part{kObjectOrEmpty, "content", ".cell_contents", false, true}),
      shape(NodeTag::kFunction, "function", kCode, Part{kCodeIndex, "code"},
            Part{kNamespace, "namespace", ".__globals__"}, Part{kCells, "closure"},
            Part{kFunctionFields, "fields"}),
      shape(NodeTag::kCode, "code", kCode, Part{kCodeIndex, "code"}),
      shape(NodeTag::kLazyImport, "lazy_import", kImport, Part{kText, "module"},
            Part{kTextOrNil, "name", "['__name__']"}),
      shape(NodeTag::kClassDict, "class_dict", kCode, Part{kObject, "class"}),
      shape(NodeTag::kObject, "object", kCall,
            Part{kObject, "callable", "constructor", true}, Part{kObjects, "args"},
            Part{kObject, "state"}, Part{kObjects, "items"}, Part{kPairs, "pairs"},
            kSetter),
      shape(NodeTag::kNewObject, "new_object", kCall,
            Part{kObject, "class", ".__class__", true}, Part{kObjects, "args"},
            Part{kPairs, "kwargs"}, Part{kObject, "state"}, Part{kObjects, "items"},
            Part{kPairs, "pairs"}),
      shape(NodeTag::kClass, "class", kCode, Part{kIdOrNil, "id"},
            Part{kObject, "metaclass", ".__class__"},
            Part{kObject, "name", ".__name__"}, Part{kObjects, "bases"},
            Part{kPairs, "namespace"}, Part{kPairs, "attributes"}, kHomeState),
      shape(NodeTag::kPersistent, "persistent", kNothing,
            Part{kObject, "id", "persistent id"}),
      shape(NodeTag::kBuffer, "buffer", kNothing, Part{kUnsigned, "number"},
            Part{kBoolean, "is_readonly"}),
      shape(NodeTag::kIdentified, "identified", kCode, Part{kBinary, "id"},
            Part{kObject, "value"}),
      shape(NodeTag::kModule, "module", kCode,
            Part{kNamespace, "namespace", ".__globals__"}, Part{kNamedObjects, "dict"},
            Part{kBoolean, "is_part"}),
      shape(NodeTag::kStreamReference, "stream_reference", kNothing,
            Part{kUnsigned, "payload"}, Part{kUnsigned, "position"}),
      shape(NodeTag::kReplacement, "replacement", kCall, Part{kObject, "object"}),
      shape(NodeTag::kStored, "stored", kNothing, Part{kUnsigned, "number"}),
      shape(NodeTag::kDefinitions, "definitions", kNothing, Part{kUnsigned, "count"},
            Part{kObjects, "definitions"}, Part{kObject, "value"}),
      shape(NodeTag::kDefinitionHash, "definition_hash", kCode, Part{kBinary, "hash"}),
  });
}();

static_assert(
    [] {
      std::uint8_t tag = 1;
      return std::ranges::all_of(kShapes, [&](const Shape& shape) {
        return static_cast<std::uint8_t>(shape.tag) == tag++;
      });
    }(),
    "shape_of() finds a row by its tag");

// The row of a tag, or null.
constexpr const Shape* shape_of(std::uint8_t tag) {
  return tag == 0 || tag > kShapes.size() ? nullptr : &kShapes[tag - 1U];
}
constexpr const Shape& shape_of(wire::NodeTag tag) {
  return *shape_of(static_cast<std::uint8_t>(tag));
}

// The position of a value by its name. An unknown name does not compile.
consteval std::size_t position_of(wire::NodeTag tag, std::string_view name) {
  for (std::size_t i = 0; i < shape_of(tag).max_count; ++i) {
    if (shape_of(tag).parts[i].name == name) return i;
  }
  throw "no part of that name";
}

// The name of the value at a position in reports. Empty for items, and for unknown tags
// and positions.
constexpr std::string_view part_name(std::uint8_t tag, std::size_t position) {
  const Shape* shape = shape_of(tag);
  const Part* part = shape == nullptr ? nullptr : shape->part(position);
  return part == nullptr ? std::string_view() : part->name;
}

// Whether nodes of this tag start with an index into the code section.
constexpr bool uses_code(std::uint8_t tag) {
  const Shape* shape = shape_of(tag);
  return shape != nullptr && shape->parts[0].rule == Rule::kCodeIndex;
}

// The fields of a function, by wire::FunctionField.
inline constexpr auto kFunctionParts = [] {
  using enum Rule;
  return std::to_array<Part>({
      {kNamedObjects, "globals"},
      {kObjectsOrEmpty, "closure"},
      {kObject, "defaults"},
      {kObject, "kwdefaults"},
      {kObject, "annotations"},
      {kObject, "annotate"},
      {kObject, "type_params"},
      {kObject, "dict"},
      {kObject, "name"},
      {kObject, "qualname"},
      {kObject, "module"},
      {kObject, "doc"},
      {kNamedObjects, "imports"},
  });
}();

static_assert(kFunctionParts.size() ==
              static_cast<std::size_t>(wire::FunctionField::kImports) + 1);

// The row of a field, or null.
constexpr const Part* function_part(std::uint64_t field) {
  return field < kFunctionParts.size() ? &kFunctionParts[field] : nullptr;
}

// The field's name in reports; empty if unknown.
constexpr std::string_view function_field_name(std::uint64_t field) {
  const Part* part = function_part(field);
  return part == nullptr ? std::string_view() : part->name;
}

// The rules of the values in a container.
struct Contents {
  const Part* parts = nullptr;  // One for each value; null: `even` and `odd` apply.
  // For a value if an even number of values, itself included, is left: keys of a map.
  Rule even = Rule::kObject;
  Rule odd = Rule::kObject;  // For all other values.
  // Fields of a function: each key gives the rule of its value.
  bool are_fields = false;

  // Whether all values are objects.
  constexpr bool are_objects() const {
    return parts == nullptr && !are_fields && even == Rule::kObject &&
           odd == Rule::kObject;
  }
};

// The rules of the values of a node.
constexpr Contents contents_of(const Shape& shape) {
  const Rule first = shape.parts[0].rule;
  return {shape.max_count == kMany ? nullptr : shape.parts.data(), first, first};
}

// For each rule, the rules of the values in the array or map that it requires.
// Constants contain constants.
inline constexpr auto kContents = [] {
  std::array<Contents, static_cast<std::size_t>(Rule::kConstantOrCode) + 1> all;
  const auto of = [&](Rule rule) -> Contents& {
    return all[static_cast<std::size_t>(rule)];
  };
  of(Rule::kCells) = {.even = Rule::kCell, .odd = Rule::kCell};
  of(Rule::kObjectsOrEmpty) = {.even = Rule::kObjectOrEmpty,
                               .odd = Rule::kObjectOrEmpty};
  of(Rule::kNamedObjects) = {.even = Rule::kText};
  of(Rule::kFunctionFields) = {.even = Rule::kUnsigned, .are_fields = true};
  for (const Rule rule : {Rule::kConstant, Rule::kConstantOrCode}) {
    of(rule) = {.even = rule, .odd = rule};
  }
  return all;
}();
constexpr const Contents& contents_of(Rule rule) {
  return kContents[static_cast<std::size_t>(rule)];
}

}  // namespace waybill::envelope
