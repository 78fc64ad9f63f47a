// Tested by tests/values/value_refusals_test.cpp, tests/cli/test_cat.py and
// tests/explain/explain_payload_test.cpp.

#include "report/node_names.h"

#include <algorithm>

#include "format/code_body.h"
#include "format/leaf_kind.h"
#include "format/manifest_codec.h"
#include "report/value_text.h"

namespace waybill::envelope {
namespace {

using wire::NodeTag;
using Classes = std::vector<std::pair<std::size_t, std::size_t>>;

std::string name_of_global(const ValueView& value, const NodeNames& names) {
  const auto global = global_name(value.behind(), &value.envelope().manifest);
  if (!global) return {};
  const std::string owner = global->is_builtin ? std::string(names.builtins)
                                               : std::string(global->module) + ".";
  return start_of(owner + start_of(global->name, names.longest), names.longest);
}

std::string name_of_code(const ValueView& value, const NodeNames& names) {
  const std::size_t index = value.code_index();
  if (index == SIZE_MAX) return {};
  if (names.code != nullptr) return start_of((*names.code)[index], names.longest);
  CodeFields fields;
  read_code_body(value.envelope().code[index], fields);
  return start_of(fields.qualified_name, names.longest);
}

// Where the name of a class by value stands.
std::size_t name_of_class(const ValueView& value, const NodeNames& names) {
  if (names.classes == nullptr)
    return value.value(position_of(NodeTag::kClass, "name"));
  const auto found = std::ranges::lower_bound(*names.classes, value.offset(), {},
                                              &Classes::value_type::first);
  const bool is_there = found != names.classes->end() && found->first == value.offset();
  return is_there ? found->second : SIZE_MAX;
}

}  // namespace

std::string name_of(const ValueView& named, const NodeNames& names) {
  std::size_t offset = named.offset();
  for (int step = 0; step < kMaxHops; ++step) {
    const ValueView value(named.envelope(), offset);
    if (value.is_text()) return start_of(value.text(), names.longest);
    if (const auto* import = import_of(value.token(), value.envelope().manifest)) {
      return start_of(import->module, names.longest);
    }
    const Shape* shape = value.shape();
    if (shape == nullptr) return {};
    switch (shape->tag) {
      case NodeTag::kGlobal:
        return name_of_global(value, names);
      case NodeTag::kFunction:
      case NodeTag::kCode:
        return name_of_code(value, names);
      case NodeTag::kClass:
        offset = name_of_class(value, names);
        break;
      case NodeTag::kObject:
      case NodeTag::kNewObject:
      case NodeTag::kReplacement:
      case NodeTag::kNamespace:
      case NodeTag::kModule:
      case NodeTag::kClassDict:
      case NodeTag::kLazyImport:
        offset = value.behind().offset();
        break;
      default:
        return {};
    }
  }
  return {};
}

std::string type_of(const ValueView& value) {
  if (value.shape() == nullptr)
    return std::string(words_of(leaf_kind(value.token())).type);
  if (!value.is(NodeTag::kStored)) return std::string(value.shape()->name);
  const StoredBuffer* row = value.stored();
  if (row == nullptr || row->kind == wire::BufferKind::kBytes) return "bytes";
  return row->kind == wire::BufferKind::kByteArray ? "bytearray" : "memoryview";
}

}  // namespace waybill::envelope
