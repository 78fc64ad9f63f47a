// Takes envelopes apart. See docs/wire_format.md for the bytes.
// Tested by tests/format/envelope_test.cpp and corruption_test.cpp.

#include "waybill/envelope.h"

#include "format/frame.h"
#include "format/manifest_codec.h"
#include "wire/reader.h"

namespace waybill {
namespace {

using wire::Reader;

bool skip_section(Reader& reader, BytesView bytes, Section& section) {
  section.offset = reader.offset();
  if (!reader.skip()) return false;
  section.bytes = bytes.subspan(section.offset, reader.offset() - section.offset);
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
  if (envelope::read_header(reader, envelope.python, envelope.application) &&
      envelope::read_manifest(reader, envelope.manifest) &&
      envelope::read_code(reader, envelope.code) &&
      envelope::read_shared(reader, envelope.shared) &&
      skip_section(reader, bytes, envelope.payload) &&
      skip_section(reader, bytes, envelope.debug_info) &&
      envelope::read_end(reader, bytes, envelope.digest, envelope.signature)) {
    envelope.format_version = kFormatVersion;
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
