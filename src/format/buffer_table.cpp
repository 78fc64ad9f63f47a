// The offset of a buffer follows from the lengths before it. Rows repeat it for readers
// that look up one buffer. See docs/wire_format.md for the bytes.
// Tested by tests/format/buffers_test.cpp, buffer_table_test.cpp and
// compression_test.cpp.

#include "format/buffer_table.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "format/compression.h"
#include "wire/format.h"
#include "wire/utf8.h"

namespace waybill {
namespace envelope {
namespace {

using wire::Reader;
using wire::Token;
using wire::TokenType;

// The largest end of the buffers, far below the range of 64-bit numbers.
constexpr std::uint64_t kBuffersEnd = INT64_MAX;
constexpr std::uint64_t kMaxDimensions = 64;  // As PEP 3118 allows.
// Bytes of the smallest row.
constexpr std::size_t kMinRowSize = 1 + 3 + 2 + kPlainDigest + 4;

constexpr std::uint64_t aligned(std::uint64_t offset) {
  return (offset + wire::kBufferAlignment - 1) / wire::kBufferAlignment *
         wire::kBufferAlignment;
}

bool read_kind(Reader& reader, wire::BufferKind& kind) {
  const std::size_t offset = reader.offset();
  std::uint64_t number = 0;
  if (!reader.read_unsigned(number, UINT64_MAX, "the kind of a stored buffer")) {
    return false;
  }
  kind = static_cast<wire::BufferKind>(number);
  return number <= static_cast<std::uint64_t>(wire::BufferKind::kSource) ||
         reader.fail(
             ErrorCode::kUnknownTag, offset,
             "kind " + std::to_string(number) +
                 " of a stored buffer is unknown; read it with a newer waybill");
}

// `expected`: the only valid offset of the buffer.
bool read_extent(Reader& reader, std::uint64_t expected, StoredBuffer& row) {
  const std::size_t offset = reader.offset();
  if (!reader.read_unsigned(row.offset, UINT64_MAX, "the offset of a stored buffer")) {
    return false;
  }
  if (row.offset != expected) {
    return reader.fail(ErrorCode::kMalformed, offset,
                       "a stored buffer at " + std::to_string(row.offset) +
                           " should be at " + std::to_string(expected) +
                           ", the next multiple of 64");
  }
  const std::size_t length_offset = reader.offset();
  if (!reader.read_unsigned(row.length, UINT64_MAX, "the length of a stored buffer")) {
    return false;
  }
  if (row.length == 0) {
    return reader.fail(ErrorCode::kMalformed, length_offset,
                       "a stored buffer should have at least one byte");
  }
  return (row.offset <= kBuffersEnd && row.length <= kBuffersEnd - row.offset) ||
         reader.fail(ErrorCode::kMalformed, length_offset,
                     "stored buffers should end before 2^63");
}

bool read_buffer_digest(Reader& reader, BytesView& digest) {
  const std::size_t offset = reader.offset();
  if (!reader.read_binary(digest, "the digest of a stored buffer")) return false;
  return digest.size() == kPlainDigest || digest.size() == kStrongDigest ||
         reader.fail(
             ErrorCode::kMalformed, offset,
             "the digest of a stored buffer should have 8 bytes, or 32 where the "
             "envelope is signed");
}

bool read_format(Reader& reader, std::string_view& format) {
  if (reader.read_nil()) return true;
  const std::size_t offset = reader.offset();
  if (!reader.read_text(format, "the format of a stored buffer")) return false;
  return wire::is_utf8(format) ||
         reader.fail(ErrorCode::kMalformed, offset, "text is not UTF-8");
}

bool read_shape(Reader& reader, std::vector<std::uint64_t>& shape) {
  if (reader.read_nil()) return true;
  const std::size_t offset = reader.offset();
  std::uint64_t count = 0;
  if (!reader.read_array(count, "the shape of a stored buffer")) return false;
  if (count > kMaxDimensions) {
    return reader.fail(ErrorCode::kMalformed, offset,
                       "a stored buffer of " + std::to_string(count) +
                           " dimensions should have at most " +
                           std::to_string(kMaxDimensions));
  }
  shape.resize(count);
  return std::ranges::all_of(shape, [&](std::uint64_t& extent) {
    return reader.read_unsigned(extent, UINT64_MAX, "an extent of a stored buffer");
  });
}

bool read_order(Reader& reader, bool& is_fortran) {
  Token token;
  if (!reader.next(token)) return false;
  if (token.type != TokenType::kBoolean) {
    return reader.fail(ErrorCode::kMalformed, token.offset,
                       "the Fortran order of a stored buffer should be a boolean");
  }
  is_fortran = token.integer != 0;
  return true;
}

bool read_row(Reader& reader, std::uint64_t expected, StoredBuffer& row) {
  std::uint64_t more = 0;
  return reader.read_row(wire::kBufferFieldCount, more, "a row of the table of buffers",
                         "a row of the table of buffers has eight fields") &&
         read_kind(reader, row.kind) && read_extent(reader, expected, row) &&
         read_buffer_digest(reader, row.digest) && read_compression(reader, row) &&
         read_format(reader, row.format) && read_shape(reader, row.shape) &&
         read_order(reader, row.is_fortran) && reader.skip_values(more);
}

}  // namespace

BufferDigest::BufferDigest(std::size_t size) {
  if (size == kStrongDigest) strong_.emplace();
}

void BufferDigest::write(std::uint8_t* at) const {
  if (!strong_) {
    std::ranges::copy(plain_.digest(), at);
    return;
  }
  // hash() ends the stream, so a copy is hashed.
  base::StrongHashStream whole = *strong_;
  std::ranges::copy(whole.hash(), at);
}

bool RowDigest::fits() const {
  std::array<std::uint8_t, kStrongDigest> computed;
  digest_.write(computed.data());
  return std::ranges::equal(BytesView(computed).first(row_.digest.size()), row_.digest);
}

bool read_buffer_table(Reader& reader, std::vector<StoredBuffer>& buffers) {
  const std::size_t offset = reader.offset();
  std::uint64_t count = 0;
  if (!reader.read_array(count, "the table of buffers")) return false;
  if (count == 0) {
    return reader.fail(ErrorCode::kMalformed, offset,
                       "a table of buffers should have one row or more; without "
                       "buffers there should be no table");
  }
  buffers.reserve(std::min<std::uint64_t>(count, reader.left() / kMinRowSize));
  std::uint64_t expected = 0;
  for (; count != 0; --count) {
    StoredBuffer& row = buffers.emplace_back();
    if (!read_row(reader, expected, row)) return false;
    expected = aligned(row.offset + row.stored_length);
  }
  return true;
}

bool check_digest_sizes(Reader& reader, BytesView bytes,
                        std::span<const StoredBuffer> buffers, bool is_signed) {
  const std::size_t size = is_signed ? kStrongDigest : kPlainDigest;
  const auto wrong = std::ranges::find_if(
      buffers, [&](const StoredBuffer& row) { return row.digest.size() != size; });
  if (wrong == buffers.end()) return true;
  constexpr std::size_t kHead = 2;  // The shortest binary head of that length.
  return reader.fail(
      ErrorCode::kMalformed,
      static_cast<std::size_t>(wrong->digest.data() - bytes.data()) - kHead,
      is_signed ? "the digest of a stored buffer should have 32 bytes in an envelope "
                  "that is signed"
                : "the digest of a stored buffer should have 8 bytes in an envelope "
                  "that is not signed");
}

std::size_t size_after_head(std::size_t head_size,
                            std::span<const StoredBuffer> buffers) {
  if (buffers.empty()) return 0;
  return head_padding(head_size) + buffers.back().offset +
         buffers.back().stored_length + wire::kBufferTrailer;
}

std::size_t buffer_table_bound(std::span<const BufferParts> buffers) {
  constexpr std::size_t kNumber = 9;
  constexpr std::size_t kHead = 5;
  constexpr std::size_t kCompression = 1 + 1 + kNumber + 1;
  constexpr std::size_t kRow =
      1 + 1 + 2 * kNumber + 2 + kStrongDigest + kCompression + kHead + kHead + 1;
  std::size_t bound = kHead;
  for (const BufferParts& buffer : buffers) {
    bound += kRow + buffer.format.size() + buffer.shape.size() * kNumber;
  }
  return bound;
}

void write_buffer_table(wire::CursorWriter& writer,
                        std::span<const BufferParts> buffers, std::size_t digest_size,
                        std::vector<std::uint8_t*>& digests) {
  constexpr std::array<std::uint8_t, kStrongDigest> kPlaceholder{};
  digests.reserve(buffers.size());
  std::uint64_t offset = 0;
  writer.array(buffers.size());
  for (const BufferParts& buffer : buffers) {
    writer.array(wire::kBufferFieldCount);
    writer.unsigned_integer(static_cast<std::uint64_t>(buffer.kind));
    writer.unsigned_integer(offset);
    writer.unsigned_integer(buffer.compression ? buffer.length : buffer.bytes.size());
    writer.binary_head(digest_size);
    digests.push_back(writer.at());
    writer.append(BytesView(kPlaceholder).first(digest_size));
    write_compression(writer, buffer);
    buffer.format.empty() ? writer.nil() : writer.text(buffer.format);
    if (buffer.shape.empty()) {
      writer.nil();
    } else {
      writer.array(buffer.shape.size());
      for (const std::uint64_t extent : buffer.shape) writer.unsigned_integer(extent);
    }
    writer.boolean(buffer.is_fortran);
    offset = aligned(offset + buffer.bytes.size());
  }
}

void write_digest(std::uint8_t* at, std::size_t digest_size, BytesView bytes) {
  BufferDigest digest(digest_size);
  digest.add(bytes);
  digest.write(at);
}

std::size_t buffers_bound(std::span<const BufferParts> buffers) {
  if (buffers.empty()) return 0;
  std::size_t bound = wire::kBufferTrailer;
  for (const BufferParts& buffer : buffers) {
    bound += wire::kBufferAlignment - 1 + buffer.bytes.size();
  }
  return bound;
}

std::uint8_t* pad(const std::uint8_t* begin, std::uint8_t* at) {
  const std::size_t padding = head_padding(static_cast<std::size_t>(at - begin));
  std::memset(at, 0, padding);
  return at + padding;
}

std::uint8_t* write_buffer(const std::uint8_t* begin, std::uint8_t* at,
                           BytesView bytes) {
  at = pad(begin, at);
  std::memmove(at, bytes.data(), bytes.size());
  return at + bytes.size();
}

std::uint8_t* write_trailer(std::uint8_t* at, std::size_t head_size) {
  const std::uint64_t number = wire::swapped(head_size);
  static_assert(sizeof number == wire::kBufferTrailer);
  std::memcpy(at, &number, sizeof number);
  return at + sizeof number;
}

BytesView claimed_head(BytesView envelope) {
  if (envelope.size() < wire::kBufferTrailer) return {};
  const std::size_t end = envelope.size() - wire::kBufferTrailer;
  const std::uint64_t size =
      wire::read_big_endian(&envelope[end], wire::kBufferTrailer);
  return size < end ? envelope.first(static_cast<std::size_t>(size)) : BytesView();
}

void rewrite_buffer_table(wire::Writer& writer, const Envelope& envelope,
                          std::size_t digest_size) {
  const std::size_t start =
      envelope.debug_info.offset + envelope.debug_info.bytes.size();
  const BytesView table = envelope.bytes.subspan(start);
  Reader reader(table);
  std::uint64_t count = 0;
  reader.read_array(count, {});  // open() has checked all of this.
  std::size_t written = 0;
  for (const StoredBuffer& row : envelope.buffers) {
    reader.read_array(count, {});
    constexpr auto kDigest = static_cast<std::uint64_t>(wire::BufferField::kDigest);
    reader.skip_values(kDigest);
    writer.append(table.subspan(written, reader.offset() - written));
    if (row.digest.size() == digest_size) {
      writer.binary(row.digest);
    } else {
      std::array<std::uint8_t, kStrongDigest> digest;
      write_digest(digest.data(), digest_size, row.bytes);
      writer.binary(BytesView(digest).first(digest_size));
    }
    reader.skip();
    written = reader.offset();
    reader.skip_values(count - kDigest - 1);
  }
  writer.append(table.subspan(written, reader.offset() - written));
}

void append_buffers(std::vector<std::uint8_t>& out,
                    std::span<const StoredBuffer> buffers) {
  if (buffers.empty()) return;
  const std::size_t head_size = out.size();
  out.resize(head_size + size_after_head(head_size, buffers));
  std::uint8_t* at = out.data() + head_size;
  for (const StoredBuffer& row : buffers) at = write_buffer(out.data(), at, row.bytes);
  write_trailer(at, head_size);
}

}  // namespace envelope

Result<void> attach_buffers(Envelope& head, BytesView bytes) {
  const auto fail = [](ErrorCode code, std::size_t offset, std::string detail) {
    return tl::unexpected(Error{code, offset, std::move(detail)});
  };
  if (head.buffers.empty()) return {};
  if (bytes.size() < head.size) {
    return fail(ErrorCode::kTruncated, bytes.size(),
                "stored buffers end at " + std::to_string(head.size) +
                    ", and the input has " + std::to_string(bytes.size()) + " bytes");
  }
  std::size_t end = head.bytes.size();  // End of the bytes checked so far.
  for (StoredBuffer& row : head.buffers) {
    const std::size_t start = head.buffers_offset + row.offset;
    const BytesView padding = bytes.subspan(end, start - end);
    const auto wrong =
        std::ranges::find_if(padding, [](auto byte) { return byte != 0; });
    if (wrong != padding.end()) {
      return fail(ErrorCode::kMalformed,
                  end + static_cast<std::size_t>(wrong - padding.begin()),
                  "bytes before a stored buffer should be 0");
    }
    end = start + row.stored_length;
    row.bytes = bytes.subspan(start, row.stored_length);
  }
  const std::uint64_t head_size =
      wire::read_big_endian(&bytes[end], wire::kBufferTrailer);
  if (head_size == head.bytes.size()) return {};
  return fail(ErrorCode::kMalformed, end,
              "the last number of the envelope is " + std::to_string(head_size) +
                  " and should be the size of its head, " +
                  std::to_string(head.bytes.size()));
}

Result<void> check_buffer(const StoredBuffer& row, BytesView bytes,
                          std::uint64_t offset,
                          const std::function<void(std::uint64_t)>& progress) {
  constexpr std::size_t kPart = 16 << 20;
  envelope::RowDigest digest(row);
  bool fits = bytes.size() == row.stored_length;
  for (std::size_t at = 0; fits && at < bytes.size();) {
    const std::size_t size = std::min(bytes.size() - at, kPart);
    digest.add(bytes.subspan(at, size));
    at += size;
    if (progress) progress(at);
  }
  fits = fits && digest.fits();
  if (fits) return {};
  return tl::unexpected(Error{ErrorCode::kDigestMismatch,
                              static_cast<std::size_t>(offset),
                              "the bytes of a stored buffer are not those that were "
                              "sealed; send them again"});
}

Result<void> check_buffers(const Envelope& envelope,
                           const std::function<void(std::uint64_t)>& progress) {
  for (const StoredBuffer& row : envelope.buffers) {
    const std::uint64_t offset = envelope.buffers_offset + row.offset;
    std::function<void(std::uint64_t)> show;
    if (progress) show = [&](std::uint64_t done) { progress(offset + done); };
    Result<void> checked = check_buffer(row, row.bytes, offset, show);
    if (!checked) return checked;
  }
  return {};
}

}  // namespace waybill
