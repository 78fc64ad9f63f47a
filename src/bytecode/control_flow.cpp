// Cuts the instructions into basic blocks at jumps, their targets, and the edges of
// exception table entries, and computes which locals are live at the start of each
// block. Code without jumps and handlers, which most small functions are, is one block
// and takes a fast path.
// Tested by tests/bytecode/summarize_test.cpp.

#include "bytecode/control_flow.h"

#include <algorithm>

namespace waybill::bytecode {
namespace {

// After this number of passes over the blocks all locals count as live. Each nested
// loop needs one pass, so real code needs far fewer.
constexpr int kMaxLivenessPasses = 16;
// Liveness is not computed if `live` needs more bits than this for each instruction.
constexpr std::size_t kMaxLivenessBits = 1024;

tl::unexpected<Error> malformed(std::size_t offset, const char* detail) {
  return tl::unexpected(Error{ErrorCode::kMalformed, offset, detail});
}

class Builder {
 public:
  Builder(const CodeView& code, ControlFlow& flow) : code_(code), flow_(flow) {}

  Result<void> build() {
    const std::vector<Instruction>& all = flow_.instructions;
    if (all.empty() || !ends_block(all.back().operation)) {
      return malformed(code_.instructions.size(), "control runs off the end");
    }
    const bool is_straight =
        flow_.entries.empty() &&
        std::none_of(all.begin(), all.end(),
                     [](const Instruction& i) { return i.can_jump; });
    if (is_straight) {
      flow_.blocks.push_back(
          {0, end_of_first_block(), kNoIndex, kNoIndex, kNoIndex, kNoIndex});
      flow_.order.push_back(0);
      return {};
    }
    if (auto done = find_starts(); !done) return done;
    cut_blocks();
    order_blocks();
    find_live_locals();
    return {};
  }

 private:
  std::uint32_t end_of_first_block() const {
    std::uint32_t at = 0;
    while (!ends_block(flow_.instructions[at].operation)) ++at;
    return at + 1;
  }

  // Marks the units of co_code where blocks start.
  Result<void> find_starts() {
    const std::vector<Instruction>& all = flow_.instructions;
    is_instruction_.assign(code_.instructions.size() / 2 + 1, false);
    is_start_.assign(is_instruction_.size(), false);
    for (const Instruction& instruction : all) {
      is_instruction_[instruction.offset / 2] = true;
    }
    is_start_[0] = true;
    for (const Instruction& instruction : all) {
      if (!instruction.can_jump) continue;
      if (!is_instruction_[instruction.argument / 2]) {
        return malformed(instruction.offset, "a jump target is inside an instruction");
      }
      is_start_[instruction.argument / 2] = true;
    }
    for (const ExceptionEntry& entry : flow_.entries) {
      if (!is_instruction_[entry.target / 2]) {
        return malformed(entry.target, "an exception handler is inside an instruction");
      }
      is_start_[entry.start / 2] = true;
      is_start_[entry.end / 2] = true;
      is_start_[entry.target / 2] = true;
    }
    return {};
  }

  void cut_blocks() {
    const std::vector<Instruction>& all = flow_.instructions;
    block_at_.assign(is_start_.size(), kNoIndex);
    std::size_t unit = 0;
    bool is_start = true;
    for (std::uint32_t i = 0; i < all.size(); ++i) {
      // An edge of an exception entry may lie in inline caches; a block then starts at
      // the next instruction.
      for (; unit <= all[i].offset / 2; ++unit) is_start = is_start || is_start_[unit];
      if (is_start) {
        if (!flow_.blocks.empty()) flow_.blocks.back().end = i;
        block_at_[all[i].offset / 2] = static_cast<std::uint32_t>(flow_.blocks.size());
        flow_.blocks.emplace_back();
        flow_.blocks.back().first = i;
      }
      is_start = all[i].can_jump || ends_block(all[i].operation);
    }
    flow_.blocks.back().end = static_cast<std::uint32_t>(all.size());
    for (std::uint32_t i = 0; i < flow_.blocks.size(); ++i) connect(i);
  }

  void connect(std::uint32_t index) {
    Block& block = flow_.blocks[index];
    const Instruction& last = flow_.instructions[block.end - 1];
    if (last.can_jump) block.jump = block_at_[last.argument / 2];
    if (!ends_block(last.operation)) block.next = index + 1;
    const std::uint32_t offset = flow_.instructions[block.first].offset;
    while (entry_ < flow_.entries.size() && flow_.entries[entry_].end <= offset) {
      ++entry_;
    }
    if (entry_ < flow_.entries.size() && flow_.entries[entry_].start <= offset) {
      block.entry = entry_;
      block.handler = block_at_[flow_.entries[entry_].target / 2];
    }
  }

  // A depth-first walk gives the postorder; `order` is its reverse.
  void order_blocks() {
    std::vector<std::uint8_t> successors_taken(flow_.blocks.size(), 0);
    std::vector<std::uint8_t> seen(flow_.blocks.size(), 0);
    std::vector<std::uint32_t> path{0};
    seen[0] = 1;
    while (!path.empty()) {
      const Block& block = flow_.blocks[path.back()];
      const std::uint32_t successors[] = {block.handler, block.jump, block.next};
      std::uint8_t& taken = successors_taken[path.back()];
      if (taken == 3) {
        flow_.order.push_back(path.back());
        path.pop_back();
        continue;
      }
      const std::uint32_t successor = successors[taken++];
      if (successor != kNoIndex && seen[successor] == 0) {
        seen[successor] = 1;
        path.push_back(successor);
      }
    }
    std::reverse(flow_.order.begin(), flow_.order.end());
  }

  void find_live_locals() {
    const std::size_t words = (code_.local_names.size() + 63) / 64;
    if (words * flow_.blocks.size() * 64 >
        kMaxLivenessBits * flow_.instructions.size()) {
      return;
    }
    flow_.words_per_block = words;
    flow_.live.assign(words * flow_.blocks.size(), 0);
    std::vector<std::uint64_t> stored(flow_.live.size(), 0);
    for (const std::uint32_t block : flow_.order) {
      find_block_uses(flow_.blocks[block], flow_.live.data() + block * words,
                      stored.data() + block * words);
    }
    for (int pass = 0; pass < kMaxLivenessPasses; ++pass) {
      bool is_changed = false;
      for (auto it = flow_.order.rbegin(); it != flow_.order.rend(); ++it) {
        is_changed = propagate_liveness(*it, stored) || is_changed;
      }
      if (!is_changed) return;
    }
    flow_.live.assign(flow_.live.size(), ~std::uint64_t{0});
  }

  // Finds the locals that the block reads before it stores them, and those that it
  // stores.
  void find_block_uses(const Block& block, std::uint64_t* live, std::uint64_t* stored) {
    for (std::uint32_t i = block.first; i < block.end; ++i) {
      const Instruction& instruction = flow_.instructions[i];
      const std::size_t local = instruction.argument;
      const bool loads = instruction.operation == Operation::kLoadLocal ||
                         instruction.operation == Operation::kLoadAndClearLocal;
      const bool stores = instruction.operation == Operation::kStoreLocal ||
                          instruction.operation == Operation::kDeleteLocal ||
                          instruction.operation == Operation::kLoadAndClearLocal;
      // An index out of range is reported when the instruction is evaluated.
      if ((!loads && !stores) || local >= code_.local_names.size()) continue;
      const std::uint64_t bit = std::uint64_t{1} << (local % 64);
      if (loads && (stored[local / 64] & bit) == 0) live[local / 64] |= bit;
      if (stores) stored[local / 64] |= bit;
    }
  }

  bool propagate_liveness(std::uint32_t index,
                          const std::vector<std::uint64_t>& stored) {
    const Block& block = flow_.blocks[index];
    const std::size_t words = flow_.words_per_block;
    bool is_changed = false;
    for (std::size_t word = 0; word < words; ++word) {
      std::uint64_t later = 0;
      if (block.next != kNoIndex) later |= flow_.live[block.next * words + word];
      if (block.jump != kNoIndex) later |= flow_.live[block.jump * words + word];
      later &= ~stored[index * words + word];
      // The handler may be entered before any of the block's stores.
      if (block.handler != kNoIndex) {
        later |= flow_.live[block.handler * words + word];
      }
      std::uint64_t& live_here = flow_.live[index * words + word];
      is_changed = is_changed || (later & ~live_here) != 0;
      live_here |= later;
    }
    return is_changed;
  }

  const CodeView& code_;
  ControlFlow& flow_;
  std::vector<bool> is_instruction_;
  std::vector<bool> is_start_;
  std::vector<std::uint32_t> block_at_;
  std::uint32_t entry_ = 0;
};

}  // namespace

Result<ControlFlow> read_control_flow(const CodeView& code) {
  ControlFlow flow;
  auto instructions = read_instructions(code.version, code.instructions);
  if (!instructions) return tl::unexpected(std::move(instructions.error()));
  flow.instructions = *std::move(instructions);
  auto entries = read_exception_entries(code.exception_table, code.instructions.size());
  if (!entries) return tl::unexpected(std::move(entries.error()));
  flow.entries = *std::move(entries);
  if (auto built = Builder(code, flow).build(); !built) {
    return tl::unexpected(std::move(built.error()));
  }
  return flow;
}

}  // namespace waybill::bytecode
