#pragma once

// What may stand inside each kind of node: the grammar of payloads as a table.

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "waybill/policy.h"
#include "wire/format.h"

namespace waybill::envelope {

// What may stand in a place. An object is what Python code can hold: a plain value, a
// node, or a reference to one that came before.
enum class Rule : std::uint8_t {
  kObject,
  kObjectOrEmpty,  // An object, or kEmpty.
  kText,           // Text, or an extension kText.
  kTextOrNil,
  kBoolean,
  kBinary,
  kIdOrNil,         // An id, as binary, or nil.
  kUnsigned,        // An integer that is not negative.
  kCodeIndex,       // An index into the code section.
  kModuleOrNil,     // An extension kModule, or nil.
  kNamespace,       // A node kNamespace or kStreamReference, or a reference.
  kCell,            // A node kCell without content or kStreamReference, or a reference.
  kObjects,         // An array that is no node: of objects,
  kCells,           //   of cells,
  kObjectsOrEmpty,  //   of contents.
  kPairs,           // A map of objects to objects.
  kNamedObjects,    // A map of text to objects.
  kFunctionFields,  // A map of FunctionField to what the field asks for.
  kConstant,        // What a compiler writes as a constant,
  kConstantOrCode,  //   or the hash of nested code.
};

// What a rule asks for, as errors say it.
std::string_view describe(Rule rule);

constexpr bool is_object(Rule rule) {
  return rule == Rule::kObject || rule == Rule::kObjectOrEmpty;
}

inline bool is_constant(Rule rule) {
  return rule == Rule::kConstant || rule == Rule::kConstantOrCode;
}

// A place that references may stand in, and may mean.
inline bool is_referable(Rule rule) {
  return is_object(rule) || rule == Rule::kNamespace || rule == Rule::kCell;
}

struct Shape {
  wire::NodeTag tag;
  std::string_view name;  // As reports spell it.
  // How many values follow the tag.
  std::uint8_t least;
  std::uint8_t most;  // Or kMany: any number, each by the first rule.
  std::array<Rule, 7> rules;
  bool is_constant = false;  // May stand among the constants of code.
  // What the node asks of a policy; nothing if it is data, or what the program itself
  // hands out (persistent ids, buffers, earlier payloads).
  std::optional<Request> request = {};
};
inline constexpr std::uint8_t kMany = 0xff;

// One row per node tag, in order of the tags.
std::span<const Shape> all_shapes();

// The row of a tag, or null.
const Shape* shape_of(std::uint8_t tag);

// Whether nodes of this tag start with an index into the code section.
inline bool uses_code(std::uint8_t tag) {
  const Shape* shape = shape_of(tag);
  return shape != nullptr && shape->rules[0] == Rule::kCodeIndex;
}

// What such a node asks of a policy, if anything.
std::optional<Request> request_of(wire::NodeTag tag);

// The rule of a field of a function; false if the field is unknown.
bool rule_of_field(std::uint64_t field, Rule& rule);

}  // namespace waybill::envelope
