#include "embedded/sections.h"

#include <map>
#include <utility>

#include "base/hash.h"
#include "format/buffer_table.h"
#include "format/frame.h"
#include "wire/reader.h"
#include "wire/writer.h"

namespace waybill::fuzz {
namespace {

// Reads the buffers after the sections; false unless they are all valid.
bool take_buffers(wire::Reader& reader, BytesView envelope,
                  std::vector<OwnedBuffer>& buffers) {
  std::vector<StoredBuffer> rows;
  if (!envelope::read_buffer_table(reader, rows) || !reader.skip_values(2))
    return false;
  const std::size_t start = reader.offset() + head_padding(reader.offset());
  const std::uint64_t end = rows.back().offset + rows.back().stored_length;
  if (start > envelope.size() || end > envelope.size() - start) return false;
  for (StoredBuffer& row : rows) {
    const BytesView bytes = envelope.subspan(start + row.offset, row.stored_length);
    buffers.push_back({row.kind,
                       {bytes.begin(), bytes.end()},
                       std::string(row.format),
                       std::move(row.shape),
                       row.is_fortran,
                       row.compression,
                       row.length});
  }
  return true;
}

std::vector<BufferParts> parts_of(const std::vector<OwnedBuffer>& buffers) {
  std::vector<BufferParts> parts;
  for (const OwnedBuffer& each : buffers) {
    parts.push_back({each.kind, each.bytes, each.format, each.shape, each.is_fortran,
                     each.compression, each.length});
  }
  return parts;
}

void write_table(wire::Writer& writer, const std::vector<BufferParts>& parts) {
  Bytes table(envelope::buffer_table_bound(parts));
  wire::CursorWriter cursor(table.data());
  std::vector<std::uint8_t*> digests;
  envelope::write_buffer_table(cursor, parts, envelope::kPlainDigest, digests);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    envelope::write_digest(digests[i], envelope::kPlainDigest, parts[i].bytes);
  }
  writer.append({table.data(), cursor.at()});
}

void append(Bytes& out, const std::vector<BufferParts>& parts) {
  const std::size_t head_size = out.size();
  out.resize(head_size + envelope::buffers_bound(parts));
  std::uint8_t* at = out.data() + head_size;
  for (const BufferParts& each : parts) {
    at = envelope::write_buffer(out.data(), at, each.bytes);
  }
  at = envelope::write_trailer(at, head_size);
  out.resize(static_cast<std::size_t>(at - out.data()));
}

template <typename Visit>
void each_stored(Value& value, Visit& visit) {
  if (tag_in(value) == wire::NodeTag::kStored && value.items.size() == 2) {
    visit(value.items[1]);
  }
  for (Value& item : value.items) each_stored(item, visit);
}

}  // namespace

void set_payload(Sections& sections, Bytes payload) {
  wire::Writer length;
  length.unsigned_integer(payload.size());
  section(sections, wire::SectionIndex::kPayloadLength) = length.take();
  section(sections, wire::SectionIndex::kPayload) = std::move(payload);
}

std::optional<Sections> split(BytesView envelope) {
  wire::Reader reader(envelope);
  std::uint64_t count = 0;
  const bool is_envelope =
      reader.read_array(count, "envelope") &&
      (count == wire::kSectionCount || count == wire::kSectionCountWithBuffers);
  if (!is_envelope) return {};
  Sections sections;
  for (Bytes& bytes : sections) {
    const std::size_t start = reader.offset();
    if (!reader.skip()) return {};
    const BytesView view = envelope.subspan(start, reader.offset() - start);
    bytes.assign(view.begin(), view.end());
  }
  const bool has_buffers = count == wire::kSectionCountWithBuffers;
  if (has_buffers && !take_buffers(reader, envelope, sections.buffers)) return {};
  return sections;
}

Bytes seal_sections(const Sections& sections) {
  const std::vector<BufferParts> parts = parts_of(sections.buffers);
  wire::Writer writer;
  writer.array(parts.empty() ? wire::kSectionCount : wire::kSectionCountWithBuffers);
  for (const Bytes& bytes : sections) writer.append(BytesView(bytes));
  if (!parts.empty()) write_table(writer, parts);
  const auto digest = base::digest_of(writer.view());
  writer.binary(digest);
  writer.nil();
  Bytes out = writer.take();
  if (!parts.empty()) append(out, parts);
  return out;
}

void fit_buffers(Value& payload, std::vector<OwnedBuffer>& buffers) {
  std::map<std::uint64_t, std::uint64_t> numbers;
  std::vector<OwnedBuffer> used;
  auto renumber = [&](Value& number) {
    if (buffers.empty()) buffers.push_back({wire::BufferKind::kByteArray, Bytes(9, 1)});
    wire::Reader reader(number.leaf);
    std::uint64_t old_number = 0;
    if (!reader.read_unsigned(old_number, UINT64_MAX, {})) return;
    old_number %= buffers.size();
    const auto [found, is_new] = numbers.try_emplace(old_number, used.size());
    if (is_new) used.push_back(buffers[old_number]);
    wire::Writer writer;
    writer.unsigned_integer(found->second);
    number.leaf = writer.take();
  };
  each_stored(payload, renumber);
  buffers = std::move(used);
}

std::optional<std::vector<std::uint64_t>> shared_in(const Sections& sections) {
  wire::Reader reader(sections[static_cast<std::size_t>(wire::SectionIndex::kShared)]);
  std::vector<std::uint64_t> shared;
  if (!envelope::read_shared(reader, shared)) return {};
  return shared;
}

Bytes section_of(const std::vector<std::uint64_t>& shared) {
  wire::Writer writer;
  writer.array(shared.size());
  for (std::uint64_t position : shared) writer.unsigned_integer(position);
  return writer.take();
}

}  // namespace waybill::fuzz
