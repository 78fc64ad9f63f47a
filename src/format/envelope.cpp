// Opens envelopes, checks them against a Python, and replaces their application field.
// See docs/wire_format.md for the bytes.
// Tested by tests/format/envelope_test.cpp, frame_test.cpp and source_units_test.cpp.

#include "waybill/envelope.h"

#include <string>
#include <utility>

#include "base/hash.h"
#include "format/buffer_table.h"
#include "format/code_body.h"
#include "format/definitions.h"
#include "format/frame.h"
#include "format/manifest_codec.h"
#include "format/source_locations.h"
#include "format/source_units.h"
#include "wire/format.h"
#include "wire/reader.h"
#include "wire/writer.h"

namespace waybill {
namespace {

using wire::Reader;

// "the function task (job.py:3)"
std::string describe(const Envelope& envelope, std::uint32_t code) {
  envelope::CodeFields fields;
  if (!envelope::read_code_body(envelope.code[code], fields)) return "code";
  std::string text = "the function ";
  text += fields.qualified_name;
  const envelope::FirstLocation location = envelope::first_locations(envelope)[code];
  if (!location.is_known || location.file.empty()) return text;
  text += " (";
  text += location.file;
  return text + ":" + std::to_string(location.first_line) + ")";
}

tl::unexpected<Error> mismatch(const Envelope& envelope, const PythonVersion& python,
                               std::size_t offset, const std::string& what) {
  return tl::unexpected(
      Error{ErrorCode::kPythonMismatch, offset,
            what + " was made by Python " + to_string(envelope.python) +
                ", without source, and this is Python " + to_string(python) +
                "; send it with source=\"auto\", or run the version that made it"});
}

bool find_definitions(Reader& reader, Envelope& envelope) {
  Error error;
  return envelope::find_definitions(envelope, error) || reader.fail(std::move(error));
}

bool read_debug_info(Reader& reader, BytesView bytes, Envelope& envelope) {
  const std::size_t offset = reader.offset();
  if (!reader.skip_byte(wire::kEmptyMap) && !reader.skip()) return false;
  envelope.debug_info = {offset, bytes.subspan(offset, reader.offset() - offset)};
  return true;
}

}  // namespace

std::string to_string(const PythonVersion& version) {
  return std::to_string(version.major) + "." + std::to_string(version.minor) +
         " (bytecode " + std::to_string(version.magic) + ")";
}

Result<Envelope> open_head(BytesView bytes, const Limits& limits) {
  // Bytes beyond the limit are never read; input that seems truncated there is too
  // large.
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
      envelope::read_payload(reader, envelope.shared, envelope.payload) &&
      find_definitions(reader, envelope) && read_debug_info(reader, bytes, envelope) &&
      envelope::read_end(reader, bytes, has_buffers, limits, envelope)) {
    envelope.format_version = kFormatVersion;
    return result;
  }
  Error error = reader.error();
  if (clipped && error.code == ErrorCode::kTruncated) {
    error.code = ErrorCode::kLimitExceeded;
    error.detail = "the input has more bytes than max_bytes allows: " +
                   std::to_string(limits.max_bytes);
  }
  result = tl::unexpected(std::move(error));  // Returned in place, as above.
  return result;
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

Result<void> check_python(const Envelope& envelope, const PythonVersion& python) {
  if (envelope.code.empty() || envelope.python == python) return {};
  const Section section = envelope::sources_section(envelope);
  if (section.bytes.empty()) {
    return mismatch(envelope, python, 0, "the code");
  }
  wire::Reader reader(section.bytes, Limits{}, section.offset);
  envelope::Sources sources;
  if (!envelope::read_sources(reader, envelope.code.size(), sources)) {
    return tl::unexpected(reader.error());
  }
  for (const std::uint32_t code : envelope::code_uses_of(envelope)) {
    if (code >= envelope.code.size() || sources.unit_of(code) != nullptr) continue;
    return mismatch(envelope, python, envelope.code[code].offset,
                    describe(envelope, code));
  }
  return {};
}

Result<std::vector<std::uint8_t>> with_application(BytesView envelope,
                                                   BytesView application) {
  const Result<Envelope> opened = open_whole(envelope);
  if (!opened) return tl::unexpected(opened.error());

  wire::Reader reader(envelope);
  wire::Token token;
  reader.next(token);  // open_whole() has checked all of this.
  reader.next(token);
  const std::uint64_t fields = token.count;
  const std::size_t first = reader.offset();
  for (std::uint64_t i = 0; i < wire::kHeaderFieldCount; ++i) reader.skip();
  const std::size_t place = reader.offset();
  if (fields > wire::kHeaderFieldCount) reader.skip();
  const std::size_t rest = reader.offset();
  const std::size_t end = opened->debug_info.offset + opened->debug_info.bytes.size();

  // Fields of later formats may follow, and are copied.
  const bool has_later = fields > wire::kHeaderFieldCount + 1;
  const bool has_field = has_later || !application.empty();
  wire::Writer writer;
  const bool has_buffers = !opened->buffers.empty();
  writer.array(has_buffers ? wire::kSectionCountWithBuffers : wire::kSectionCount);
  writer.array(has_later ? fields : wire::kHeaderFieldCount + (has_field ? 1 : 0));
  writer.append(envelope.subspan(first, place - first));
  if (has_field) writer.binary(application);
  writer.append(envelope.subspan(rest, end - rest));
  if (has_buffers) {
    envelope::rewrite_buffer_table(writer, *opened, envelope::kPlainDigest);
  }
  writer.binary(base::digest_of(writer.view()));
  writer.nil();
  std::vector<std::uint8_t> out = writer.take();
  envelope::append_buffers(out, opened->buffers);
  return out;
}

}  // namespace waybill
