// Tested by tests/diff/diff_test.cpp.

#include "diff/payload_side.h"

#include "format/value_view.h"
#include "report/paths_at.h"

namespace waybill::envelope {
std::string PayloadSide::text(std::uint32_t index) const {
  return value_text(tree_.at(index), names_, max_text_);
}

std::size_t PayloadSide::code_index(std::uint32_t node) const {
  return ValueView::at(envelope_, tree_[node].offset).code_index();
}

const CodeBody* PayloadSide::code(std::uint32_t node) const {
  const std::size_t index = code_index(node);
  return index < envelope_.code.size() ? &envelope_.code[index] : nullptr;
}

std::string_view PayloadSide::code_name(std::uint32_t node) const {
  const std::size_t index = code_index(node);
  return index < names_.code.size() ? names_.code[index] : std::string_view();
}

std::vector<std::string> PayloadSide::paths(
    const std::vector<std::uint32_t>& nodes) const {
  std::vector<std::size_t> offsets;
  for (const std::uint32_t node : nodes) offsets.push_back(tree_[node].offset);
  return paths_at(envelope_, names_, offsets);
}

}  // namespace waybill::envelope
