#pragma once

// Compression of stored buffers: what a row of the table of buffers says of it, and the
// blocks of a compressed buffer.

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

// Reads the field of a row whose length was read: sets compression and stored length.
// False when the reader has an error.
bool read_compression(wire::Reader& reader, StoredBuffer& row);

void write_compression(wire::CursorWriter& writer, const BufferParts& buffer);

// Whether `frame` starts with a frame of so many bytes, in the one form that frames
// have here.
bool is_frame_start(BytesView frame, std::size_t content_size);

// Reads a compressed buffer block by block.
//
// Takes the frames of a row one after the other. Each is copied before anything is made
// of it, so that what is decompressed is what the digest at the end is made of, even if
// somebody writes to the bytes meanwhile. Throws std::bad_alloc.
class CompressedBlocks {
 public:
  // `row` is compressed, and both outlive this; `offset` is where the bytes are in the
  // envelope.
  CompressedBlocks(const StoredBuffer& row, BytesView bytes, std::uint64_t offset);

  // Decompresses the next block to `out`, which has as many bytes as the block: as
  // wire::kCompressedBlock says, or what is left of row.length.
  Result<void> next(std::span<std::uint8_t> out);

  // Whether the frames end where the bytes do, and have the digest of the row.
  Result<void> finish();

 private:
  struct Free {
    void operator()(ZSTD_DCtx_s* context) const;
  };

  Result<void> fail(const char* detail) const;

  const StoredBuffer& row_;
  BytesView bytes_;
  std::uint64_t offset_;
  std::size_t at_ = 0;
  std::unique_ptr<ZSTD_DCtx_s, Free> context_;
  std::vector<std::uint8_t> frame_;
  std::vector<std::uint8_t> shuffled_;
  RowDigest digest_;
};

// --- The order of bytes in a block: sorting the bytes of items by their position in
// the item places signs and exponents of similar numbers side by side.

// Writes as many bytes to `out`: the first byte of each item, then the second of each,
// and so on; at last what is no whole item, as it is. `item_size`: 2, 4, 8 or 16.
void shuffle(BytesView items, std::uint8_t item_size, std::uint8_t* out);

// Undoes that.
void unshuffle(BytesView bytes, std::uint8_t item_size, std::uint8_t* out);

}  // namespace waybill::envelope
