// Tested by tests/format/plain_test.cpp and tests/verify/bare_function_test.cpp.

#include "format/frame.h"

#include <algorithm>

#include "base/hash.h"
#include "format/manifest_codec.h"
#include "wire/format.h"

namespace waybill::envelope {
namespace {

using wire::Reader;

bool read_number(Reader& reader, std::uint32_t& number) {
  std::uint64_t value = 0;
  if (!reader.read_unsigned(value, UINT32_MAX, {})) return false;
  number = static_cast<std::uint32_t>(value);
  return true;
}

}  // namespace

bool read_header(Reader& reader, PythonVersion& python) {
  std::uint64_t count = 0;
  std::uint32_t version = 0;
  std::string_view mark;
  return reader.read_array(count, {}) && count == wire::kSectionCount &&
         reader.read_array(count, {}) && count == 5 && reader.read_text(mark, {}) &&
         mark == std::string_view(wire::kMark, sizeof wire::kMark) &&
         read_number(reader, version) && version == kFormatVersion &&
         read_number(reader, python.major) && read_number(reader, python.minor) &&
         read_number(reader, python.magic);
}

bool read_shared(Reader& reader, std::vector<std::uint64_t>& shared) {
  std::uint64_t count = 0;
  if (!reader.read_array(count, "the shared positions")) return false;
  shared.reserve(count);  // At least one byte each is left.
  for (; count != 0; --count) {
    std::uint64_t position = 0;
    if (!reader.read_unsigned(position, UINT64_MAX, "a shared position")) return false;
    shared.push_back(position);
  }
  return true;
}

bool read_end(Reader& reader, BytesView bytes, BytesView& signature) {
  const std::size_t covered = bytes.size() - reader.left();
  BytesView digest;
  if (!reader.read_binary(digest, {})) return false;
  if (!std::ranges::equal(digest, base::digest_of(bytes.first(covered)))) return false;
  if (reader.starts_with(wire::kNilByte)) return reader.left() == 1;
  return reader.read_binary(signature, {}) && reader.at_end();
}

bool has_unsigned_end(BytesView bytes) {
  if (bytes.size() < kUnsignedEnd) return false;
  Reader reader(bytes.last(kUnsignedEnd));
  BytesView signature;
  return read_end(reader, bytes, signature) && signature.empty();
}

void set_rest(Envelope& envelope, BytesView bytes, std::size_t payload,
              std::size_t notes) {
  const std::size_t end = bytes.size() - kUnsignedEnd;
  envelope.payload = {payload, bytes.subspan(payload, notes - payload)};
  envelope.notes = {notes, bytes.subspan(notes, end - notes)};
  std::ranges::copy(bytes.subspan(end + 2, envelope.digest.size()),
                    envelope.digest.begin());
  envelope.bytes = bytes;
  envelope.size = bytes.size();
}

std::optional<Envelope> open_unmeasured(BytesView bytes, const Limits& limits) {
  constexpr std::size_t kTail = 1 + kUnsignedEnd;  // Empty notes come before.
  // A value has a byte at least, and so has a container: no limit is near.
  const std::size_t most =
      std::min({limits.max_bytes, limits.max_values, limits.max_depth});
  if (bytes.size() <= kTail || bytes.size() > most) return std::nullopt;
  const std::size_t notes = bytes.size() - kTail;
  if (bytes[notes] != wire::kEmptyMap) return std::nullopt;
  Envelope envelope;
  Reader reader(bytes.first(notes), limits);
  if (!read_header(reader, envelope.python) ||
      !read_manifest(reader, envelope.manifest) ||
      !reader.skip_byte(wire::kEmptyArray) || !read_shared(reader, envelope.shared) ||
      !has_unsigned_end(bytes)) {
    return std::nullopt;
  }
  envelope.format_version = kFormatVersion;
  set_rest(envelope, bytes, reader.offset(), notes);
  return envelope;
}

}  // namespace waybill::envelope
