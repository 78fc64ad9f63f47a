// Tested by tests/verify/verify_test.cpp and tests/format/grammar_test.cpp.

#include "format/shapes.h"

namespace waybill::envelope {
namespace {

using wire::FunctionField;

constexpr bool rows_are_in_order() {
  std::uint8_t tag = 1;
  for (const Shape& shape : kShapes) {
    if (static_cast<std::uint8_t>(shape.tag) != tag++) return false;
  }
  return true;
}
static_assert(rows_are_in_order(), "shape_of() finds a row by its tag");
static_assert(kFunctionParts.size() ==
              static_cast<std::size_t>(FunctionField::kImports) + 1);

}  // namespace

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
