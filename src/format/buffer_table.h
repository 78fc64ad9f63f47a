#pragma once

// The table of buffers, and what stands behind the head of an envelope: each buffer at
// its place, zeros between them, and the size of the head. See waybill/buffers.h.

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

// A signature covers the table alone, so that the digests of a signed one have to stop
// those who want to deceive.
inline constexpr std::size_t kPlainDigest = 8;
inline constexpr std::size_t kStrongDigest = 32;

class BufferDigest {
 public:
  // Of so many bytes: those of XXH3, or kStrongDigest.
  explicit BufferDigest(std::size_t size);

  void add(BytesView bytes) { strong_ ? strong_->add(bytes) : plain_.add(bytes); }
  // Writes it. More may be added after that.
  void write(std::uint8_t* at) const;

 private:
  base::DigestStream plain_;
  std::optional<base::StrongHashStream> strong_;
};

// The same, to be compared.
class RowDigest {
 public:
  // `row` must outlive this.
  explicit RowDigest(const StoredBuffer& row) : row_(row), digest_(row.digest.size()) {}

  void add(BytesView bytes) { digest_.add(bytes); }
  // Whether it is that of the row.
  bool fits() const;

 private:
  const StoredBuffer& row_;
  BufferDigest digest_;
};

// From so many bytes on those who write payloads store a buffer.
inline constexpr std::size_t kLeastStored = 64 << 10;

// Reads the section. False when the reader has an error.
bool read_buffer_table(wire::Reader& reader, std::vector<StoredBuffer>& buffers);

// Whether the digests are of the size that a signed table has, or one that is not.
// `bytes`: those that the digests point into.
bool check_digest_sizes(wire::Reader& reader, BytesView bytes,
                        std::span<const StoredBuffer> buffers, bool is_signed);

// How many bytes stand behind a head of this size with this table.
std::size_t size_behind_head(std::size_t head_size,
                             std::span<const StoredBuffer> buffers);

// At least as many bytes as write_buffer_table() writes.
std::size_t buffer_table_bound(std::span<const BufferParts> buffers);
// Leaves room for the digests, and tells where: each is as long as `digest_size` says.
void write_buffer_table(wire::CursorWriter& writer,
                        std::span<const BufferParts> buffers, std::size_t digest_size,
                        std::vector<std::uint8_t*>& digests);

// Writes the digest of these bytes, one of the two sizes above.
void write_digest(std::uint8_t* at, std::size_t digest_size, BytesView bytes);

// At least as many bytes as stand behind a head with these buffers.
std::size_t buffers_bound(std::span<const BufferParts> buffers);
// Writes the zeros before a buffer. `begin`: of the envelope. Returns the end.
std::uint8_t* pad(const std::uint8_t* begin, std::uint8_t* at);
// The same, and the buffer, whose bytes may lie behind that place already.
std::uint8_t* write_buffer(const std::uint8_t* begin, std::uint8_t* at,
                           BytesView bytes);
// What follows the last buffer. Returns the end.
std::uint8_t* write_trailer(std::uint8_t* at, std::size_t head_size);

// The head of an envelope, as far as its last bytes tell, which nobody has checked.
// Empty if they tell none.
BytesView named_head(BytesView envelope);

// The table of an envelope whose buffers are there, written again with digests of that
// size. All else in it stays.
void rewrite_buffer_table(wire::Writer& writer, const Envelope& envelope,
                          std::size_t digest_size);
// Appends what stands behind a head, which is all that `out` holds.
void append_buffers(std::vector<std::uint8_t>& out,
                    std::span<const StoredBuffer> buffers);

}  // namespace waybill::envelope
