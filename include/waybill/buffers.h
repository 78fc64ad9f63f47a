#pragma once

// Large buffers follow the head of an envelope as they are in memory, or compressed,
// each at a multiple of 64 bytes from the start of the envelope. The table of buffers,
// a section of the envelope, gives their offsets. All bytes before the first buffer are
// the *head*: msgpack from the first byte to the last. The head can be opened, verified
// and inspected by itself.
//
//   [ head: header … payload, table, digest, signature ] pad [ buffer ] pad [ buffer ]
//   [ head's size ]

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "waybill/bytes.h"
#include "waybill/error.h"

namespace waybill {

namespace wire {
enum class BufferKind : std::uint8_t;
enum class CompressionMethod : std::uint8_t;
}  // namespace wire

// How the bytes of a buffer are compressed: in blocks of 1 MiB, each a zstd frame.
struct Compression {
  wire::CompressionMethod method{};
  // 1: bytes are in order. 2, 4, 8 or 16: the block is a sequence of items of this
  // size, stored as all first bytes, then all second bytes, and so on. In that order
  // similar numbers compress better.
  std::uint8_t item_size = 1;
};

// One row of the table of buffers. Views point into the bytes that were opened.
struct StoredBuffer {
  wire::BufferKind kind{};
  // Offset of its first byte from the start of the buffers.
  std::uint64_t offset = 0;
  // Size of the buffer in memory.
  std::uint64_t length = 0;
  // Size of its bytes in the envelope: smaller if the buffer is compressed.
  std::uint64_t stored_length = 0;
  // Digest of the stored bytes: 8 bytes of XXH3-64, or 32 of BLAKE2b in a signed
  // envelope, whose signature covers the table and so these digests. It is checked
  // before decompression, and by readers that do not decompress.
  BytesView digest;
  std::optional<Compression> compression = {};
  // Format of an item in PEP 3118 ("d", ">i4"); empty if unknown.
  std::string_view format;
  std::vector<std::uint64_t> shape;
  bool is_fortran = false;  // The first index varies fastest.
  // The stored bytes. Empty if only the head was opened.
  BytesView bytes;
};

// The input of seal() for one stored buffer, whose `bytes` must not be empty.
// compress_buffer() sets the last two members.
struct BufferParts {
  wire::BufferKind kind{};
  BytesView bytes;
  std::string_view format = {};
  std::span<const std::uint64_t> shape = {};
  bool is_fortran = false;
  std::optional<Compression> compression = {};
  std::uint64_t length = 0;
};

// The most bytes that compress_buffer() writes for a buffer of this size. A smaller
// gain is not worth the time of decompression.
constexpr std::size_t compression_bound(std::size_t size) { return size - size / 16; }

// The range of zstd levels, from the fastest to the one with the smallest output.
inline constexpr int kFastestLevel = -7, kSmallestLevel = 19;

// Compresses the bytes of a buffer to `out` by zstd; the level is clamped to the range,
// and 0 means 1. `buffer` then refers to `out`, which must outlive it. Returns the
// compressed size. Leaves a buffer unchanged and returns 0 if it gains too little or is
// compressed already.
//
// Shape and length give the item size; samples decide whether to reorder bytes by it.
// Equal buffers become equal bytes with one release of libzstd. Throws std::bad_alloc.
// Cost: some MB of memory at low levels, tens of MB at high ones, for any size.
std::size_t compress_buffer(BufferParts& buffer, int level, std::uint8_t* out);

// Checks that these bytes have the row's digest; else kDigestMismatch at `offset`.
// Calls `progress` every 16 MiB with the number of bytes checked. Exceptions of
// `progress` propagate. Cost: one pass over the bytes.
[[nodiscard]] Result<void> check_buffer(
    const StoredBuffer& row, BytesView bytes, std::uint64_t offset,
    const std::function<void(std::uint64_t)>& progress = nullptr);

// Decompresses a compressed buffer to `out`, which must have row.length bytes. Checks
// the digest first, and again over the bytes that it decompressed, since other threads
// may write to `bytes` meanwhile.
//
// Errors: kDigestMismatch, kMalformed if the bytes are not compressed as the row says;
// `out` may be partly written then. Throws std::bad_alloc.
// Cost: two passes over `bytes`, one over `out`, and 3 MB of memory for any size.
[[nodiscard]] Result<void> decompress_buffer(const StoredBuffer& row, BytesView bytes,
                                             std::uint64_t offset,
                                             std::span<std::uint8_t> out);

}  // namespace waybill
