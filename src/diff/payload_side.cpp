// Tested by tests/diff/diff_test.cpp.

#include "diff/payload_side.h"

#include <algorithm>

#include "format/code_body.h"

namespace waybill::envelope {
namespace {

constexpr std::uint8_t kIsFree = 0x80;  // Of co_localspluskinds.

}  // namespace

std::string PayloadSide::text(std::uint32_t index) const {
  return value_text(tree_.at(index), names_, max_text_);
}

std::uint64_t PayloadSide::field(std::uint32_t key) const {
  wire::Reader reader = tree_.at(key);
  std::uint64_t number = 0;
  return reader.read_unsigned(number, UINT32_MAX, "a field") ? number : UINT64_MAX;
}

std::size_t PayloadSide::code_index(std::uint32_t node) const {
  const std::size_t count = envelope_.code.size();
  if (tree_[node].end == node + 1) return count;  // An empty node.
  wire::Reader reader = tree_.at(node + 1);
  std::uint64_t index = 0;
  if (!reader.read_unsigned(index, UINT32_MAX, "a code index")) return count;
  return std::min<std::size_t>(index, count);
}

const CodeBody* PayloadSide::code(std::uint32_t node) const {
  const std::size_t index = code_index(node);
  return index < envelope_.code.size() ? &envelope_.code[index] : nullptr;
}

std::string_view PayloadSide::code_name(std::uint32_t node) const {
  const std::size_t index = code_index(node);
  return index < names_.code.size() ? names_.code[index] : std::string_view();
}

const std::vector<std::string>& PayloadSide::free_names(std::size_t code_index) {
  const auto [known, is_new] = free_names_.try_emplace(code_index);
  std::vector<std::string>& names = known->second;
  if (!is_new || code_index >= envelope_.code.size()) return names;
  const CodeBody& body = envelope_.code[code_index];
  wire::Reader reader(body.bytes, Limits{}, body.offset);
  CodeFields fields;
  if (!read_code_body(reader, body.bytes, fields)) return names;
  for (std::size_t i = 0; i < fields.local_names.size(); ++i) {
    if ((fields.local_kinds[i] & kIsFree) == 0) continue;
    names.emplace_back(fields.local_names[i]);
  }
  return names;
}

std::vector<std::string> PayloadSide::cell_names(std::uint32_t function) {
  std::vector<std::string> names;
  const std::vector<std::string>& free = free_names(code_index(function));
  const auto cells = tree_.children(tree_.children(function)[kClosure]);
  for (std::size_t i = 0; i < cells.size() && i < free.size(); ++i) {
    const bool is_own =
        tree_[cells[i]].tag == static_cast<std::uint8_t>(wire::NodeTag::kCell);
    if (is_own) names.emplace_back(free[i]);
  }
  return names;
}

}  // namespace waybill::envelope
