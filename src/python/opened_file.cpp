// Tested by tests/python/api/test_open.py and test_open_loading.py.

#include "python/opened_file.h"

#include <algorithm>
#include <string>
#include <utility>

#include "python/runtime/buffer_view.h"
#include "python/runtime/text.h"
#include "python/serializer.h"

namespace waybill::py {

namespace {

// A copy of the head at the start of `memory`.
Ref copied_head(const State& state, BytesView memory, const Limits& limits) {
  return new_bytes(require(state, open_head(memory, limits)).bytes);
}

}  // namespace

OpenedFile::OpenedFile(const State& state, Ref head, Ref memory,
                       const LoadOptions& options, Check check)
    : head_(std::move(head)),
      memory_(std::move(memory)),
      check_(check),
      restrictions_(process_restrictions()) {
  const Gate gate(options);
  const Limits& limits = gate.limits();
  // The other limits apply to the parts that are built.
  const Limits for_file = {.max_values = limits.max_values,
                           .max_depth = limits.max_depth};
  const bool can_be_cut = head_.get() == Py_None;
  if (can_be_cut) head_ = copied_head(state, bytes_of_memory(memory_.get()), for_file);
  require(state, gate.check_signature(bytes_of(head_.get())));
  if (const std::size_t size = bytes_of(head_.get()).size(); size > limits.max_bytes) {
    raise(state,
          Error{ErrorCode::kLimitExceeded, 0,
                "a head of " + std::to_string(size) + " bytes, more than the " +
                    std::to_string(limits.max_bytes) + " that max_bytes allows"});
  }
  envelope_ = require(
      state, open_mapped(bytes_of(head_.get()), bytes_of_memory(memory_.get()),
                         for_file, can_be_cut ? FileEnd::kCut : FileEnd::kWhole));
  extractor_.emplace(*envelope_);
  if (check == Check::kNow) require(state, check_buffers(*envelope_));
}

OpenedFile::StepList& OpenedFile::step_list_at(std::size_t offset) {
  const auto cached = std::ranges::find(lists_, offset, &StepList::offset);
  if (cached != lists_.end()) {
    lists_.splice(lists_.begin(), lists_, cached);
    return lists_.front();
  }
  StepList step_list;
  step_list.offset = offset;
  step_list.steps = steps_from(*envelope_, offset);
  for (const Step& step : step_list.steps) {
    const bool is_indexed = step.kind == Step::Kind::kIndex;
    if (is_indexed) step_list.indexed.push_back(&step);
    step_list.has_keys = step_list.has_keys || step.kind == Step::Kind::kKey;
    if (!is_indexed && step.name.data() != nullptr) step_list.named.push_back(&step);
  }
  std::ranges::stable_sort(step_list.named, {}, [](const Step* step) {
    return std::pair(step->name, step->kind);
  });
  if (lists_.size() == kMaxLists) lists_.pop_back();
  lists_.push_front(std::move(step_list));
  return lists_.front();
}

const Step* OpenedFile::find_step(std::size_t offset, std::string_view name) {
  const std::vector<const Step*>& named = step_list_at(offset).named;
  auto found = std::ranges::lower_bound(named, name, {}, &Step::name);
  if (found == named.end() || (*found)->name != name) return nullptr;
  // Loading keeps the last of several pairs with equal keys.
  const Step* last = *found;
  while (++found != named.end() && (*found)->name == name &&
         (*found)->kind == last->kind) {
    last = *found;
  }
  return last;
}

const Step* OpenedFile::find_step(std::size_t offset, std::uint64_t index) {
  const std::vector<const Step*>& indexed = step_list_at(offset).indexed;
  return index < indexed.size() ? indexed[index] : nullptr;
}

bool OpenedFile::has_same_size(PyObject* memory) const {
  return PyMemoryView_GET_BUFFER(memory)->len ==
         PyMemoryView_GET_BUFFER(memory_.get())->len;
}

void OpenedFile::check_restrictions(const State& state, const Gate& gate) {
  if (restrictions_ == process_restrictions()) return;
  require(state, gate.check_signature((*envelope_)->bytes));
  restrictions_ = process_restrictions();
}

Ref OpenedFile::load(State& state, std::size_t offset, DecodeHooks hooks,
                     const LoadOptions& options, bool is_whole) {
  const Gate gate(options);
  check_restrictions(state, gate);
  hooks.checks_stored =
      check_ == Check::kLazy && (is_whole || gate.demands_signature());
  hooks.checked_offsets = &checked_offsets_;
  if (!gate.is_free()) hooks.gate = &gate;
  // Opaque objects show their positions in the whole payload, so no part is extracted.
  if (offset != root_of(*envelope_) && hooks.opaque == nullptr) {
    if (const auto part = extractor_->extract(offset)) {
      return decode_extracted(state, *part, hooks, gate);
    }
  }
  return decode_part(state, *envelope_, offset, hooks, gate);
}

}  // namespace waybill::py
