#pragma once

// The contents of locals and stack at the starts of blocks.

#include <cstdint>
#include <span>
#include <vector>

#include "bytecode/control_flow.h"
#include "bytecode/value_graph.h"

namespace waybill::bytecode {

// Contents of a slot (a local, or a position of the stack) that are not Values.
inline constexpr ValueId kUnbound = 0xffffffff;     // A local without a value.
inline constexpr ValueId kNull = 0xfffffffe;        // NULL next to a callable.
inline constexpr ValueId kBuildClass = 0xfffffffd;  // __build_class__
inline constexpr ValueId kSliceMark = 0xfffffffc;   // A slice, about to be a subscript.

inline ValueId value_or_unknown(ValueId id) {
  return id >= kSliceMark ? kUnknownValue : id;
}

enum class MergeOutcome : std::uint8_t {
  kMerged,
  kOverBudget,   // The budget is exceeded.
  kUnevenStack,  // Predecessors that disagree on the stack's height.
};

// The states at the starts of all blocks, in one array. A pass visits the blocks in
// order, and merges the state at a block's end into its successors. Slots where
// different values merge become kUnions. If that happens after a block has been visited
// (a loop), the slot is marked, and the next pass starts with a union there. A union
// only gains operands, so values computed from it stay valid.
class FlowState {
 public:
  FlowState(const ControlFlow& flow, ValueGraph& graph, std::size_t local_count,
            std::int64_t budget);

  void begin_pass();
  // Whether a loop changes a slot that was not a union.
  bool needs_another_pass() const { return needs_another_pass_; }

  // Merges a state into the start of a block. `state`: locals, then stack. Unions
  // that are created here get `offset`.
  MergeOutcome flow_to(std::uint32_t block, std::span<const ValueId> state,
                       std::uint32_t offset);

  // Merges a value into a local at the start of `block`, a handler.
  void flow_to_local(std::uint32_t block, std::size_t local, ValueId value);

  bool is_reached(std::uint32_t block) const { return states_[block].is_reached; }
  // The state at the start of `block`, which counts as visited from now on.
  std::span<const ValueId> visit(std::uint32_t block);

  // Spends some of the budget, which bounds time and memory. False if it is exceeded.
  bool spend(std::size_t work) {
    budget_ -= static_cast<std::int64_t>(work);
    return budget_ >= 0;
  }

  // Values that did not fit into a full union.
  std::vector<ValueId>& overflow() { return overflow_; }

 private:
  struct State {
    std::size_t first_slot = 0;
    std::size_t slot_count = 0;
    bool is_allocated = false;
    bool is_reached = false;  // In this pass, as is `is_visited`.
    bool is_visited = false;
    bool is_loop_head = false;
    std::uint32_t offset = 0;
  };

  // A slot is marked to become a union in the next pass, or holds one.
  enum class Mark : std::uint8_t { kNone, kMarked, kUnion };

  void store_first(State& state, std::size_t place, ValueId value);
  void merge(State& state, std::size_t place, ValueId value);
  void add(ValueId whole, ValueId value);
  bool ignores(std::uint32_t block, std::size_t place) const {
    return place < local_count_ && !flow_.is_live(block, place);
  }

  const ControlFlow& flow_;
  ValueGraph& graph_;
  std::size_t local_count_;
  std::int64_t budget_;
  std::vector<State> states_;
  std::vector<ValueId> slots_;
  std::vector<Mark> marks_;  // Indexed by slot; persists between passes.
  std::vector<ValueId> overflow_;
  int passes_ = 0;
  bool needs_another_pass_ = false;
};

}  // namespace waybill::bytecode
