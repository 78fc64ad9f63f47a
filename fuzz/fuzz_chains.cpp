// summarize() on arbitrary bytes: no crash, errors at an offset in the input, and only
// valid indices in a summary.
//
// Input: a byte that chooses the version, the length of the exception table in one
// byte, that table, then instructions. Names and constants are fixed.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "require.h"
#include "waybill/bytecode.h"

namespace {

using waybill::BytesView;
using waybill::ConstantView;
using waybill::fuzz::require;

constexpr std::string_view kNames[] = {"xml", "dom", "getattr", "os", "path", "x"};
constexpr std::string_view kLocals[] = {"a", "b", "m", "cell", "free"};
constexpr std::uint8_t kKinds[] = {0x20, 0x20, 0x20, 0x40, 0x80};

void check(const waybill::CodeSummary& summary, std::size_t constants) {
  const std::size_t count = summary.values.size();
  for (const waybill::Value& value : summary.values) {
    require(value.parent < count);
    require(value.first_operand + value.operand_count <= summary.operands.size());
  }
  for (waybill::ValueId id : summary.operands) require(id < count);
  for (waybill::ValueId id : summary.escapes) require(id < count);
  for (std::uint32_t name : summary.globals) require(name < std::size(kNames));
  for (const auto& store : summary.cell_stores) require(store.value < count);
  for (const auto& binding : summary.bindings) {
    require(binding.value < count && binding.code < constants);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const BytesView input(data, size);
  const std::size_t table = std::min<std::size_t>(input[1], size - 2);
  std::vector<ConstantView> constants(4);
  constants[0].kind = ConstantView::Kind::kText;
  constants[0].text = "dom";
  constants[1].kind = ConstantView::Kind::kCode;
  constants[2].kind = ConstantView::Kind::kInteger;
  constants[3].kind = ConstantView::Kind::kTuple;
  constants[3].items = std::span<const ConstantView>(constants.data(), 1);
  waybill::CodeView code;
  code.version = 311 + input[0] % 6;  // 316 is unknown.
  code.exception_table = input.subspan(2, table);
  code.instructions = input.subspan(2 + table);
  code.names = kNames;
  code.local_names = kLocals;
  code.local_kinds = kKinds;
  code.constants = constants;
  code.argument_count = 2;

  const auto summary = waybill::summarize(code);

  if (summary) {
    check(*summary, constants.size());
  } else {
    require(summary.error().offset <= size);
  }
  return 0;
}
