#pragma once

// What is in the locals and on the stack where blocks begin.

#include <cstdint>
#include <span>
#include <vector>

#include "bytecode/control_flow.h"
#include "bytecode/value_graph.h"

namespace waybill::bytecode {

// Contents of a local or stack place that are no Value.
inline constexpr ValueId kUnbound = 0xffffffff;     // A local without a value.
inline constexpr ValueId kNull = 0xfffffffe;        // The free place of a call's two.
inline constexpr ValueId kBuildClass = 0xfffffffd;  // __build_class__
inline constexpr ValueId kSliceMark = 0xfffffffc;   // A slice, about to be a subscript.

inline ValueId plain(ValueId id) { return id >= kSliceMark ? kUnknownValue : id; }

enum class FlowOutcome : std::uint8_t {
  kFine,
  kTooMuch,      // The budget is used up.
  kUnevenStack,  // Ways into a block that differ in the stack's height.
};

// The states at the starts of all blocks, in one array. A pass visits the blocks in
// order and lets states arrive at the blocks they lead to. Places where different
// values meet become kUnions. If that shows only after a block has been visited (a
// loop), then the place is marked, and another pass makes a union of it from the start.
// A union then only gains operands: what was computed from it stays right.
class FlowState {
 public:
  FlowState(const ControlFlow& flow, ValueGraph& graph, std::size_t local_count,
            std::int64_t budget);

  void begin_pass();
  // Is there a place that a loop changes and that was no union?
  bool needs_another_pass() const { return needs_another_pass_; }

  // `state`: locals, then stack. `offset` is for unions that are made.
  FlowOutcome arrive(std::uint32_t block, std::span<const ValueId> state,
                     std::uint32_t offset);

  // One more value that a local may have where `block`, a handler, begins.
  void arrive_in_local(std::uint32_t block, std::size_t local, ValueId value);

  bool is_reached(std::uint32_t block) const { return states_[block].arrived; }
  // The state that `block` starts with; from now on it counts as visited.
  std::span<const ValueId> visit(std::uint32_t block);

  // Takes from the budget that bounds time and memory. False when it is used up.
  bool spend(std::size_t work) {
    budget_ -= static_cast<std::int64_t>(work);
    return budget_ >= 0;
  }

  // Values that found no place in a full union.
  std::vector<ValueId>& overflow() { return overflow_; }

 private:
  struct State {
    std::size_t first_place = 0;
    std::size_t place_count = 0;
    bool allocated = false;
    bool arrived = false;  // In this pass, as is `visited`.
    bool visited = false;
    bool is_loop_head = false;
    std::uint32_t offset = 0;
  };

  // A place is marked to become a union, from the next pass on, or holds one.
  enum class Mark : std::uint8_t { kNone, kMarked, kUnion };

  void place_first(State& state, std::size_t place, ValueId value);
  void merge(State& state, std::size_t place, ValueId value);
  void add(ValueId whole, ValueId value);
  bool ignores(std::uint32_t block, std::size_t place) const {
    return place < local_count_ && !flow_.is_needed(block, place);
  }

  const ControlFlow& flow_;
  ValueGraph& graph_;
  std::size_t local_count_;
  std::int64_t budget_;
  std::vector<State> states_;
  std::vector<ValueId> places_;
  std::vector<Mark> marks_;  // By place; kept from pass to pass.
  std::vector<ValueId> overflow_;
  int passes_ = 0;
  bool needs_another_pass_ = false;
};

}  // namespace waybill::bytecode
