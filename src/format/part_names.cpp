// Tested by tests/report/report_test.cpp and tests/cli/test_diff.py.

#include "format/part_names.h"

#include <array>
#include <iterator>

#include "wire/format.h"

namespace waybill::envelope {
namespace {

using wire::NodeTag;

struct Row {
  NodeTag tag;
  std::array<std::string_view, 7> parts;
};

constexpr Row kRows[] = {
    {NodeTag::kByteArray, {"bytes"}},
    {NodeTag::kSlice, {"start", "stop", "step"}},
    {NodeTag::kRange, {"start", "stop", "step"}},
    {NodeTag::kGlobal, {"module", "name"}},
    {NodeTag::kNamespace, {"name", "package", "is_package", "is_module"}},
    {NodeTag::kCell, {"content"}},
    {NodeTag::kFunction, {"code", "namespace", "closure", "fields"}},
    {NodeTag::kCode, {"code"}},
    {NodeTag::kLazyImport, {"module", "name"}},
    {NodeTag::kClassDict, {"class"}},
    {NodeTag::kObject, {"callable", "args", "state", "items", "pairs", "setter"}},
    {NodeTag::kNewObject, {"class", "args", "kwargs", "state", "items", "pairs"}},
    {NodeTag::kClass,
     {"id", "metaclass", "name", "bases", "namespace", "attributes", "word"}},
    {NodeTag::kPersistent, {"id"}},
    {NodeTag::kBuffer, {"number", "is_readonly"}},
    {NodeTag::kIdentified, {"id", "value"}},
    {NodeTag::kModule, {"namespace", "dict", "is_part"}},
    {NodeTag::kStreamReference, {"payload", "position"}},
    {NodeTag::kReplacement, {"object"}},
};

// By wire::FunctionField.
constexpr std::string_view kFields[] = {
    "globals",     "closure",     "defaults", "kwdefaults", "annotations",
    "annotate",    "type_params", "dict",     "name",       "qualname",
    "module_name", "doc",         "imports"};

}  // namespace

std::string_view part_name(std::uint8_t tag, std::size_t position) {
  for (const Row& row : kRows) {
    if (static_cast<std::uint8_t>(row.tag) != tag) continue;
    return position < row.parts.size() ? row.parts[position] : std::string_view();
  }
  return {};
}

std::string_view function_field_name(std::uint64_t field) {
  return field < std::size(kFields) ? kFields[field] : std::string_view();
}

}  // namespace waybill::envelope
