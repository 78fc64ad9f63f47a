// The frame of plain envelopes, recognised and no more: whatever is not as it should be
// is left to open(), which has the words for it.
// Tested by tests/format/plain_test.cpp.

#include "format/plain.h"

#include <algorithm>

#include "format/frame.h"
#include "wire/reader.h"

namespace waybill::envelope {
namespace {

using wire::kEmptyArray;
using wire::kEmptyMap;
using wire::Reader;

// Whether an envelope without a signature, which ends in notes, digest and nil, has
// notes that are more than an empty map. False for all that does not end so. It spares
// most that is not plain the reading of a header.
bool has_notes(BytesView bytes) {
  constexpr std::size_t kTail = 1 + kUnsignedEnd;
  if (bytes.size() < kTail) return false;
  const BytesView tail = bytes.last(kTail);
  return tail[1] == 0xc4 && tail[2] == sizeof(std::uint64_t) &&
         tail.back() == wire::kNilByte && tail[0] != kEmptyMap;
}

}  // namespace

std::size_t find_plain_payload(BytesView bytes, const Limits& limits,
                               std::vector<std::uint64_t>& shared) {
  // A value has a byte at least, so the ceiling on values holds too.
  if (bytes.size() > std::min(limits.max_bytes, limits.max_values)) return 0;
  if (has_notes(bytes)) return 0;
  Reader reader(bytes, limits);
  PythonVersion python;
  if (!read_header(reader, python) || !reader.skip_byte(kEmptyMap) ||
      !reader.skip_byte(kEmptyArray) || !read_shared(reader, shared)) {
    return 0;
  }
  return reader.offset();
}

bool ends_plain(BytesView bytes, std::size_t end) {
  Reader reader(bytes.subspan(end));
  BytesView signature;
  return reader.skip_byte(kEmptyMap) && read_end(reader, bytes, signature);
}

}  // namespace waybill::envelope
