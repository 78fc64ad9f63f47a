#include "embedded/sections.h"

#include "base/hash.h"
#include "format/frame.h"
#include "wire/reader.h"
#include "wire/writer.h"

namespace waybill::fuzz {

std::optional<Sections> take_apart(BytesView envelope) {
  wire::Reader reader(envelope);
  std::uint64_t count = 0;
  if (!reader.read_array(count, "envelope") || count != wire::kSectionCount) return {};
  Sections sections;
  for (Bytes& bytes : sections) {
    const std::size_t start = reader.offset();
    if (!reader.skip()) return {};
    const BytesView view = envelope.subspan(start, reader.offset() - start);
    bytes.assign(view.begin(), view.end());
  }
  return sections;
}

Bytes put_together(const Sections& sections) {
  wire::Writer writer;
  writer.array(wire::kSectionCount);
  for (const Bytes& bytes : sections) writer.append(BytesView(bytes));
  const auto digest = base::digest_of(writer.view());
  writer.binary(digest);
  writer.nil();
  return writer.take();
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
