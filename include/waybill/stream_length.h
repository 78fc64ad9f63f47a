#pragma once

// Finds the end of an envelope in a stream, where nothing says before how long it is.
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

// How much of a stream is the envelope at its start. Both are 0 for what open()
// refuses, whatever may follow.
struct Extent {
  std::size_t size = 0;     // Length of the envelope; 0 while some of it is missing.
  std::size_t missing = 0;  // Bytes that are missing at least.

  friend bool operator==(const Extent&, const Extent&) = default;
};

// Not to be used by two threads at once.
class StreamLength {
 public:
  explicit StreamLength(const Limits& limits = {});

  // Measures the envelope at the start of `bytes`, which may be cut anywhere. They
  // begin with those of the calls before, which are not looked at again.
  //
  // Reading `missing` more bytes never reads beyond the envelope. It is what the sender
  // claims, and no more than one beyond max_bytes: read it in steps. Stops at what does
  // not start as an envelope does, and at more bytes and depth than the limits allow;
  // all else is open()'s work.
  //
  // Cost: over all calls, one pass over the heads of the values, and eight bytes for
  // each container that is open; the table of buffers is read once more.
  [[nodiscard]] Extent measure(BytesView bytes);

  // Length of the head, buffers left out, once all of it was measured; 0 before. All of
  // the envelope where it has no buffers.
  std::size_t head_size() const {
    return behind_ ? static_cast<std::size_t>(position_) : 0;
  }

 private:
  bool take(const wire::Lead& lead, BytesView bytes);
  bool is_start(const wire::Lead& lead, std::uint64_t count, BytesView bytes) const;
  bool add_buffers(BytesView head);

  std::size_t max_bytes_;
  std::size_t max_depth_;
  // Where the next value starts, which may be beyond what has arrived.
  std::uint64_t position_ = 0;
  // Values so far, as far as they tell an envelope from all else.
  unsigned seen_ = 0;
  // Values that are still to come: in all, and in each container that is open.
  std::uint64_t pending_ = 1;
  std::vector<std::uint64_t> open_;
  // Of the envelope; and where its table of buffers starts, which is one of nine.
  std::uint64_t sections_ = 0;
  std::size_t table_ = 0;
  // What stands behind a head that is whole; nothing as long as it is not.
  std::optional<std::uint64_t> behind_;
};

}  // namespace waybill
