#pragma once

// Instructions in CPython's spelling, for people: opcode names, operands, jump targets.
// Analyses use instruction.h instead.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "bytecode/opcode_table.h"
#include "waybill/error.h"

namespace waybill::bytecode {

// One instruction with the EXTENDED_ARG before it and without its inline caches.
struct ListedInstruction {
  std::string_view opcode;  // Static storage.
  Operand operand = Operand::kAny;
  bool has_argument = false;
  bool is_jump = false;
  // A flag of some loads before a call: also pushes NULL or, for a method, `self`.
  bool pushes_null = false;
  // The full argument, EXTENDED_ARG included.
  std::uint32_t argument = 0;
  // The argument without flags: an index into names, constants, locals or operators.
  std::uint32_t index = 0;
  // Byte offset in co_code of the first unit, an EXTENDED_ARG if there is one.
  std::uint32_t offset = 0;
  // is_jump: the byte offset of its target, unchecked.
  std::int64_t target = 0;

  friend bool operator==(const ListedInstruction&, const ListedInstruction&) = default;
};

// Appends the instructions of compact code (compact_code.h) to `out`. At the first
// error it stops, and keeps those before it.
//
// Errors: kPythonMismatch (no table for `version`), and those of walk_units(). Offsets
// are those in co_code.
// Cost: one pass; an entry for each two bytes at most.
Result<void> disassemble(int version, BytesView code,
                         std::vector<ListedInstruction>& out);

// The meaning of an index that selects one of a few things, as in source ("+", "not
// in", "AssertionError") or, if source has no text for it, as `dis` prints it
// ("defaults, closure", "INTRINSIC_PRINT"). Empty for other instructions and unknown
// numbers.
std::string choice_text(const ListedInstruction& instruction);

}  // namespace waybill::bytecode
