#pragma once

// Finds the end of an envelope in a stream of them.
//
//   waybill::StreamLength stream_length(limits);
//   while (const std::size_t missing = stream_length.measure(bytes).missing) {
//     // Append up to `missing` bytes of the stream to `bytes`.
//   }
//   auto envelope = waybill::open_whole(bytes, limits);

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "waybill/bytes.h"
#include "waybill/limits.h"

namespace waybill {

namespace wire {
struct Lead;
}

// The extent of the envelope at the start of a stream. Both members are 0 if open()
// will refuse it, whatever follows.
struct Extent {
  std::size_t size = 0;     // Length of the envelope; 0 while it is incomplete.
  std::size_t missing = 0;  // A lower bound of the missing bytes.

  friend bool operator==(const Extent&, const Extent&) = default;
};

// Not thread-safe.
class StreamLength {
 public:
  explicit StreamLength(const Limits& limits = {});

  // Measures the envelope at the start of `bytes`, which may be truncated anywhere.
  // `bytes` must start with the bytes of earlier calls, which are not read again.
  //
  // Reading `missing` more bytes never reads beyond the envelope. The sender controls
  // the number, which is at most one beyond max_bytes: read in steps. It stops at input
  // that does not start like an envelope, or that exceeds the limits of bytes and
  // depth; open() checks everything else.
  //
  // Cost: over all calls, one pass over the heads of the values outside of the payload,
  // and eight bytes for each open container; the table of buffers is read once more.
  [[nodiscard]] Extent measure(BytesView bytes);

  // Length of the head, without buffers, once it is complete; 0 before. Without
  // buffers, the length of the envelope.
  std::size_t head_size() const {
    return size_after_head_ ? static_cast<std::size_t>(position_) : 0;
  }

 private:
  bool take_value(const wire::Lead& lead, BytesView bytes);
  bool take_payload(BytesView bytes);
  bool is_start(const wire::Lead& lead, std::uint64_t count, BytesView bytes) const;
  bool add_buffers(BytesView head);

  std::size_t max_bytes_;
  std::size_t max_depth_;
  // Offset of the next value, possibly beyond the bytes received.
  std::uint64_t position_ = 0;
  // Values so far, up to the few that identify an envelope.
  unsigned value_count_ = 0;
  // Values left: in total, and in each open container.
  std::uint64_t pending_ = 1;
  std::vector<std::uint64_t> open_;
  // Sections of the envelope, and the offset of its table of buffers if it has one.
  std::uint64_t sections_ = 0;
  std::size_t table_ = 0;
  // Bytes after the head, once that is complete.
  std::optional<std::uint64_t> size_after_head_;
};

}  // namespace waybill
