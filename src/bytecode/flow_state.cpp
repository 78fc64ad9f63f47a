// Merges states. Termination: a pass requests another one only after it has marked a
// slot, and passes after the precise ones start with all slots of loop heads marked.
// Tested by tests/bytecode/summarize_test.cpp.

#include "bytecode/flow_state.h"

#include <algorithm>

namespace waybill::bytecode {
namespace {

// Passes that mark only the slots that loops change. Values that move from local to
// local in a loop need one pass for each move; after these passes all slots of loop
// heads become unions.
constexpr int kMaxPrecisePasses = 4;

}  // namespace

FlowState::FlowState(const ControlFlow& flow, ValueGraph& graph,
                     std::size_t local_count, std::int64_t budget)
    : flow_(flow), graph_(graph), local_count_(local_count), budget_(budget) {
  states_.resize(flow.blocks.size());
}

void FlowState::begin_pass() {
  ++passes_;
  needs_another_pass_ = false;
  overflow_.clear();
  std::replace(marks_.begin(), marks_.end(), Mark::kUnion, Mark::kMarked);
  for (State& state : states_) {
    state.is_reached = false;
    state.is_visited = false;
    if (passes_ > kMaxPrecisePasses && state.is_loop_head) {
      const auto first = marks_.begin() + static_cast<std::ptrdiff_t>(state.first_slot);
      std::fill_n(first, state.slot_count, Mark::kMarked);
    }
  }
}

MergeOutcome FlowState::flow_to(std::uint32_t block, std::span<const ValueId> values,
                                std::uint32_t offset) {
  State& state = states_[block];
  if (!spend(values.size() + 1)) return MergeOutcome::kOverBudget;
  if (!state.is_allocated) {
    state.is_allocated = true;
    state.first_slot = slots_.size();
    state.slot_count = values.size();
    slots_.resize(slots_.size() + values.size(), kUnbound);
    marks_.resize(slots_.size(), Mark::kNone);
  }
  if (state.slot_count != values.size()) return MergeOutcome::kUnevenStack;
  state.is_loop_head = state.is_loop_head || state.is_visited;
  const bool is_first = !state.is_reached;
  if (is_first) state.offset = offset;
  state.is_reached = true;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (ignores(block, i)) continue;
    if (is_first) {
      store_first(state, state.first_slot + i, values[i]);
    } else {
      merge(state, state.first_slot + i, values[i]);
    }
  }
  return MergeOutcome::kMerged;
}

void FlowState::flow_to_local(std::uint32_t block, std::size_t local, ValueId value) {
  State& state = states_[block];
  if (!state.is_reached || ignores(block, local)) return;
  state.is_loop_head = state.is_loop_head || state.is_visited;
  merge(state, state.first_slot + local, value);
}

void FlowState::store_first(State& state, std::size_t place, ValueId value) {
  if (marks_[place] == Mark::kNone) {
    slots_[place] = value;
    return;
  }
  marks_[place] = Mark::kUnion;
  slots_[place] = graph_.make_union(state.offset);
  add(slots_[place], value);
}

void FlowState::merge(State& state, std::size_t place, ValueId value) {
  ValueId& here = slots_[place];
  if (here == value) return;
  if (marks_[place] == Mark::kUnion) return add(here, value);
  // Reading an unbound local raises, so a read sees only the other values.
  if (value == kUnbound || value == kNull) return;
  if (state.is_visited) {
    marks_[place] = Mark::kMarked;
    needs_another_pass_ = true;
  } else if (here == kUnbound || here == kNull) {
    here = value;
  } else {
    const ValueId before = here;
    here = graph_.make_union(state.offset);
    marks_[place] = Mark::kUnion;
    add(here, before);
    add(here, value);
  }
}

void FlowState::add(ValueId whole, ValueId value) {
  if (value == kUnbound || value == kNull) return;
  if (!graph_.add_to_union(whole, value_or_unknown(value))) overflow_.push_back(value);
}

std::span<const ValueId> FlowState::visit(std::uint32_t block) {
  State& state = states_[block];
  state.is_visited = true;
  return {slots_.data() + state.first_slot, state.slot_count};
}

}  // namespace waybill::bytecode
