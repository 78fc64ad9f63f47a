// Puts envelopes together, and signs them. See docs/wire_format.md for the bytes.
// Tested by tests/format/envelope_test.cpp and tests/trust/signature_test.cpp.

#include <vector>

#include "base/fresh_pages.h"
#include "base/hash.h"
#include "format/buffer_table.h"
#include "trust/signature_tail.h"
#include "waybill/envelope.h"
#include "wire/format.h"
#include "wire/writer.h"

namespace waybill {
namespace {

constexpr std::uint64_t kCodeEntryLength = 2;
constexpr std::string_view kMark(wire::kMark, sizeof wire::kMark);

// A bound of everything except manifest, payload, code bodies and locations.
std::size_t frame_bound(const Parts& parts) {
  constexpr std::size_t kNumber = 9;
  constexpr std::size_t kFixed = 1 + 1 + 1 + kMark.size() + 5 * kNumber + 2 * 5 + 3 +
                                 2 + sizeof(std::uint64_t) + 1;
  return kFixed + parts.code.size() * (1 + kNumber) + parts.shared.size() * kNumber;
}

std::vector<std::uint8_t> encoded(const Manifest& manifest) {
  std::vector<std::uint8_t> bytes;
  encode_manifest(manifest, bytes);
  return bytes;
}

// Inlined into both callers: every small payload passes here.
[[gnu::always_inline]] inline void write_header(wire::CursorWriter& writer,
                                                const Parts& parts) {
  writer.array(parts.buffers.empty() ? wire::kSectionCount
                                     : wire::kSectionCountWithBuffers);
  const bool has_application = !parts.application.empty();
  writer.array(wire::kHeaderFieldCount + (has_application ? 1 : 0));
  writer.text(kMark);
  writer.unsigned_integer(kFormatVersion);
  writer.unsigned_integer(parts.python.major);
  writer.unsigned_integer(parts.python.minor);
  writer.unsigned_integer(parts.python.magic);
  if (has_application) writer.binary(parts.application);
}

[[gnu::always_inline]] inline void write_debug_info(wire::CursorWriter& writer,
                                                    const Parts& parts) {
  const auto write = [&](wire::DebugInfoKey key, BytesView part) {
    if (part.empty()) return;
    writer.unsigned_integer(static_cast<std::uint64_t>(key));
    writer.append(part);
  };
  writer.map((parts.source_locations.empty() ? 0 : 1) +
             (parts.sources.empty() ? 0 : 1));
  write(wire::DebugInfoKey::kSourceLocations, parts.source_locations);
  write(wire::DebugInfoKey::kSources, parts.sources);
}

std::size_t payload_length(const Parts& parts) {
  std::size_t length = parts.payload.size();
  for (const Insertion& insertion : parts.payload_insertions) {
    length += insertion.bytes.size();
  }
  return length;
}

std::size_t buffer_digest_size(const Parts& parts) {
  return parts.key == nullptr ? envelope::kPlainDigest : envelope::kStrongDigest;
}

// Writes all sections that the digest covers. Reserves the digests of buffers;
// `digests` gets their addresses. Returns the end.
[[gnu::always_inline]] inline std::uint8_t* write_sections(
    const Parts& parts, std::uint8_t* out, std::vector<std::uint8_t*>& digests) {
  wire::CursorWriter writer(out);
  write_header(writer, parts);
  if (parts.manifest != nullptr) {
    writer.append(encoded(*parts.manifest));
  } else if (parts.encoded_manifest.empty()) {
    writer.map(0);
  } else {
    writer.append(parts.encoded_manifest);
  }

  writer.array(parts.code.size());
  for (BytesView body : parts.code) {
    writer.array(kCodeEntryLength);
    writer.unsigned_integer(body.size());
    writer.append(body);
  }
  writer.array(parts.shared.size());
  for (std::uint64_t position : parts.shared) writer.unsigned_integer(position);
  writer.unsigned_integer(payload_length(parts));
  writer.append(parts.payload, parts.payload_insertions);
  write_debug_info(writer, parts);
  if (!parts.buffers.empty()) {
    envelope::write_buffer_table(writer, parts.buffers, buffer_digest_size(parts),
                                 digests);
  }
  return writer.at();
}

// Writes digest and signature after sections that end at `at`.
[[gnu::always_inline]] inline std::uint8_t* write_end(const Parts& parts,
                                                      const std::uint8_t* out,
                                                      std::uint8_t* at) {
  wire::CursorWriter writer(at);
  writer.binary(base::digest_of({out, at}));
  if (parts.key != nullptr) return envelope::write_tail(*parts.key, out, writer.at());
  writer.nil();
  return writer.at();
}

std::size_t size_of_end(const Parts& parts) {
  return 2 + sizeof(std::uint64_t) +
         (parts.key == nullptr ? 1 : envelope::tail_size(parts.key->algorithm()));
}

}  // namespace

std::size_t head_bound(const Parts& parts) {
  constexpr std::size_t kBinaryHead = 5;
  std::size_t bound = frame_bound(parts) + payload_length(parts) +
                      parts.source_locations.size() + parts.sources.size();
  if (!parts.application.empty()) bound += kBinaryHead + parts.application.size();
  if (parts.key != nullptr) bound += envelope::tail_size(parts.key->algorithm());
  bound += parts.manifest != nullptr ? encoded(*parts.manifest).size()
                                     : 1 + parts.encoded_manifest.size();
  for (BytesView body : parts.code) bound += body.size();
  if (!parts.buffers.empty()) bound += envelope::buffer_table_bound(parts.buffers);
  return bound;
}

std::size_t sealed_bound(const Parts& parts) {
  const std::size_t bound = head_bound(parts);
  return parts.buffers.empty() ? bound : bound + envelope::buffers_bound(parts.buffers);
}

std::uint8_t* seal_at(const Parts& parts, std::uint8_t* out) {
  std::vector<std::uint8_t*> digests;
  std::uint8_t* const sections_end = write_sections(parts, out, digests);
  if (parts.buffers.empty()) return write_end(parts, out, sections_end);
  std::uint8_t* const head_end = sections_end + size_of_end(parts);
  std::uint8_t* at = head_end;
  base::FreshPages pages(at, envelope::buffers_bound(parts.buffers));
  for (std::size_t i = 0; i < parts.buffers.size(); ++i) {
    const BytesView bytes = parts.buffers[i].bytes;
    at = envelope::pad(out, at);
    envelope::BufferDigest digest(buffer_digest_size(parts));
    // The digest is of the copy: a thread without the GIL may write to the original
    // meanwhile.
    base::copy_in_blocks(at, bytes, pages, [&](BytesView copy) { digest.add(copy); });
    digest.write(digests[i]);
    at += bytes.size();
  }
  write_end(parts, out, sections_end);
  return envelope::write_trailer(at, static_cast<std::size_t>(head_end - out));
}

std::uint8_t* seal_head_at(const Parts& parts, std::uint8_t* out) {
  std::vector<std::uint8_t*> digests;
  std::uint8_t* const sections_end = write_sections(parts, out, digests);
  for (std::size_t i = 0; i < digests.size(); ++i) {
    envelope::write_digest(digests[i], buffer_digest_size(parts),
                           parts.buffers[i].bytes);
  }
  return write_end(parts, out, sections_end);
}

void seal_to(const Parts& parts, const std::function<void(BytesView, bool)>& write) {
  static constexpr std::uint8_t kZeros[wire::kBufferAlignment] = {};
  std::vector<std::uint8_t> head(head_bound(parts));
  const auto head_size =
      static_cast<std::size_t>(seal_head_at(parts, head.data()) - head.data());
  write(BytesView(head).first(head_size), false);
  if (parts.buffers.empty()) return;
  std::size_t end = head_size;
  for (const BufferParts& buffer : parts.buffers) {
    const std::size_t padding = head_padding(end);
    if (padding != 0) write(BytesView(kZeros).first(padding), false);
    write(buffer.bytes, true);
    end += padding + buffer.bytes.size();
  }
  std::uint8_t trailer[wire::kBufferTrailer];
  envelope::write_trailer(trailer, head_size);
  write(trailer, false);
}

void seal(const Parts& parts, std::vector<std::uint8_t>& out) {
  const std::size_t start = out.size();
  out.resize(start + sealed_bound(parts));
  const std::uint8_t* end = seal_at(parts, out.data() + start);
  out.resize(static_cast<std::size_t>(end - out.data()));
}

}  // namespace waybill
