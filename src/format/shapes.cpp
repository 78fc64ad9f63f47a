// The table of node shapes. A new kind of node is a new row here, a number in
// wire/format.h and a row in docs/wire_format.md.
// Tested by tests/verify/verify_test.cpp.

#include "format/shapes.h"

namespace waybill::envelope {
namespace {

using enum Rule;
using wire::FunctionField;
using wire::NodeTag;

constexpr Shape kShapes[] = {
    {NodeTag::kTuple, "tuple", 0, kMany, {kObject}, true},
    {NodeTag::kSet, "set", 0, kMany, {kObject}},
    {NodeTag::kFrozenSet, "frozenset", 0, kMany, {kObject}, true},
    {NodeTag::kByteArray, "bytearray", 1, 1, {kBinary}},
    {NodeTag::kSlice, "slice", 3, 3, {kObject, kObject, kObject}, true},
    {NodeTag::kRange, "range", 3, 3, {kObject, kObject, kObject}},
    {NodeTag::kGlobal, "global", 2, 2, {kModuleOrNil, kText}, false, Request::kLookup},
    {NodeTag::kNamespace,
     "namespace",
     4,
     4,
     {kTextOrNil, kTextOrNil, kBoolean, kBoolean},
     false,
     Request::kCode},
    {NodeTag::kCell, "cell", 0, 1, {kObjectOrEmpty}, false, Request::kCode},
    {NodeTag::kFunction,
     "function",
     4,
     4,
     {kCodeIndex, kNamespace, kCells, kFunctionFields},
     false,
     Request::kCode},
    {NodeTag::kCode, "code", 1, 1, {kCodeIndex}, false, Request::kCode},
    {NodeTag::kLazyImport,
     "lazy_import",
     2,
     2,
     {kText, kTextOrNil},
     false,
     Request::kImport},
    {NodeTag::kClassDict, "class_dict", 1, 1, {kObject}, false, Request::kCode},
    {NodeTag::kObject,
     "object",
     5,
     6,
     {kObject, kObjects, kObject, kObjects, kPairs, kObject},
     false,
     Request::kCall},
    {NodeTag::kNewObject,
     "new_object",
     6,
     6,
     {kObject, kObjects, kPairs, kObject, kObjects, kPairs},
     false,
     Request::kCall},
    {NodeTag::kClass,
     "class",
     6,
     7,
     {kIdOrNil, kObject, kObject, kObjects, kPairs, kPairs, kObject},
     false,
     Request::kCode},
    {NodeTag::kPersistent, "persistent", 1, 1, {kObject}},
    {NodeTag::kBuffer, "buffer", 2, 2, {kUnsigned, kBoolean}},
    {NodeTag::kIdentified,
     "identified",
     2,
     2,
     {kBinary, kObject},
     false,
     Request::kCode},
    {NodeTag::kModule,
     "module",
     3,
     3,
     {kNamespace, kNamedObjects, kBoolean},
     false,
     Request::kCode},
    {NodeTag::kStreamReference, "stream_reference", 2, 2, {kUnsigned, kUnsigned}},
    {NodeTag::kReplacement, "replacement", 1, 1, {kObject}, false, Request::kCall},
};

constexpr bool rows_are_in_order() {
  std::uint8_t tag = 1;
  for (const Shape& shape : kShapes) {
    if (static_cast<std::uint8_t>(shape.tag) != tag++) return false;
  }
  return true;
}
static_assert(rows_are_in_order(), "shape_of() finds a row by its tag");

}  // namespace

std::span<const Shape> all_shapes() { return kShapes; }

const Shape* shape_of(std::uint8_t tag) {
  return tag == 0 || tag > std::size(kShapes) ? nullptr : &kShapes[tag - 1];
}

bool rule_of_field(std::uint64_t field, Rule& rule) {
  constexpr auto kLast = static_cast<std::uint64_t>(FunctionField::kImports);
  if (field > kLast) return false;
  switch (static_cast<FunctionField>(field)) {
    case FunctionField::kGlobals:
    case FunctionField::kImports:
      rule = kNamedObjects;
      return true;
    case FunctionField::kCells:
      rule = kObjectsOrEmpty;
      return true;
    default:
      rule = kObject;
      return true;
  }
}

std::optional<Request> request_of(NodeTag tag) {
  const Shape* shape = shape_of(static_cast<std::uint8_t>(tag));
  return shape == nullptr ? std::nullopt : shape->request;
}

std::string_view describe(Rule rule) {
  switch (rule) {
    case Rule::kObject:
    case Rule::kObjectOrEmpty:
      return "an object";
    case Rule::kText:
      return "text";
    case Rule::kTextOrNil:
      return "text or nil";
    case Rule::kBoolean:
      return "a boolean";
    case Rule::kBinary:
      return "binary";
    case Rule::kIdOrNil:
      return "an id or nil";
    case Rule::kUnsigned:
      return "an integer that is not negative";
    case Rule::kCodeIndex:
      return "an index into the code section";
    case Rule::kModuleOrNil:
      return "a module or nil";
    case Rule::kNamespace:
      return "a namespace or a reference to one";
    case Rule::kCell:
      return "a cell without content or a reference to one";
    case Rule::kObjects:
    case Rule::kCells:
    case Rule::kObjectsOrEmpty:
      return "an array";
    case Rule::kPairs:
    case Rule::kNamedObjects:
      return "a map";
    case Rule::kFunctionFields:
      return "a map of function fields";
    case Rule::kConstant:
      return "a constant";
    case Rule::kConstantOrCode:
      return "a constant or code";
  }
  return "?";
}

}  // namespace waybill::envelope
