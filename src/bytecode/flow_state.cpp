// Merging of states. Why it ends: a pass only asks for another one after it has marked
// a place, and the last pass marks all places of all loop heads.
// Tested by tests/bytecode/summarize_test.cpp.

#include "bytecode/flow_state.h"

#include <algorithm>

namespace waybill::bytecode {
namespace {

// Passes that mark one by one what loops change. Values that move from local to local
// in a loop need one pass for each move; beyond this they are unions all at once.
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
    state.arrived = false;
    state.visited = false;
    if (passes_ > kMaxPrecisePasses && state.is_loop_head) {
      const auto first =
          marks_.begin() + static_cast<std::ptrdiff_t>(state.first_place);
      std::fill_n(first, state.place_count, Mark::kMarked);
    }
  }
}

FlowOutcome FlowState::arrive(std::uint32_t block, std::span<const ValueId> values,
                              std::uint32_t offset) {
  State& state = states_[block];
  if (!spend(values.size() + 1)) return FlowOutcome::kTooMuch;
  if (!state.allocated) {
    state.allocated = true;
    state.first_place = places_.size();
    state.place_count = values.size();
    places_.resize(places_.size() + values.size(), kUnbound);
    marks_.resize(places_.size(), Mark::kNone);
  }
  if (state.place_count != values.size()) return FlowOutcome::kUnevenStack;
  state.is_loop_head = state.is_loop_head || state.visited;
  const bool first = !state.arrived;
  if (first) state.offset = offset;
  state.arrived = true;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (ignores(block, i)) continue;
    if (first) {
      place_first(state, state.first_place + i, values[i]);
    } else {
      merge(state, state.first_place + i, values[i]);
    }
  }
  return FlowOutcome::kFine;
}

void FlowState::arrive_in_local(std::uint32_t block, std::size_t local, ValueId value) {
  State& state = states_[block];
  if (!state.arrived || ignores(block, local)) return;
  state.is_loop_head = state.is_loop_head || state.visited;
  merge(state, state.first_place + local, value);
}

void FlowState::place_first(State& state, std::size_t place, ValueId value) {
  if (marks_[place] == Mark::kNone) {
    places_[place] = value;
    return;
  }
  marks_[place] = Mark::kUnion;
  places_[place] = graph_.make_union(state.offset);
  add(places_[place], value);
}

void FlowState::merge(State& state, std::size_t place, ValueId value) {
  ValueId& here = places_[place];
  if (here == value) return;
  if (marks_[place] == Mark::kUnion) return add(here, value);
  // A local without a value raises when it is read: the others are all it can be.
  if (value == kUnbound || value == kNull) return;
  if (state.visited) {
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
  if (!graph_.add_to_union(whole, plain(value))) overflow_.push_back(value);
}

std::span<const ValueId> FlowState::visit(std::uint32_t block) {
  State& state = states_[block];
  state.visited = true;
  return {places_.data() + state.first_place, state.place_count};
}

}  // namespace waybill::bytecode
