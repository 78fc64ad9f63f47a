// Tested by tests/verify/verified_prefix_test.cpp, which compares it with open() and
// verify().

#include "verify/verified_prefix.h"

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

std::unique_ptr<VerifiedPrefix> VerifiedPrefix::make(const VerifiedEnvelope& verified) {
  const Envelope& envelope = verified;
  auto prefix = std::make_unique<VerifiedPrefix>();
  const std::size_t size = end_of_code(envelope);
  if (size == 0 || !envelope.signature.empty() ||
      size + envelope.debug_info.bytes.size() > kMaxKept) {
    return nullptr;
  }
  PayloadCheck check(envelope, Limits{});
  Reader payload(envelope.payload.bytes, {}, envelope.payload.offset);
  if (!check.check_payload(payload)) return nullptr;
  prefix->code_uses_ = check.code_uses();
  prefix->has_buffers_ = !envelope.buffers.empty();
  if (envelope.payload.bytes.size() <= kMaxPayload) {
    prefix->nodes_ = find_reusable_nodes(verified);
  }
  std::size_t known_size = 0;
  for (const ReusableNode& node : prefix->nodes_) known_size += node.bytes.size();
  if (known_size > kMaxKept) prefix->nodes_.clear();
  prefix->prefix_.assign(envelope.bytes.begin(),
                         envelope.bytes.begin() + static_cast<std::ptrdiff_t>(size));
  if (!prefix->nodes_.empty() && known_size == envelope.payload.bytes.size()) {
    prefix->whole_.assign(envelope.bytes.begin(), envelope.bytes.end());
  }
  prefix->debug_info_.assign(envelope.debug_info.bytes.begin(),
                             envelope.debug_info.bytes.end());
  prefix->envelope_ = verified;
  // Until it goes on with an envelope whose bytes are there.
  Envelope& kept = prefix->envelope_.envelope_;
  kept.payload = kept.debug_info = {};
  kept.bytes = {};
  kept.buffers.clear();
  if (!envelope.application.empty()) {
    const auto at = envelope.application.data() - envelope.bytes.data();
    kept.application =
        BytesView(prefix->prefix_)
            .subspan(static_cast<std::size_t>(at), envelope.application.size());
  }
  for (CodeBody& body : kept.code) {
    body.bytes = BytesView(prefix->prefix_).subspan(body.offset, body.bytes.size());
  }
  return prefix;
}

bool VerifiedPrefix::is_start_of(BytesView bytes) const {
  return starts(bytes, prefix_);
}

bool VerifiedPrefix::is_all_of(BytesView bytes) const {
  return !whole_.empty() && bytes.size() == whole_.size() && starts(bytes, whole_);
}

void VerifiedPrefix::forget_reusable_nodes() {
  nodes_.clear();
  whole_.clear();
}

bool VerifiedPrefix::is_all_code_reusable() const {
  std::size_t count = 0;
  for (const ReusableNode& node : nodes_) count += node.code_uses.size();
  return count == code_uses_.size();
}

bool VerifiedPrefix::begin(BytesView bytes) {
  if (has_buffers_) return begin_with_buffers(bytes);
  // A value has a byte at least.
  const Limits limits;
  if (bytes.size() > std::min(limits.max_bytes, limits.max_values)) return false;
  const std::size_t tail = debug_info_.size() + kUnsignedEnd;
  if (bytes.size() < prefix_.size() + tail) return false;
  const std::size_t debug_info = bytes.size() - tail;
  if (!starts(bytes.subspan(debug_info), debug_info_)) return false;
  Reader reader(bytes.subspan(prefix_.size(), debug_info - prefix_.size()), {},
                prefix_.size());
  Envelope& envelope = envelope_.envelope_;
  envelope.shared.clear();
  return read_shared(reader, envelope.shared) &&
         set_rest(envelope, bytes, reader.offset(), debug_info);
}

bool VerifiedPrefix::begin_with_buffers(BytesView bytes) {
  if (!is_start_of(bytes)) return false;
  const Limits limits;
  Reader reader(bytes.subspan(prefix_.size()), limits, prefix_.size());
  Envelope& envelope = envelope_.envelope_;
  envelope.shared.clear();
  envelope.buffers.clear();
  envelope.signature = {};
  return read_behind_code(reader, bytes, true, limits, envelope) &&
         envelope.signature.empty() &&
         std::ranges::equal(envelope.debug_info.bytes, debug_info_) &&
         envelope.size == bytes.size() && attach_buffers(envelope, bytes).has_value();
}

bool VerifiedPrefix::check_payload(const PassedPart& passed) {
  const Limits limits;
  const Envelope& envelope = envelope_;
  Reader reader(envelope.payload.bytes, limits, envelope.payload.offset);
  PayloadCheck check(envelope, limits, nullptr, nodes_);
  check.skip(passed);
  return check.check_payload(reader) && check.code_uses() == code_uses_;
}

void VerifiedPrefix::remember_whole() {
  const BytesView bytes = envelope_->bytes;
  if (nodes_.size() == 1 && nodes_[0].bytes.size() == envelope_->payload.bytes.size()) {
    whole_.assign(bytes.begin(), bytes.end());
  }
}

}  // namespace waybill::envelope
