// See docs/wire_format.md for the bytes. Tested by tests/format/envelope_test.cpp and
// frame_test.cpp.

#include "format/frame.h"

#include <algorithm>
#include <string>

#include "base/hash.h"
#include "format/buffer_table.h"
#include "format/code_body.h"
#include "format/definitions.h"
#include "format/manifest_codec.h"
#include "wire/format.h"

namespace waybill::envelope {
namespace {

using wire::kEmptyArray;
using wire::kEmptyMap;
using wire::Reader;
using wire::Token;
using wire::TokenType;

constexpr std::uint64_t kCodeEntryLength = 2;
constexpr std::string_view kMark(wire::kMark, sizeof wire::kMark);

// Input that is not an envelope at all gets an error of its own, so that people who
// pass a pickle or a path do not read about its third byte in msgpack.
bool read_mark(Reader& reader, std::uint64_t& sections, std::uint64_t& fields) {
  std::size_t offset = reader.offset();
  std::string_view mark;
  if (reader.read_array(sections, {}) && sections != 0) {
    offset = reader.offset();
    if (reader.read_array(fields, {}) && fields >= 2) {
      offset = reader.offset();
      if (reader.read_text(mark, {}) && mark == kMark) return true;
    }
  }
  return reader.fail_as(
      ErrorCode::kNotAnEnvelope, offset,
      "the input does not start as an envelope does, with [[\"wb\", 1, …");
}

bool check_version(Reader& reader, std::size_t offset, std::uint32_t version) {
  return version == kFormatVersion ||
         reader.fail(ErrorCode::kUnknownFormat, offset,
                     "format version " + std::to_string(version) +
                         ", and this reader knows 1; read it with a newer waybill");
}

// A value other than bin is not meant for this field, and is skipped like those of
// later formats.
bool read_application(Reader& reader, BytesView& application) {
  Reader ahead = reader;
  Token token;
  if (ahead.next(token) && token.type == TokenType::kBinary) application = token.bytes;
  return reader.skip();
}

bool read_code_entry(Reader& reader, CodeBody& body) {
  std::uint64_t more = 0;
  std::uint64_t length = 0;
  if (!reader.read_row(kCodeEntryLength, more, "an entry of the code section",
                       "an entry of the code section has a length and a body") ||
      !reader.read_unsigned(length, UINT32_MAX, "the length of a code body")) {
    return false;
  }
  body.offset = reader.offset();
  if (!reader.take(body.bytes, length)) return false;
  body.hash = base::content_hash_of(body.bytes);
  return reader.skip_values(more);
}

using Digest = std::array<std::uint8_t, 8>;

bool read_digest_and_signature(Reader& reader, BytesView bytes, Digest& expected,
                               BytesView& signature) {
  const std::size_t offset = reader.offset();
  const std::size_t covered = bytes.size() - reader.left();
  BytesView digest;
  if (!reader.read_binary(digest, "the digest")) return false;
  if (digest.size() != expected.size()) {
    return reader.fail(ErrorCode::kMalformed, offset, "a digest should have 8 bytes");
  }
  expected = base::digest_of(bytes.first(covered));
  if (!std::ranges::equal(digest, expected)) {
    return reader.fail(ErrorCode::kDigestMismatch, offset,
                       "the bytes before the digest are not those that were sealed; "
                       "send them again");
  }
  return reader.read_nil() || reader.read_binary(signature, "a signature");
}

// The size of the envelope with all buffers decompressed.
std::uint64_t size_decompressed(const Envelope& envelope) {
  std::uint64_t size = envelope.size;
  for (const StoredBuffer& row : envelope.buffers) {
    // Rows may claim any length, so the sum saturates.
    size += std::min(row.length - row.stored_length, UINT64_MAX - size);
  }
  return size;
}

}  // namespace

bool read_header(Reader& reader, PythonVersion& python, BytesView& application,
                 bool& has_buffers) {
  const std::size_t start = reader.offset();
  std::uint64_t sections = 0;
  std::uint64_t fields = 0;
  if (!read_mark(reader, sections, fields)) return false;
  const std::size_t version_offset = reader.offset();
  std::uint32_t version = 0;
  if (!read_number(reader, version, UINT32_MAX, "the format version") ||
      !check_version(reader, version_offset, version)) {
    return false;
  }
  has_buffers = sections == wire::kSectionCountWithBuffers;
  if ((!has_buffers && sections != wire::kSectionCount) ||
      fields < wire::kHeaderFieldCount) {
    return reader.fail(
        ErrorCode::kMalformed, start,
        "an envelope should have nine sections, or ten with stored buffers, "
        "and its header five fields");
  }
  if (!read_number(reader, python.major, UINT32_MAX, "Python's major version") ||
      !read_number(reader, python.minor, UINT32_MAX, "Python's minor version") ||
      !read_number(reader, python.magic, UINT32_MAX, "the bytecode magic")) {
    return false;
  }
  if (fields == wire::kHeaderFieldCount) return true;
  return read_application(reader, application) &&
         reader.skip_values(fields - wire::kHeaderFieldCount - 1);
}

bool read_code(Reader& reader, std::vector<CodeBody>& code) {
  constexpr std::size_t kMinEntrySize = 3;
  const auto read = [&](CodeBody& body) { return read_code_entry(reader, body); };
  return reader.read_list(code, "the code section", read, kMinEntrySize);
}

bool read_shared(Reader& reader, std::vector<std::uint64_t>& shared) {
  return reader.read_list(shared, "the shared positions", [&](std::uint64_t& position) {
    return reader.read_unsigned(position, UINT64_MAX, "a shared position");
  });
}

bool read_payload(Reader& reader, std::vector<std::uint64_t>& shared,
                  Section& payload) {
  std::uint64_t length = 0;
  if (!read_shared(reader, shared) ||
      !reader.read_unsigned(length, UINT64_MAX, "the length of the payload")) {
    return false;
  }
  payload.offset = reader.offset();
  return reader.take(payload.bytes, length);
}

bool read_end(Reader& reader, BytesView bytes, bool has_buffers, const Limits& limits,
              Envelope& envelope) {
  const std::size_t table = reader.offset();
  if ((has_buffers && !read_buffer_table(reader, envelope.buffers)) ||
      !read_digest_and_signature(reader, bytes, envelope.digest, envelope.signature)) {
    return false;
  }
  const std::size_t head_size = reader.offset();
  envelope.bytes = bytes.first(head_size);
  envelope.size = envelope.buffers_offset = head_size;
  if (!has_buffers) return true;  // open_head() has checked max_bytes.
  envelope.size += size_after_head(head_size, envelope.buffers);
  envelope.buffers_offset += head_padding(head_size);
  const std::uint64_t size = size_decompressed(envelope);
  return check_digest_sizes(reader, bytes, envelope.buffers,
                            !envelope.signature.empty()) &&
         (size <= limits.max_bytes ||
          reader.fail(ErrorCode::kLimitExceeded, table,
                      "the envelope has " + std::to_string(size) +
                          " bytes with its buffers, more than max_bytes allows: " +
                          std::to_string(limits.max_bytes)));
}

bool open_plain(BytesView bytes, const Limits& limits,
                std::vector<std::uint64_t>& shared, Section& payload) {
  // Every value takes a byte at least; the builder counts the depth.
  if (bytes.size() > std::min(limits.max_bytes, limits.max_values)) return false;
  Reader reader(bytes, limits);
  PythonVersion python;
  BytesView application, signature;
  bool has_buffers = false;
  Digest digest;
  return read_header(reader, python, application, has_buffers) && !has_buffers &&
         reader.skip_byte(kEmptyMap) && reader.skip_byte(kEmptyArray) &&
         read_payload(reader, shared, payload) &&
         !begins_with_definitions(payload.bytes) && reader.skip_byte(kEmptyMap) &&
         read_digest_and_signature(reader, bytes, digest, signature) && reader.at_end();
}

Error trailing_bytes(std::size_t end, std::size_t size) {
  return {ErrorCode::kTrailingBytes, end,
          std::to_string(size - end) + " bytes follow the envelope"};
}

}  // namespace waybill::envelope
