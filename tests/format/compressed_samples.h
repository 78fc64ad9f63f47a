#pragma once

// Compressed buffers, and envelopes with them.

#include <zstd.h>

#include <cstdint>
#include <cstring>
#include <vector>

#include "format/samples.h"
#include "waybill/buffers.h"
#include "wire/format.h"

namespace waybill::samples {

// `count` integers of `item_size` bytes: 0, 3, 6, …
inline Bytes rising(std::size_t count, std::size_t item_size) {
  Bytes bytes(count * item_size);
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t number = 3 * i;
    std::memcpy(&bytes[i * item_size], &number, std::min<std::size_t>(item_size, 8));
  }
  return bytes;
}

// Random bytes, which no compression makes smaller.
inline Bytes noise(std::size_t size, std::uint64_t state = 1) {
  Bytes bytes(size);
  for (std::uint8_t& byte : bytes) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    byte = static_cast<std::uint8_t>(state >> 32);
  }
  return bytes;
}

// A zstd frame in the form that the wire format demands.
inline Bytes frame_of(BytesView block, int level = 3) {
  ZSTD_CCtx* context = ZSTD_createCCtx();
  ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, level);
  ZSTD_CCtx_setParameter(context, ZSTD_c_windowLog, 20);
  Bytes frame(ZSTD_compressBound(block.size()));
  frame.resize(
      ZSTD_compress2(context, frame.data(), frame.size(), block.data(), block.size()));
  ZSTD_freeCCtx(context);
  return frame;
}

// An envelope of a list of one compressed buffer, stored as these bytes, valid or not.
inline Bytes with_stored(BytesView stored, std::uint64_t length,
                         std::uint8_t item_size = 1, const SigningKey* key = nullptr) {
  Draft draft({array(1), samples::stored(0)});
  BufferParts& buffer = draft.buffers.emplace_back();
  buffer.bytes = stored;
  buffer.length = length;
  buffer.compression = Compression{wire::CompressionMethod::kZstd, item_size};
  return draft.sealed(key);
}

// The content of the first buffer, or the error of decompressing it.
inline Result<Bytes> first_buffer(const Bytes& envelope) {
  const Result<Envelope> opened = open_whole(envelope);
  if (!opened) return tl::unexpected(opened.error());
  const StoredBuffer& row = opened->buffers[0];
  if (!row.compression) return Bytes(row.bytes.begin(), row.bytes.end());
  Bytes content(row.length);
  const Result<void> done =
      decompress_buffer(row, row.bytes, opened->buffers_offset + row.offset, content);
  if (!done) return tl::unexpected(done.error());
  return content;
}

}  // namespace waybill::samples
