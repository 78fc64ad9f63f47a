// Tested by tests/python/api/test_open.py and test_open_loading.py.

#include "python/opened_file.h"

#include <string>
#include <utility>

#include "python/decode/arrived_buffers.h"
#include "python/runtime/py_error.h"
#include "python/serializer.h"

namespace waybill::py {

namespace {

BytesView bytes_of_memory(const Ref& memory) {
  const Py_buffer* buffer = PyMemoryView_GET_BUFFER(memory.get());
  return {static_cast<const std::uint8_t*>(buffer->buf),
          static_cast<std::size_t>(buffer->len)};
}

BytesView bytes_of_head(const Ref& head) {
  return {reinterpret_cast<const std::uint8_t*>(PyBytes_AS_STRING(head.get())),
          static_cast<std::size_t>(PyBytes_GET_SIZE(head.get()))};
}

}  // namespace

OpenedFile::OpenedFile(const State& state, Ref head, Ref memory,
                       const LoadOptions& options, Check check)
    : head_(std::move(head)),
      memory_(std::move(memory)),
      envelope_(tl::unexpected(Error{})),
      check_(check),
      restrictions_(process_restrictions()) {
  const Gate gate(options);
  const Result<void> is_signed = gate.check_signature(bytes_of_head(head_));
  if (!is_signed) raise(state, is_signed.error());
  const Limits& limits = gate.limits();
  if (const std::size_t size = bytes_of_head(head_).size(); size > limits.max_bytes) {
    raise(state,
          Error{ErrorCode::kLimitExceeded, 0,
                "a head of " + std::to_string(size) + " bytes, more than the " +
                    std::to_string(limits.max_bytes) + " that max_bytes allows"});
  }
  // The others are about what is built.
  const Limits for_file = {.max_values = limits.max_values,
                           .max_depth = limits.max_depth};
  envelope_ = open_mapped(bytes_of_head(head_), bytes_of_memory(memory_), for_file);
  if (!envelope_) raise(state, envelope_.error());
  extractor_.emplace(*envelope_);
  if (check != Check::kNow) return;
  for (const StoredBuffer& row : (*envelope_)->buffers) {
    const Result<void> checked =
        check_buffer(row, row.bytes, (*envelope_)->buffers_offset + row.place);
    if (!checked) raise(state, checked.error());
  }
}

const std::vector<Step>& OpenedFile::steps(std::size_t offset) {
  if (offset != steps_offset_) {
    steps_ = steps_from(*envelope_, offset);
    steps_offset_ = offset;
  }
  return steps_;
}

void OpenedFile::check_restrictions(const State& state, const Gate& gate) {
  if (restrictions_ == process_restrictions()) return;
  const Result<void> is_signed = gate.check_signature((*envelope_)->bytes);
  if (!is_signed) raise(state, is_signed.error());
  restrictions_ = process_restrictions();
}

Ref OpenedFile::load(State& state, std::size_t offset, DecodeHooks hooks,
                     const LoadOptions& options, bool checks) {
  const Gate gate(options);
  check_restrictions(state, gate);
  hooks.memory = memory_.get();
  hooks.checks_stored = checks && check_ == Check::kLazy;
  hooks.checked_places = &checked_;
  if (!gate.is_free()) hooks.gate = &gate;
  if (offset != root_of(*envelope_)) {
    if (const auto part = extractor_->extract(offset)) {
      return decode_extracted(state, *part, hooks, gate);
    }
  }
  return decode_part(state, envelope_, offset, hooks, gate);
}

}  // namespace waybill::py
