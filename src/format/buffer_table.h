#pragma once

// The table of buffers, and the bytes after the head of an envelope: each buffer at
// its offset, zeros between them, and the size of the head. See waybill/buffers.h.

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/hash.h"
#include "waybill/envelope.h"
#include "wire/reader.h"
#include "wire/writer.h"

namespace waybill::envelope {

// Sizes of digests. A signature covers only the table, so a signed table has digests
// that an attacker cannot forge.
inline constexpr std::size_t kPlainDigest = 8;
inline constexpr std::size_t kStrongDigest = 32;

class BufferDigest {
 public:
  // `size`: kPlainDigest for XXH3, or kStrongDigest for BLAKE2b.
  explicit BufferDigest(std::size_t size);

  void add(BytesView bytes) { strong_ ? strong_->add(bytes) : plain_.add(bytes); }
  // Writes the digest. More bytes may be added afterwards.
  void write(std::uint8_t* at) const;

 private:
  base::DigestStream plain_;
  std::optional<base::StrongHashStream> strong_;
};

// A digest to compare with that of a row.
class RowDigest {
 public:
  // `row` must outlive this.
  explicit RowDigest(const StoredBuffer& row) : row_(row), digest_(row.digest.size()) {}

  void add(BytesView bytes) { digest_.add(bytes); }
  // Whether the bytes added have the digest of the row.
  bool fits() const;

 private:
  const StoredBuffer& row_;
  BufferDigest digest_;
};

// Writers of payloads store buffers of at least this size.
inline constexpr std::size_t kMinStoredSize = 64 << 10;

// Reads the section. Returns false with an error in the reader.
bool read_buffer_table(wire::Reader& reader, std::vector<StoredBuffer>& buffers);

// Checks that the digests have the size for a signed or an unsigned envelope. `bytes`
// is the input that they point into. Returns false with an error in the reader.
bool check_digest_sizes(wire::Reader& reader, BytesView bytes,
                        std::span<const StoredBuffer> buffers, bool is_signed);

// The number of bytes after a head of this size with this table.
std::size_t size_after_head(std::size_t head_size,
                            std::span<const StoredBuffer> buffers);

// An upper bound of what write_buffer_table() writes.
std::size_t buffer_table_bound(std::span<const BufferParts> buffers);
// Writes the table with room for digests of `digest_size` bytes, and appends their
// addresses to `digests`.
void write_buffer_table(wire::CursorWriter& writer,
                        std::span<const BufferParts> buffers, std::size_t digest_size,
                        std::vector<std::uint8_t*>& digests);

// Writes the digest of `bytes`, of one of the two sizes above.
void write_digest(std::uint8_t* at, std::size_t digest_size, BytesView bytes);

// An upper bound of the bytes after a head with these buffers.
std::size_t buffers_bound(std::span<const BufferParts> buffers);
// Writes the zeros before a buffer. `begin`: the start of the envelope. Returns the
// end.
std::uint8_t* pad(const std::uint8_t* begin, std::uint8_t* at);
// Writes the zeros and the buffer, whose bytes may overlap the target if they lie after
// it.
std::uint8_t* write_buffer(const std::uint8_t* begin, std::uint8_t* at,
                           BytesView bytes);
// Writes the bytes after the last buffer. Returns the end.
std::uint8_t* write_trailer(std::uint8_t* at, std::size_t head_size);

// The head of an envelope by the size in its last bytes, which is not checked. Empty if
// the size is impossible.
BytesView claimed_head(BytesView envelope);

// Writes the table of an envelope with attached buffers again, with digests of this
// size. All other fields stay.
void rewrite_buffer_table(wire::Writer& writer, const Envelope& envelope,
                          std::size_t digest_size);
// Appends the buffers and the trailer to a head, which is all that `out` holds.
void append_buffers(std::vector<std::uint8_t>& out,
                    std::span<const StoredBuffer> buffers);

}  // namespace waybill::envelope
