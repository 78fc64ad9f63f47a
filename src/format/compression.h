#pragma once

// Compression of stored buffers: the field of a row, and the blocks of a compressed
// buffer.

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "format/buffer_table.h"
#include "waybill/buffers.h"
#include "wire/reader.h"
#include "wire/writer.h"

struct ZSTD_DCtx_s;

namespace waybill::envelope {

// Reads the compression of a row whose length is set, and sets its stored length.
// Returns false with an error in the reader.
bool read_compression(wire::Reader& reader, StoredBuffer& row);

void write_compression(wire::CursorWriter& writer, const BufferParts& buffer);

// Whether `frame` starts with a frame of `content_size` bytes, in the one form that
// waybill accepts (compression.cpp).
bool is_frame_start(BytesView frame, std::size_t content_size);

// Reads a compressed buffer block by block.
//
// Each frame is copied before it is decompressed, so the digest is of exactly the bytes
// that were decompressed, even if another thread writes to them meanwhile. Throws
// std::bad_alloc.
class CompressedBlocks {
 public:
  // `row` must be compressed. Row and bytes must outlive this; `offset` is the offset
  // of the bytes in the envelope.
  CompressedBlocks(const StoredBuffer& row, BytesView bytes, std::uint64_t offset);

  // Decompresses the next block to `out`, which has the size of the block:
  // wire::kCompressedBlock, or the rest of row.length for the last block.
  Result<void> next(std::span<std::uint8_t> out);

  // Checks that the frames end where the bytes do, and have the digest of the row.
  Result<void> finish();

 private:
  struct ContextDeleter {
    void operator()(ZSTD_DCtx_s* context) const;
  };

  Result<void> fail(const char* detail) const;

  const StoredBuffer& row_;
  BytesView bytes_;
  std::uint64_t offset_;
  std::size_t at_ = 0;
  std::unique_ptr<ZSTD_DCtx_s, ContextDeleter> context_;
  std::vector<std::uint8_t> frame_;
  std::vector<std::uint8_t> shuffled_;
  RowDigest digest_;
};

// --- The order of bytes in a block: sorting the bytes of items by their position in
// the item places signs and exponents of similar numbers side by side.

// Writes the first byte of each item to `out`, then the second of each, and so on; an
// incomplete last item is copied unchanged. `item_size`: 2, 4, 8 or 16.
void shuffle(BytesView items, std::uint8_t item_size, std::uint8_t* out);

// The inverse of shuffle().
void unshuffle(BytesView bytes, std::uint8_t item_size, std::uint8_t* out);

}  // namespace waybill::envelope
