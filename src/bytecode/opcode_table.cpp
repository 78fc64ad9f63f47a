// The generated rows, in one array of 256 per version.
// Tested by tests/bytecode/instruction_test.cpp and test_stack_effects.py.

#include "bytecode/opcode_table.h"

#include <bit>

namespace waybill::bytecode {
namespace {

struct NumberedOpcode {
  std::uint8_t number;
  std::string_view name;
  OpcodeRow row;
};

#include "bytecode/opcode_rows/311.inc"
#include "bytecode/opcode_rows/312.inc"
#include "bytecode/opcode_rows/313.inc"
#include "bytecode/opcode_rows/314.inc"
#include "bytecode/opcode_rows/315.inc"

template <std::size_t kSize>
constexpr OpcodeTable make_table(const NumberedOpcode (&rows)[kSize]) {
  OpcodeTable table{};
  for (const NumberedOpcode& opcode : rows) {
    table[opcode.number] = opcode.row;
    table[opcode.number].name = opcode.name;
  }
  return table;
}

constexpr OpcodeTable kTables[] = {make_table(kOpcodes311), make_table(kOpcodes312),
                                   make_table(kOpcodes313), make_table(kOpcodes314),
                                   make_table(kOpcodes315)};
static_assert(std::size(kTables) == kVersionCount);

}  // namespace

std::uint64_t Count::of(std::uint32_t argument) const {
  const std::uint64_t wide = argument;
  switch (term) {
    case Term::kNone:
      return base;
    case Term::kArgument:
      return base + wide;
    case Term::kTwiceArgument:
      return base + 2 * wide;
    case Term::kLowBit:
      return base + (wide & 1);
    case Term::kUnpackRest:
      return base + (wide & 0xff) + (wide >> 8);
    case Term::kFunctionParts:
      return base + static_cast<std::uint64_t>(std::popcount(argument & 15u));
    case Term::kFormatSpec:
      return base + ((wide & 4) != 0 ? 1u : 0u);
    case Term::kSliceStep:
      return base + (wide == 3 ? 1u : 0u);
  }
  return base;
}

const OpcodeTable* opcode_table(int version) {
  if (version < kOldestPython || version > kNewestPython) return nullptr;
  return &kTables[version - kOldestPython];
}

}  // namespace waybill::bytecode
