// Each value that is missing takes a byte at least, which bounds the missing bytes from
// below. The payload is passed over by its length. Once the head is complete, the table
// of buffers gives the rest.
// Tested by tests/format/stream_length_test.cpp.

#include "waybill/stream_length.h"

#include <algorithm>

#include "format/buffer_table.h"
#include "wire/format.h"
#include "wire/lead.h"
#include "wire/reader.h"

namespace waybill {
namespace {

using wire::Counts;
using wire::Lead;

// An envelope starts with [["wb", …: three values, and the mark is the last of them.
constexpr unsigned kMarkIndex = 2;

// Levels of the envelope's own containers, which max_depth does not count: the
// envelope, its code section, and an entry of that.
constexpr std::size_t kFrameDepth = 3;

constexpr auto kPayloadLengthIndex =
    static_cast<std::uint64_t>(wire::SectionIndex::kPayloadLength);
// Lengths beyond this, which no input has, could overflow a sum.
constexpr std::uint64_t kMaxPayload = UINT64_MAX / 4;

// Sections left when the table of buffers, the third last, starts.
constexpr std::uint64_t kLeftAtTable =
    wire::kSectionCountWithBuffers -
    static_cast<std::uint64_t>(wire::SectionIndex::kDigest);

}  // namespace

StreamLength::StreamLength(const Limits& limits)
    : max_bytes_(limits.max_bytes), max_depth_(limits.max_depth) {}

Extent StreamLength::measure(BytesView bytes) {
  std::uint64_t rest_of_head = 0;
  while (pending_ != 0 && position_ < bytes.size()) {
    const Lead& lead = wire::kLeads[bytes[position_]];
    if (lead.head > bytes.size() - position_) {
      rest_of_head = lead.head - 1U;
      break;
    }
    if (!take_value(lead, bytes)) return {};
  }
  std::uint64_t end = position_ + rest_of_head + pending_;
  if (pending_ == 0 && end <= bytes.size()) {
    if (!size_after_head_ && !add_buffers(bytes.first(static_cast<std::size_t>(end))))
      return {};
    end += *size_after_head_;
  }
  if (end <= bytes.size()) return {static_cast<std::size_t>(end), 0};
  if (bytes.size() > max_bytes_) return {};
  // One byte beyond the limit lets open() report it.
  const std::uint64_t wanted = std::min<std::uint64_t>(end - 1, max_bytes_) + 1;
  return {0, static_cast<std::size_t>(wanted - bytes.size())};
}

// Strong exception guarantee: after std::bad_alloc the next call finds the same value
// again.
bool StreamLength::take_value(const Lead& lead, BytesView bytes) {
  const std::uint64_t count = wire::length_of(lead, bytes.data() + position_);
  if (!is_start(lead, count, bytes)) return false;
  while (!open_.empty() && open_.back() == 0) open_.pop_back();
  const std::size_t depth = open_.size();
  if (depth == 1 && sections_ - open_[0] == kPayloadLengthIndex)
    return take_payload(bytes);
  std::uint64_t items = 0;
  if (lead.counts == Counts::kItems) items = count;
  if (lead.counts == Counts::kPairs) items = 2 * count;
  if (depth == 0) sections_ = items;
  if (depth == 1 && open_[0] == kLeftAtTable) {
    table_ = static_cast<std::size_t>(position_);
  }
  if (items != 0) {
    if (depth >= kFrameDepth && depth - kFrameDepth >= max_depth_) return false;
    open_.push_back(items);
  }
  if (depth != 0) --open_[depth - 1];
  pending_ += items;
  --pending_;
  value_count_ = std::min(value_count_ + 1, kMarkIndex + 2);
  position_ += lead.head;
  if (lead.counts == Counts::kBytes) position_ += count;
  return true;
}

// Passes over the length of the payload, which starts here, and the payload.
bool StreamLength::take_payload(BytesView bytes) {
  wire::Reader reader(bytes.subspan(static_cast<std::size_t>(position_)));
  std::uint64_t length = 0;
  if (open_[0] < 2 || !reader.read_unsigned(length, kMaxPayload, {})) return false;
  position_ += reader.offset() + length;
  open_[0] -= 2;
  pending_ -= 2;
  return true;
}

// False if open() refuses the table.
bool StreamLength::add_buffers(BytesView head) {
  std::vector<StoredBuffer> buffers;
  if (sections_ == wire::kSectionCountWithBuffers) {
    wire::Reader reader(head.subspan(table_));
    if (!envelope::read_buffer_table(reader, buffers)) return false;
  }
  size_after_head_ = envelope::size_after_head(head.size(), buffers);
  return true;
}

bool StreamLength::is_start(const Lead& lead, std::uint64_t count,
                            BytesView bytes) const {
  constexpr std::size_t kLength = sizeof wire::kMark;
  if (value_count_ < kMarkIndex) return lead.counts == Counts::kItems;
  if (value_count_ == kMarkIndex)
    return lead.counts == Counts::kBytes && count == kLength;
  // The bytes of the mark are complete once the next value starts.
  return value_count_ != kMarkIndex + 1 ||
         std::ranges::equal(bytes.subspan(position_ - kLength, kLength), wire::kMark);
}

}  // namespace waybill
