// Takes envelopes apart. See docs/wire_format.md for the bytes.
// Tested by tests/format/envelope_test.cpp and corruption_test.cpp.

#include "waybill/envelope.h"

#include <algorithm>
#include <utility>

#include "format/buffer_table.h"
#include "format/definitions.h"
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

bool read_definitions(Reader& reader, Envelope& envelope) {
  Error error;
  return envelope::find_definitions(envelope, error) ||
         reader.fail(error.code, error.offset, std::move(error.detail));
}

// What the envelope would come to if none of its buffers were compressed.
std::uint64_t size_decompressed(const Envelope& envelope) {
  std::uint64_t size = envelope.size;
  for (const StoredBuffer& row : envelope.buffers) {
    // Any number of rows may claim any length.
    size += std::min(row.length - row.stored_length, UINT64_MAX - size);
  }
  return size;
}

// Table of buffers, digest and signature, with what they say of the bytes behind them.
bool read_rest(Reader& reader, BytesView bytes, bool has_buffers, const Limits& limits,
               Envelope& envelope) {
  const std::size_t table = reader.offset();
  if ((has_buffers && !envelope::read_buffer_table(reader, envelope.buffers)) ||
      !envelope::read_end(reader, bytes, envelope.digest, envelope.signature) ||
      !envelope::check_digest_sizes(reader, bytes, envelope.buffers,
                                    !envelope.signature.empty())) {
    return false;
  }
  const std::size_t head_size = reader.offset();
  envelope.bytes = bytes.first(head_size);
  envelope.size = head_size + envelope::size_behind_head(head_size, envelope.buffers);
  envelope.buffers_offset =
      has_buffers ? head_size + head_padding(head_size) : head_size;
  const std::uint64_t size = size_decompressed(envelope);
  return size <= limits.max_bytes ||
         reader.fail(ErrorCode::kLimitExceeded, table,
                     "an envelope of " + std::to_string(size) +
                         " bytes with its buffers, more than the " +
                         std::to_string(limits.max_bytes) + " that max_bytes allows");
}

}  // namespace

bool envelope::read_behind_code(Reader& reader, BytesView bytes, bool has_buffers,
                                const Limits& limits, Envelope& envelope) {
  return read_shared(reader, envelope.shared) &&
         skip_section(reader, bytes, envelope.payload) &&
         read_definitions(reader, envelope) &&
         skip_section(reader, bytes, envelope.debug_info) &&
         read_rest(reader, bytes, has_buffers, limits, envelope);
}

Error envelope::trailing_bytes(std::size_t end, std::size_t size) {
  return {ErrorCode::kTrailingBytes, end,
          std::to_string(size - end) + " bytes follow the envelope"};
}

std::string to_string(const PythonVersion& version) {
  return std::to_string(version.major) + "." + std::to_string(version.minor) +
         " (bytecode " + std::to_string(version.magic) + ")";
}

Result<Envelope> open_head(BytesView bytes, const Limits& limits) {
  // More than the ceiling is never looked at; what seems cut off there is too large.
  const bool clipped = bytes.size() > limits.max_bytes;
  if (clipped) bytes = bytes.first(limits.max_bytes);
  Reader reader(bytes, limits);
  Result<Envelope> result;
  Envelope& envelope = *result;
  bool has_buffers = false;
  if (envelope::read_header(reader, envelope.python, envelope.application,
                            has_buffers) &&
      envelope::read_manifest(reader, envelope.manifest) &&
      envelope::read_code(reader, envelope.code) &&
      envelope::read_behind_code(reader, bytes, has_buffers, limits, envelope)) {
    envelope.format_version = kFormatVersion;
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

Result<Envelope> open(BytesView bytes, const Limits& limits) {
  Result<Envelope> envelope = open_head(bytes, limits);
  if (!envelope) return envelope;
  if (Result<void> attached = attach_buffers(*envelope, bytes); !attached) {
    return tl::unexpected(std::move(attached.error()));
  }
  if (Result<void> checked = check_buffers(*envelope); !checked) {
    return tl::unexpected(std::move(checked.error()));
  }
  return envelope;
}

Result<Envelope> open_whole(BytesView bytes, const Limits& limits) {
  Result<Envelope> envelope = open(bytes, limits);
  if (envelope && envelope->size != bytes.size()) {
    return tl::unexpected(envelope::trailing_bytes(envelope->size, bytes.size()));
  }
  return envelope;
}

}  // namespace waybill
