#pragma once

// Basic blocks of a code object, the order to visit them in, and the live locals of
// each.

#include <cstdint>
#include <vector>

#include "bytecode/exception_entries.h"
#include "bytecode/instruction.h"
#include "waybill/bytecode.h"

namespace waybill::bytecode {

// A basic block: control enters at its first instruction, and leaves at its last or by
// an exception. kNoIndex: there is no such successor.
struct Block {
  std::uint32_t first = 0;  // Into ControlFlow::instructions.
  std::uint32_t end = 0;
  std::uint32_t next = kNoIndex;  // The next block, if control falls through.
  std::uint32_t jump = kNoIndex;
  std::uint32_t entry = kNoIndex;    // The exception entry: an index in `entries`.
  std::uint32_t handler = kNoIndex;  // The target of that entry.
};

struct ControlFlow {
  std::vector<Instruction> instructions;
  std::vector<ExceptionEntry> entries;
  std::vector<Block> blocks;
  // Reachable blocks in reverse postorder: all predecessors of a block come earlier,
  // except in loops.
  std::vector<std::uint32_t> order;
  // Liveness, one bit per block and local: whether the local may be read before it is
  // stored. Empty for a single block, and where it would be too large: all locals count
  // as live.
  std::vector<std::uint64_t> live;
  std::size_t words_per_block = 0;

  bool is_live(std::uint32_t block, std::size_t local) const {
    return live.empty() ||
           (live[block * words_per_block + local / 64] >> (local % 64) & 1) != 0;
  }
};

// Errors: those of read_instructions() and read_exception_entries(); kMalformed if a
// jump or entry does not lead to the start of an instruction, or control runs off the
// end. Cost: linear, with a few passes over the blocks for liveness.
Result<ControlFlow> read_control_flow(const CodeView& code);

}  // namespace waybill::bytecode
