// Tested by tests/verify/verified_prefix_test.cpp, which compares it with open() and
// verify().

#include "verify/verified_prefix.h"

#include <algorithm>
#include <cstring>
#include <span>

#include "format/definitions.h"
#include "format/frame.h"
#include "verify/payload_check.h"

namespace waybill::envelope {
namespace {

using wire::Reader;

// The largest size of each stored copy.
constexpr std::size_t kMaxCopiedSize = 16 << 10;

bool starts_with(BytesView bytes, BytesView with) {
  return bytes.size() >= with.size() &&
         std::memcmp(bytes.data(), with.data(), with.size()) == 0;
}

// The offset after the code section, where the shared positions begin.
std::size_t end_of_code(const Envelope& envelope) {
  Reader reader(envelope.bytes);
  std::uint64_t count = 0;
  if (!reader.read_array(count, {})) return 0;
  for (int section = 0; section < 3; ++section) {
    if (!reader.skip()) return 0;
  }
  return reader.offset();
}

// Positions in the definitions where objects are known to start: those that are
// referred to, and definitions that are nodes.
std::vector<std::uint64_t> object_starts_in(const Envelope& envelope) {
  const Definitions& definitions = envelope.definitions;
  std::vector<std::uint64_t> objects;
  for (const std::uint64_t position : envelope.shared) {
    if (position < definitions.value) objects.push_back(position);
  }
  const BytesView bytes = envelope.payload.bytes.first(definitions.value);
  for (const std::uint64_t start : definitions.starts) {
    const std::uint8_t* const at = bytes.data() + start;
    if (wire::starts_node(at + 1, bytes.data() + bytes.size()))
      objects.push_back(start);
  }
  std::ranges::sort(objects);
  return objects;
}

// If the value is a reference to an object in the definitions: the position of that
// object.
std::optional<std::uint64_t> find_object_of_value(const Envelope& envelope) {
  const Definitions& definitions = envelope.definitions;
  const BytesView value = envelope.payload.bytes.subspan(definitions.value);
  if (wire::size_of_reference(value) != value.size()) return std::nullopt;
  const std::uint64_t position = envelope.shared[definitions.value_shared.front()];
  if (position >= definitions.value) return std::nullopt;
  return position;
}

std::vector<std::uint8_t> copy_of(BytesView bytes) {
  return {bytes.begin(), bytes.end()};
}

}  // namespace

std::unique_ptr<VerifiedPrefix> VerifiedPrefix::make(const VerifiedEnvelope& verified) {
  const Envelope& envelope = verified;
  const Definitions& definitions = envelope.definitions;
  const std::size_t size = end_of_code(envelope);
  if (size == 0 || definitions.value == 0 || !envelope.signature.empty() ||
      size + envelope.debug_info.bytes.size() > kMaxCopiedSize ||
      definitions.value > kMaxCopiedSize) {
    return nullptr;
  }
  auto prefix = std::make_unique<VerifiedPrefix>();
  PayloadCheck value(envelope, Limits{});
  PayloadCheck payload(envelope, Limits{});
  Reader reader(envelope.payload.bytes, {}, envelope.payload.offset);
  Reader from_value = reader;
  if (!payload.check_payload(reader) || !value.check_value(from_value) ||
      !value.code_uses().empty()) {
    return nullptr;
  }
  prefix->code_uses_ = payload.code_uses().size();
  prefix->has_buffers_ = !envelope.buffers.empty();
  prefix->prefix_ = copy_of(envelope.bytes.first(size));
  prefix->definitions_ = copy_of(envelope.payload.bytes.first(definitions.value));
  prefix->debug_info_ = copy_of(envelope.debug_info.bytes);
  prefix->shared_.assign(
      envelope.shared.begin(),
      envelope.shared.begin() + static_cast<std::ptrdiff_t>(definitions.shared));
  prefix->position_index_ = index_positions(prefix->shared_);
  prefix->object_starts_ = object_starts_in(envelope);
  if (const auto object = find_object_of_value(envelope)) {
    prefix->only_object_ = *object;
    prefix->after_prefix_ = copy_of(envelope.bytes.subspan(size));
  }
  prefix->envelope_ = verified;
  // Empty until begin() reads an envelope.
  Envelope& copy = prefix->envelope_.envelope_;
  copy.payload = copy.debug_info = {};
  copy.bytes = {};
  copy.buffers.clear();
  if (!envelope.application.empty()) {
    const auto at = envelope.application.data() - envelope.bytes.data();
    copy.application =
        BytesView(prefix->prefix_)
            .subspan(static_cast<std::size_t>(at), envelope.application.size());
  }
  for (CodeBody& body : copy.code) {
    body.bytes = BytesView(prefix->prefix_).subspan(body.offset, body.bytes.size());
  }
  return prefix;
}

bool VerifiedPrefix::is_start_of(BytesView bytes) const {
  if (!starts_with(bytes, prefix_)) return false;
  if (!envelope_->code.empty()) return true;
  Reader reader(bytes.subspan(prefix_.size()));
  return reader.skip_values(2) && starts_with(reader.rest(), definitions_);
}

std::optional<std::uint64_t> VerifiedPrefix::only_object(BytesView bytes) const {
  if (after_prefix_.empty() || bytes.size() != prefix_.size() + after_prefix_.size() ||
      !is_start_of(bytes) ||
      !starts_with(bytes.subspan(prefix_.size()), after_prefix_)) {
    return std::nullopt;
  }
  return only_object_;
}

bool VerifiedPrefix::begin(BytesView bytes) {
  const Limits limits;
  if (bytes.size() < prefix_.size() || bytes.size() > limits.max_bytes) return false;
  Reader reader(bytes.subspan(prefix_.size()), limits, prefix_.size());
  Envelope& envelope = envelope_.envelope_;
  envelope.shared.clear();
  envelope.buffers.clear();
  envelope.signature = {};
  if (!read_payload(reader, envelope.shared, envelope.payload) ||
      envelope.payload.bytes.size() > limits.max_values ||  // Each takes a byte.
      !has_same_definitions() || !resolve_value_references(envelope, position_index_) ||
      !refers_to_objects() || !starts_with(reader.rest(), debug_info_)) {
    return false;
  }
  envelope.debug_info.offset = reader.offset();
  return reader.take(envelope.debug_info.bytes, debug_info_.size()) &&
         read_end(reader, bytes, has_buffers_, limits, envelope) &&
         envelope.signature.empty() && envelope.size == bytes.size() &&
         attach_buffers(envelope, bytes).has_value();
}

// At least one byte follows the definitions, so their bounds are the same here.
bool VerifiedPrefix::has_same_definitions() const {
  const Envelope& envelope = envelope_;
  return envelope.payload.bytes.size() > definitions_.size() &&
         starts_with(envelope.payload.bytes, definitions_) &&
         envelope.shared.size() >= shared_.size() &&
         std::ranges::equal(std::span(envelope.shared).first(shared_.size()), shared_);
}

// Whether every position in the definitions that the value refers to is the start of an
// object.
bool VerifiedPrefix::refers_to_objects() const {
  return std::ranges::all_of(envelope_->shared, [&](std::uint64_t position) {
    return position >= definitions_.size() ||
           std::ranges::binary_search(object_starts_, position);
  });
}

bool VerifiedPrefix::check_value(const CheckedPart& checked) {
  const Limits limits;
  const Envelope& envelope = envelope_;
  Reader reader(envelope.payload.bytes, limits, envelope.payload.offset);
  PayloadCheck check(envelope, limits);
  check.skip(checked);
  return check.check_value(reader) && check.code_uses().empty();
}

}  // namespace waybill::envelope
