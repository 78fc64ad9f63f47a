#pragma once

// Large buffers stand behind an envelope as they are in memory, or compressed, each at
// a multiple of 64 bytes from its start. The table of buffers, a section of the
// envelope, tells where. All before the first buffer is the *head*: msgpack from the
// first byte to the last. It can be opened, verified and asked about by itself.
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

// How the bytes of a buffer are compressed. They are taken in blocks of 1 MiB, each of
// which becomes a zstd frame.
struct Compression {
  wire::CompressionMethod method{};
  // 1, or 2, 4, 8 or 16: the first bytes of all items of a block of that size stand
  // before the second bytes, and so on. Numbers that are alike compress better so.
  std::uint8_t item_size = 1;
};

// One row of the table of buffers. Views point into the bytes that were opened.
struct StoredBuffer {
  wire::BufferKind kind{};
  // Its first byte, counted from the start of the buffers.
  std::uint64_t place = 0;
  // Bytes of the buffer in memory, and behind the head: fewer, if it is compressed.
  std::uint64_t length = 0;
  std::uint64_t stored_length = 0;
  // 8 bytes of XXH3-64, or in a signed envelope 32 of BLAKE2b: a signature covers the
  // table, and through these the buffers. Of the bytes behind the head, so that they
  // are checked before they are decompressed, and by who does not decompress them.
  BytesView digest;
  std::optional<Compression> compression = {};
  // Of an item, as PEP 3118 spells it ("d", ">i4"); empty if nothing is known of it.
  std::string_view format;
  std::vector<std::uint64_t> shape;
  bool is_fortran = false;  // The first index varies fastest.
  // Those behind the head. Empty if only the head was opened.
  BytesView bytes;
};

// What seal() makes a row and a buffer of: one byte or more. The last two are set by
// compress_buffer().
struct BufferParts {
  wire::BufferKind kind{};
  BytesView bytes;
  std::string_view format = {};
  std::span<const std::uint64_t> shape = {};
  bool is_fortran = false;
  std::optional<Compression> compression = {};
  std::uint64_t length = 0;
};

// How many bytes compress_buffer() writes at most for a buffer of this size. What takes
// more is not worth the time that reading it takes.
constexpr std::size_t compression_bound(std::size_t size) { return size - size / 16; }

// The levels of zstd that are taken. Those below 0 compress less, and faster.
inline constexpr int kFastestLevel = -7, kSmallestLevel = 19;

// Compresses the bytes of a buffer to `out`, by zstd at one of these levels, or the
// nearest; 0 is as 1. Makes the buffer one of these bytes, which have to stay.
// Returns how many they are. Leaves a buffer that gains too little, or is compressed
// already, as it is, and returns 0.
//
// The size of an item is what shape and length say. Whether to sort bytes by their
// place in it, samples tell. Equal buffers become equal bytes with one release of
// libzstd. Throws std::bad_alloc. Cost: some MB of memory at low levels, some ten at
// high ones, for any size.
std::size_t compress_buffer(BufferParts& buffer, int level, std::uint8_t* out);

// Whether these bytes are those that the row's digest was made of: kDigestMismatch,
// with `offset`, if not. Tells every 16 MiB how many bytes have been looked at: for
// people who wait. What `progress` throws goes through. Cost: one pass over them.
[[nodiscard]] Result<void> check_buffer(
    const StoredBuffer& row, BytesView bytes, std::uint64_t offset,
    const std::function<void(std::uint64_t)>& progress = nullptr);

// Decompresses the bytes of a buffer that is compressed to `out`, which has as many
// bytes as row.length says. The digest is compared before that, and again with what was
// decompressed, since others may write to `bytes` meanwhile.
//
// Errors: kDigestMismatch, kMalformed for what is not compressed as the row says; `out`
// may have been written to then. Throws std::bad_alloc.
// Cost: one pass over each, and 3 MB of memory for any size.
[[nodiscard]] Result<void> decompress_buffer(const StoredBuffer& row, BytesView bytes,
                                             std::uint64_t offset,
                                             std::span<std::uint8_t> out);

}  // namespace waybill
