#pragma once

// Instructions without their encoding: no inline caches, no EXTENDED_ARG, no
// superinstructions, no versions.
//
//   auto instructions = bytecode::read_instructions(313, co_code);
//   for (const Instruction& instruction : *instructions) ...

#include <cstdint>
#include <vector>

#include "bytecode/opcode_table.h"
#include "waybill/error.h"

namespace waybill::bytecode {

// One step of the stack machine. One opcode may become several steps:
// LOAD_FAST_LOAD_FAST two kLoadLocals, LOAD_ATTR of a method a kLoadAttribute and a
// kPushNull. Operations that opcode_table.h calls "split by the reader" do not occur.
struct Instruction {
  Operation operation = Operation::kUnknown;
  std::int8_t jump_pushes = 0;  // See OpcodeRow.
  bool can_jump = false;
  std::uint32_t argument = 0;
  std::uint32_t pops = 0;
  std::uint32_t pushes = 0;
  // Byte offset in co_code of the first unit, an EXTENDED_ARG if there is one.
  std::uint32_t offset = 0;
};

// Whether control never reaches the next instruction from this one.
bool ends_block(Operation operation);

// Reads co_code.
//
// Errors: kPythonMismatch (no table for `version`), kUnknownTag (an opcode that the
// version does not have, or one of instrumented code), kMalformed (odd length, a
// truncated or too long EXTENDED_ARG, a cache that is not zero, a jump outside).
// Cost: one pass; at most two Instructions for each two bytes.
Result<std::vector<Instruction>> read_instructions(int version, BytesView code);

}  // namespace waybill::bytecode
