// The frame of plain envelopes, recognised and no more: whatever is not as it should be
// is left to open(), which has the words for it.
// Tested by tests/envelope/plain_test.cpp.

#include "envelope/plain.h"

#include <algorithm>

#include "base/hash.h"
#include "waybill/envelope.h"
#include "wire/format.h"
#include "wire/reader.h"

namespace waybill::envelope {
namespace {

using wire::Reader;

constexpr std::uint8_t kEmptyMap = 0x80;
constexpr std::uint8_t kEmptyArray = 0x90;
constexpr std::uint8_t kNil = 0xc0;

bool read_header(Reader& reader) {
  std::uint64_t count = 0;
  std::uint64_t number = 0;
  std::string_view mark;
  return reader.read_array(count, {}) && count == wire::kSectionCount &&
         reader.read_array(count, {}) && count == 5 && reader.read_text(mark, {}) &&
         mark == std::string_view(wire::kMark, sizeof wire::kMark) &&
         reader.read_unsigned(number, UINT32_MAX, {}) && number == kFormatVersion &&
         reader.read_unsigned(number, UINT32_MAX, {}) &&
         reader.read_unsigned(number, UINT32_MAX, {}) &&
         reader.read_unsigned(number, UINT32_MAX, {});
}

bool read_byte(Reader& reader, std::uint8_t expected) {
  BytesView byte;
  return reader.take(byte, 1) && byte[0] == expected;
}

}  // namespace

std::size_t find_plain_payload(BytesView bytes, const Limits& limits,
                               std::vector<std::uint64_t>& shared) {
  // A value has a byte at least, so the ceiling on values holds too.
  if (bytes.size() > std::min(limits.max_bytes, limits.max_values)) return 0;
  Reader reader(bytes, limits);
  std::uint64_t count = 0;
  if (!read_header(reader) || !read_byte(reader, kEmptyMap) ||
      !read_byte(reader, kEmptyArray) || !reader.read_array(count, {})) {
    return 0;
  }
  shared.reserve(count);  // At least one byte each is left.
  for (; count != 0; --count) {
    if (!reader.read_unsigned(shared.emplace_back(), UINT64_MAX, {})) return 0;
  }
  return reader.offset();
}

bool ends_plain(BytesView bytes, std::size_t end) {
  Reader reader(bytes.subspan(end));
  BytesView digest;
  if (!read_byte(reader, kEmptyMap) || !reader.read_binary(digest, {})) return false;
  if (!std::ranges::equal(digest, base::digest_of(bytes.first(end + 1)))) return false;
  if (!reader.starts_with(kNil)) {
    BytesView signature;
    return reader.read_binary(signature, {}) && reader.at_end();
  }
  return reader.left() == 1;
}

}  // namespace waybill::envelope
