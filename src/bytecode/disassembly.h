#pragma once

// Instructions as CPython spells them, for people: names of opcodes, operands as they
// stand in the code, where jumps lead. What analyses code reads instruction.h instead.

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
  // For a call, a flag of some loads: NULL above what is loaded, or of an attribute,
  // `self` if it is a method.
  bool pushes_null = false;
  // What the opcode is given, EXTENDED_ARG included.
  std::uint32_t argument = 0;
  // The same without flags: what counts names, constants, locals or operators.
  std::uint32_t index = 0;
  // Byte offset in co_code of the first unit, an EXTENDED_ARG if there is one.
  std::uint32_t offset = 0;
  // is_jump: the byte offset where it leads, which nobody checked.
  std::int64_t target = 0;

  friend bool operator==(const ListedInstruction&, const ListedInstruction&) = default;
};

// Appends the instructions of co_code to `out`. At the first error it stops, and those
// before it stay.
//
// Errors: kPythonMismatch (no table for `version`), and those of walk_units().
// Cost: one pass; an entry for each two bytes at most.
Result<void> disassemble(int version, BytesView code,
                         std::vector<ListedInstruction>& out);

// What the index of an instruction that chooses from a few stands for: as in source
// ("+", "not in", "AssertionError") or, where source has no word, as `dis` says it
// ("defaults, closure", "INTRINSIC_PRINT"). Empty where it is a number to us too.
std::string choice_words(const ListedInstruction& instruction);

}  // namespace waybill::bytecode
