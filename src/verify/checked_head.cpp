// Tested by tests/verify/checked_head_test.cpp, which compares it with open() and
// verify().

#include "verify/checked_head.h"

#include <algorithm>
#include <cstring>

#include "format/frame.h"
#include "verify/payload_check.h"

namespace waybill::envelope {
namespace {

using wire::Reader;

// What is kept for each, about; and what is looked through for known nodes.
constexpr std::size_t kMaxKept = 8 << 10;
constexpr std::size_t kMaxPayload = 64 << 10;

bool starts(BytesView bytes, BytesView with) {
  return bytes.size() >= with.size() &&
         std::memcmp(bytes.data(), with.data(), with.size()) == 0;
}

// Where the shared positions begin: after the last byte of the code section.
std::size_t end_of_code(const Envelope& envelope) {
  Reader reader(envelope.bytes);
  std::uint64_t count = 0;
  if (!reader.read_array(count, {})) return 0;
  for (int section = 0; section < 3; ++section) {
    if (!reader.skip()) return 0;
  }
  return reader.offset();
}

}  // namespace

std::unique_ptr<CheckedHead> CheckedHead::make(const VerifiedEnvelope& verified) {
  const Envelope& envelope = verified;
  auto head = std::make_unique<CheckedHead>();
  const std::size_t size = end_of_code(envelope);
  if (size == 0 || !envelope.signature.empty() ||
      size + envelope.notes.bytes.size() > kMaxKept) {
    return nullptr;
  }
  PayloadCheck check(envelope, Limits{});
  Reader payload(envelope.payload.bytes, {}, envelope.payload.offset);
  if (!check.check_payload(payload)) return nullptr;
  head->code_uses_ = check.code_uses();
  if (envelope.payload.bytes.size() <= kMaxPayload) {
    head->known_ = find_known_nodes(verified);
  }
  std::size_t known_size = 0;
  for (const KnownNode& node : head->known_) known_size += node.bytes.size();
  if (known_size > kMaxKept) head->known_.clear();
  head->head_.assign(envelope.bytes.begin(),
                     envelope.bytes.begin() + static_cast<std::ptrdiff_t>(size));
  if (!head->known_.empty() && known_size == envelope.payload.bytes.size()) {
    head->whole_.assign(envelope.bytes.begin(), envelope.bytes.end());
  }
  head->notes_.assign(envelope.notes.bytes.begin(), envelope.notes.bytes.end());
  head->envelope_ = verified;
  // Until it goes on with an envelope whose bytes are there.
  Envelope& kept = head->envelope_.envelope_;
  kept.payload = kept.notes = {};
  kept.bytes = {};
  if (!envelope.application.empty()) {
    const auto at = envelope.application.data() - envelope.bytes.data();
    kept.application =
        BytesView(head->head_)
            .subspan(static_cast<std::size_t>(at), envelope.application.size());
  }
  for (CodeBody& body : kept.code) {
    body.bytes = BytesView(head->head_).subspan(body.offset, body.bytes.size());
  }
  return head;
}

bool CheckedHead::is_start_of(BytesView bytes) const { return starts(bytes, head_); }

bool CheckedHead::is_all_of(BytesView bytes) const {
  return !whole_.empty() && bytes.size() == whole_.size() && starts(bytes, whole_);
}

void CheckedHead::forget_known_nodes() {
  known_.clear();
  whole_.clear();
}

bool CheckedHead::is_all_code_known() const {
  std::size_t count = 0;
  for (const KnownNode& node : known_) count += node.code_uses.size();
  return count == code_uses_.size();
}

bool CheckedHead::take_up(BytesView bytes) {
  // A value has a byte at least.
  const Limits limits;
  if (bytes.size() > std::min(limits.max_bytes, limits.max_values)) return false;
  const std::size_t tail = notes_.size() + kUnsignedEnd;
  if (bytes.size() < head_.size() + tail) return false;
  const std::size_t notes = bytes.size() - tail;
  if (!starts(bytes.subspan(notes), notes_) || !has_unsigned_end(bytes)) return false;
  Reader reader(bytes.subspan(head_.size(), notes - head_.size()), {}, head_.size());
  Envelope& envelope = envelope_.envelope_;
  envelope.shared.clear();
  if (!read_shared(reader, envelope.shared)) return false;
  set_rest(envelope, bytes, reader.offset(), notes);
  return true;
}

bool CheckedHead::check_payload() {
  const Limits limits;
  const Envelope& envelope = envelope_;
  Reader reader(envelope.payload.bytes, limits, envelope.payload.offset);
  PayloadCheck check(envelope, limits, nullptr, known_);
  return check.check_payload(reader) && check.code_uses() == code_uses_;
}

void CheckedHead::remember_whole() {
  const BytesView bytes = envelope_->bytes;
  if (known_.size() == 1 && known_[0].bytes.size() == envelope_->payload.bytes.size()) {
    whole_.assign(bytes.begin(), bytes.end());
  }
}

}  // namespace waybill::envelope
