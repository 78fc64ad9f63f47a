// Arbitrary bytes as a compressed buffer: errors lie at an offset in the input, and an
// accepted buffer has the same content when it is read again. Arbitrary bytes survive
// compression and decompression, or are left uncompressed.
//
// Input: a byte that chooses the item size, three bytes with the length of the buffer;
// the rest are its frames.

#include <algorithm>
#include <cstdint>
#include <vector>

#include "require.h"
#include "waybill/envelope.h"
#include "wire/format.h"

namespace {

using waybill::BufferParts;
using waybill::BytesView;
using waybill::fuzz::require;
using Bytes = std::vector<std::uint8_t>;

Bytes sealed_with(const BufferParts& buffer) {
  constexpr std::uint8_t kPayload[] = {0x92, 0xd4, 0, 0x17, 0};  // kStored, 0.
  waybill::Parts parts;
  parts.payload = kPayload;
  parts.buffers = {&buffer, 1};
  Bytes sealed;
  waybill::seal(parts, sealed);
  return sealed;
}

// Reads the only buffer; false if it is refused.
bool read(BytesView sealed, Bytes& content) {
  const auto envelope = waybill::open_whole(sealed);
  if (!envelope) {
    require(envelope.error().offset <= sealed.size());
    return false;
  }
  const waybill::StoredBuffer& row = envelope->buffers[0];
  content.assign(row.length, 0);
  const auto done = waybill::decompress_buffer(
      row, row.bytes, envelope->buffers_offset + row.offset, content);
  require(done || done.error().offset <= sealed.size());
  return done.has_value();
}

void check_frames(BytesView frames, std::uint8_t item_size, std::uint64_t length) {
  BufferParts buffer;
  buffer.bytes = frames;
  buffer.length = length;
  buffer.compression = {waybill::wire::CompressionMethod::kZstd, item_size};
  const Bytes sealed = sealed_with(buffer);
  Bytes content, again;
  if (!read(sealed, content)) return;
  require(read(sealed, again) && content == again);
}

void check_content(BytesView bytes) {
  BufferParts buffer;
  buffer.bytes = bytes;
  Bytes frames(waybill::compression_bound(bytes.size()));
  if (waybill::compress_buffer(buffer, 1, frames.data()) == 0) {
    return require(buffer.bytes.data() == bytes.data() && !buffer.compression);
  }
  const Bytes sealed = sealed_with(buffer);
  Bytes content;
  require(read(sealed, content) && std::ranges::equal(content, bytes));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::size_t kHead = 4;
  if (size <= kHead) return 0;
  const BytesView rest(data + kHead, size - kHead);
  const auto item_size = static_cast<std::uint8_t>(1 << data[0] % 5);
  const std::uint64_t length = data[1] << 16 | data[2] << 8 | data[3];
  check_frames(rest, item_size, std::min<std::uint64_t>(length, 3 << 20));
  check_content(rest);
  return 0;
}
