// Tested by tests/bytecode/compact_code_test.cpp.

#include "bytecode/compact_code.h"

#include <algorithm>

#include "bytecode/opcode_table.h"

namespace waybill::bytecode {

std::vector<std::uint8_t> compact_code(int version, BytesView code) {
  const OpcodeTable* table = opcode_table(version);
  if (table == nullptr) return {code.begin(), code.end()};
  std::vector<std::uint8_t> compact;
  compact.reserve(code.size());
  for (std::size_t at = 0; at < code.size();) {
    const BytesView unit = code.subspan(at, std::min<std::size_t>(2, code.size() - at));
    compact.insert(compact.end(), unit.begin(), unit.end());
    at += std::size_t{2} * (1U + (*table)[unit[0]].caches);
  }
  return compact;
}

std::size_t expanded_size(int version, BytesView compact) {
  const OpcodeTable* table = opcode_table(version);
  std::size_t size = compact.size();
  if (table == nullptr) return size;
  for (std::size_t at = 0; at < compact.size(); at += 2) {
    size += std::size_t{2} * (*table)[compact[at]].caches;
  }
  return size;
}

std::vector<std::uint8_t> expand_code(int version, BytesView compact) {
  const OpcodeTable* table = opcode_table(version);
  if (table == nullptr) return {compact.begin(), compact.end()};
  std::vector<std::uint8_t> code(expanded_size(version, compact));
  std::uint8_t* out = code.data();
  for (std::size_t at = 0; at < compact.size(); at += 2) {
    const std::size_t length = std::min<std::size_t>(2, compact.size() - at);
    std::copy_n(&compact[at], length, out);
    out += length + std::size_t{2} * (*table)[compact[at]].caches;
  }
  return code;
}

}  // namespace waybill::bytecode
