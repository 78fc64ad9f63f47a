// Takes envelopes apart. See docs/wire_format.md for the bytes.
// Tested by tests/format/envelope_test.cpp and corruption_test.cpp.

#include "waybill/envelope.h"

#include <algorithm>

#include "base/hash.h"
#include "format/frame.h"
#include "format/manifest_codec.h"
#include "wire/reader.h"

namespace waybill {
namespace {

using wire::Reader;
using wire::Token;
using wire::TokenType;

constexpr std::uint64_t kHeaderLength = wire::kHeaderFieldCount;
constexpr std::uint64_t kCodeEntryLength = 2;
constexpr std::string_view kMark(wire::kMark, sizeof wire::kMark);

bool skip_rest(Reader& reader, std::uint64_t count) {
  while (count-- != 0) {
    if (!reader.skip()) return false;
  }
  return true;
}

// What is no envelope at all gets a name of its own, so that people who pass a pickle
// or a path read that and not what the third byte means in msgpack.
bool read_mark(Reader& reader, std::uint64_t& sections, std::uint64_t& fields) {
  constexpr const char* kDetail =
      "the input does not start as an envelope does, with [[\"wb\", 1, …";
  constexpr std::uint8_t kNoMsgpack = 0xc1;
  if (reader.starts_with(kNoMsgpack)) {
    return reader.fail(ErrorCode::kNotAnEnvelope, reader.offset(), kDetail);
  }
  Token token;
  const auto expect = [&](TokenType type) {
    if (reader.next(token)) {
      return token.type == type ||
             reader.fail(ErrorCode::kNotAnEnvelope, token.offset, kDetail);
    }
    return false;
  };
  if (!expect(TokenType::kArray)) return false;
  sections = token.count;
  if (sections == 0)
    return reader.fail(ErrorCode::kNotAnEnvelope, token.offset, kDetail);
  if (!expect(TokenType::kArray)) return false;
  fields = token.count;
  if (fields < 2) return reader.fail(ErrorCode::kNotAnEnvelope, token.offset, kDetail);
  if (!expect(TokenType::kText)) return false;
  return token.text() == kMark ||
         reader.fail(ErrorCode::kNotAnEnvelope, token.offset, kDetail);
}

// What is no bin was not meant for this field, and is passed over as later ones are.
bool read_application(Reader& reader, BytesView& application) {
  Reader ahead = reader;
  Token token;
  if (ahead.next(token) && token.type == TokenType::kBinary) application = token.bytes;
  return reader.skip();
}

bool read_header(Reader& reader, Envelope& envelope) {
  const std::size_t start = reader.offset();
  std::uint64_t sections = 0;
  std::uint64_t fields = 0;
  if (!read_mark(reader, sections, fields)) return false;
  const std::size_t version_offset = reader.offset();
  std::uint64_t version = 0;
  if (!reader.read_unsigned(version, UINT32_MAX, "the format version")) return false;
  if (version != kFormatVersion) {
    return reader.fail(ErrorCode::kUnknownFormat, version_offset,
                       "format version " + std::to_string(version) +
                           ", and this reader knows 1; a newer waybill wrote it");
  }
  if (sections != wire::kSectionCount || fields < kHeaderLength) {
    return reader.fail(ErrorCode::kMalformed, start,
                       "an envelope has eight sections and its header five fields");
  }
  std::uint64_t major = 0;
  std::uint64_t minor = 0;
  std::uint64_t magic = 0;
  if (!reader.read_unsigned(major, UINT32_MAX, "Python's major version") ||
      !reader.read_unsigned(minor, UINT32_MAX, "Python's minor version") ||
      !reader.read_unsigned(magic, UINT32_MAX, "the bytecode magic")) {
    return false;
  }
  envelope.format_version = static_cast<std::uint32_t>(version);
  envelope.python = {static_cast<std::uint32_t>(major),
                     static_cast<std::uint32_t>(minor),
                     static_cast<std::uint32_t>(magic)};
  if (fields == kHeaderLength) return true;
  return read_application(reader, envelope.application) &&
         skip_rest(reader, fields - kHeaderLength - 1);
}

bool read_code(Reader& reader, std::vector<CodeBody>& code) {
  std::uint64_t count = 0;
  if (!reader.read_array(count, "the code section")) return false;
  code.reserve(std::min<std::uint64_t>(count, reader.left() / 3));
  for (; count != 0; --count) {
    const std::size_t entry_offset = reader.offset();
    std::uint64_t fields = 0;
    std::uint64_t length = 0;
    if (!reader.read_array(fields, "an entry of the code section")) return false;
    if (fields < kCodeEntryLength) {
      return reader.fail(ErrorCode::kMalformed, entry_offset,
                         "an entry of the code section has a length and a body");
    }
    if (!reader.read_unsigned(length, UINT32_MAX, "the length of a code body")) {
      return false;
    }
    CodeBody body;
    body.offset = reader.offset();
    if (!reader.take(body.bytes, length)) return false;
    body.hash = base::content_hash_of(body.bytes);
    code.push_back(body);
    if (!skip_rest(reader, fields - kCodeEntryLength)) return false;
  }
  return true;
}

bool skip_section(Reader& reader, BytesView bytes, Section& section) {
  section.offset = reader.offset();
  if (!reader.skip()) return false;
  section.bytes = bytes.subspan(section.offset, reader.offset() - section.offset);
  return true;
}

bool read_digest(Reader& reader, BytesView bytes, Envelope& envelope) {
  const std::size_t offset = reader.offset();
  BytesView stored;
  if (!reader.read_binary(stored, "the digest")) return false;
  if (stored.size() != envelope.digest.size()) {
    return reader.fail(ErrorCode::kMalformed, offset, "a digest has 8 bytes");
  }
  envelope.digest = base::digest_of(bytes.first(offset));
  return std::equal(stored.begin(), stored.end(), envelope.digest.begin()) ||
         reader.fail(ErrorCode::kDigestMismatch, offset,
                     "the bytes before the digest are not those that were sealed; "
                     "send them again");
}

bool read_signature(Reader& reader, BytesView& signature) {
  Token token;
  if (!reader.next(token)) return false;
  if (token.type == TokenType::kNil) return true;
  if (token.type != TokenType::kBinary) {
    return reader.fail(ErrorCode::kMalformed, token.offset,
                       "the signature should be binary or nil");
  }
  signature = token.bytes;
  return true;
}

}  // namespace

std::string to_string(const PythonVersion& version) {
  return std::to_string(version.major) + "." + std::to_string(version.minor) +
         " (bytecode " + std::to_string(version.magic) + ")";
}

Result<Envelope> open(BytesView bytes, const Limits& limits) {
  // More than the ceiling is never looked at; what seems cut off there is too large.
  const bool clipped = bytes.size() > limits.max_bytes;
  if (clipped) bytes = bytes.first(limits.max_bytes);
  Reader reader(bytes, limits);
  Result<Envelope> result;
  Envelope& envelope = *result;
  if (read_header(reader, envelope) &&
      envelope::read_manifest(reader, envelope.manifest) &&
      read_code(reader, envelope.code) &&
      envelope::read_shared(reader, envelope.shared) &&
      skip_section(reader, bytes, envelope.payload) &&
      skip_section(reader, bytes, envelope.notes) &&
      read_digest(reader, bytes, envelope) &&
      read_signature(reader, envelope.signature)) {
    envelope.size = reader.offset();
    envelope.bytes = bytes.first(envelope.size);
    return result;
  }
  Error error = reader.error();
  if (clipped && error.code == ErrorCode::kTruncated) {
    error.code = ErrorCode::kLimitExceeded;
    error.detail = "more than the " + std::to_string(limits.max_bytes) +
                   " bytes that max_bytes allows";
  }
  return tl::unexpected(std::move(error));
}

Result<Envelope> open_whole(BytesView bytes, const Limits& limits) {
  Result<Envelope> envelope = open(bytes, limits);
  if (envelope && envelope->size != bytes.size()) {
    return tl::unexpected(Error{
        ErrorCode::kTrailingBytes, envelope->size,
        std::to_string(bytes.size() - envelope->size) + " bytes follow the envelope"});
  }
  return envelope;
}

Result<void> check_python(const Envelope& envelope, const PythonVersion& python) {
  if (envelope.code.empty() || envelope.python == python) return {};
  return tl::unexpected(
      Error{ErrorCode::kPythonMismatch, 0,
            "the code was made by Python " + to_string(envelope.python) +
                " and this is Python " + to_string(python) +
                "; run the version that made it, or send plain data"});
}

}  // namespace waybill
