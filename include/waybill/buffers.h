#pragma once

// Large buffers stand behind an envelope as they are in memory, each at a multiple of
// 64 bytes from its start. The table of buffers, a section of the envelope, tells
// where. All before the first buffer is the *head*: msgpack from the first byte to the
// last. It can be opened, verified and asked about by itself.
//
//   [ head: header … payload, table, digest, signature ] pad [ buffer ] pad [ buffer ]
//   [ head's size ]

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "waybill/bytes.h"
#include "waybill/error.h"

namespace waybill {

namespace wire {
enum class BufferKind : std::uint8_t;
}

// One row of the table of buffers. Views point into the bytes that were opened.
struct StoredBuffer {
  wire::BufferKind kind{};
  // Its first byte, counted from the start of the buffers, and how many there are.
  std::uint64_t place = 0;
  std::uint64_t length = 0;
  // 8 bytes of XXH3-64, or in a signed envelope 32 of BLAKE2b: a signature covers the
  // table, and through these the buffers.
  BytesView digest;
  // Of an item, as PEP 3118 spells it ("d", ">i4"); empty if nothing is known of it.
  std::string_view format;
  std::vector<std::uint64_t> shape;
  bool is_fortran = false;  // The first index varies fastest.
  // Empty if only the head was opened.
  BytesView bytes;
};

// What seal() makes a row and a buffer of: one byte or more.
struct BufferParts {
  wire::BufferKind kind{};
  BytesView bytes;
  std::string_view format = {};
  std::span<const std::uint64_t> shape = {};
  bool is_fortran = false;
};

// Whether these bytes are those that the row's digest was made of: kDigestMismatch,
// with `offset`, if not. Cost: one pass over them.
[[nodiscard]] Result<void> check_buffer(const StoredBuffer& row, BytesView bytes,
                                        std::uint64_t offset);

}  // namespace waybill
