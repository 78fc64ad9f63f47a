#pragma once

// Basic blocks of a code object, the order to visit them in, and which locals are
// still needed where.

#include <cstdint>
#include <vector>

#include "bytecode/exception_entries.h"
#include "bytecode/instruction.h"
#include "waybill/bytecode.h"

namespace waybill::bytecode {

// Instructions that run one after the other, with a way in at the first only and a way
// out at the last only, but for exceptions. kNoIndex: there is no such way out.
struct Block {
  std::uint32_t first = 0;  // Into ControlFlow::instructions.
  std::uint32_t end = 0;
  std::uint32_t next = kNoIndex;  // The block behind, when control can get there.
  std::uint32_t jump = kNoIndex;
  std::uint32_t entry = kNoIndex;    // Into entries: who catches what is raised here.
  std::uint32_t handler = kNoIndex;  // That entry's target.
};

struct ControlFlow {
  std::vector<Instruction> instructions;
  std::vector<ExceptionEntry> entries;
  std::vector<Block> blocks;
  // Reachable blocks. All ways into a block come earlier, but for loops.
  std::vector<std::uint32_t> order;
  // One bit per block and local: may the local be read before it is stored? Empty when
  // there is one block, or too much of both: then all locals count as needed.
  std::vector<std::uint64_t> needed;
  std::size_t words_per_block = 0;

  bool is_needed(std::uint32_t block, std::size_t local) const {
    return needed.empty() ||
           (needed[block * words_per_block + local / 64] >> (local % 64) & 1) != 0;
  }
};

// Errors: those of read_instructions() and read_exception_entries(); kMalformed when a
// jump or entry does not meet an instruction's start, or control runs off the end.
// Cost: linear but for `needed`, which takes a few passes over the blocks.
Result<ControlFlow> read_control_flow(const CodeView& code);

}  // namespace waybill::bytecode
