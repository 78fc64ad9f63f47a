// An arbitrary payload in a correct envelope. The sealed envelope opens to the same
// parts, unless its definitions are malformed, and has the measured length; errors of
// verify() lie at an offset in the input; a sound envelope is still sound when its
// parts are sealed again; a truncated one does not open. Each value is found by its
// path, extracted parts verify, and the sizes in an explanation add up.
//
// Input: four bytes that choose code bodies, imports, locations, stored buffers and the
// number of shared positions; these, two bytes each; the rest is the payload.

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "format/definitions.h"
#include "plain_body.h"
#include "require.h"
#include "waybill/envelope.h"
#include "waybill/explanation.h"
#include "waybill/parts.h"
#include "waybill/report.h"
#include "waybill/stream_length.h"
#include "wire/reader.h"
#include "wire/writer.h"

namespace {

using waybill::BytesView;
using waybill::Envelope;
using waybill::fuzz::plain_body;
using waybill::fuzz::require;
using waybill::wire::Reader;
using waybill::wire::Writer;
using Bytes = std::vector<std::uint8_t>;

// Two bodies; the second has the first as nested code.
const std::array<Bytes, 2>& bodies() {
  static const std::array<Bytes, 2> both = [] {
    const Bytes inner = plain_body("inner");
    waybill::Parts parts;
    const BytesView code[] = {inner};
    constexpr std::uint8_t kNil[] = {0xc0};
    parts.code = code;
    parts.payload = kNil;
    Bytes sealed;
    waybill::seal(parts, sealed);
    return std::array{inner, plain_body("outer", &waybill::open(sealed)->code[0].hash)};
  }();
  return both;
}

void write_location(Writer& writer, bool has_nested) {
  writer.array(4);
  writer.text("f.py");
  writer.integer(1);
  writer.binary({});
  writer.array(has_nested ? 1 : 0);
  if (has_nested) write_location(writer, false);
}

waybill::Manifest manifest_of(std::uint8_t choice) {
  waybill::Manifest manifest;
  const char* const names[] = {"json", "xml.dom", "os.path", "late"};
  for (unsigned i = 0; i < std::size(names); ++i) {
    if ((choice >> i & 1) == 0) continue;
    waybill::ImportRecord& record = manifest.imports.emplace_back();
    record.module = record.chain = names[i];
    record.time = i == 3 ? waybill::ImportTime::kCall : waybill::ImportTime::kLoad;
    if ((choice & 0x10) != 0) record.file = "f.py";
  }
  return manifest;
}

bool is_one_value(BytesView bytes) {
  Reader reader(bytes);
  return reader.skip() && reader.at_end();
}

// The shared positions as the envelope lists them: those of the definitions, then those
// of the value, which may be positions of definitions.
std::vector<std::uint64_t> listed_positions(const Envelope& envelope) {
  const waybill::Definitions& definitions = envelope.definitions;
  if (definitions.value == 0) return envelope.shared;
  std::vector<std::uint64_t> listed(envelope.shared.begin(),
                                    envelope.shared.begin() + definitions.shared);
  for (const std::uint32_t index : definitions.value_shared) {
    listed.push_back(envelope.shared[index]);
  }
  return listed;
}

// Sealing the parts of an opened envelope gives the same bytes.
void check_sealed_again(const Envelope& envelope, waybill::Parts parts,
                        BytesView before, bool is_sound) {
  parts.manifest = &envelope.manifest;
  const std::vector<std::uint64_t> shared = listed_positions(envelope);
  parts.shared = shared;
  parts.payload = envelope.payload.bytes;
  Bytes sealed;
  waybill::seal(parts, sealed);
  require(std::ranges::equal(sealed, before));
  const auto again = waybill::open_whole(sealed);
  require(again && waybill::verify(*again).has_value() == is_sound);
}

void check_cut(BytesView sealed, std::size_t size) {
  const BytesView cut = sealed.first(size);
  require(!waybill::open(cut));
  const waybill::Extent extent = waybill::StreamLength().measure(cut);
  require(extent.size == 0 && extent.missing > 0 &&
          extent.missing <= sealed.size() - size);
}

// Checks the first values of a payload, from the outside in.
void check_parts(const waybill::VerifiedEnvelope& envelope) {
  constexpr std::size_t kMaxPlaces = 32;
  const waybill::PartExtractor extractor(envelope);
  struct Place {
    std::size_t offset;
    std::string path;
    bool is_unique = true;  // False if another value has the same path.
  };
  std::vector<Place> places{{waybill::root_of(envelope), ""}};
  for (std::size_t i = 0; i < places.size(); ++i) {
    const Place place = places[i];
    require(!waybill::describe_part(envelope, place.offset).type.empty());
    const auto found = waybill::find_part(envelope, place.path);
    require(!place.is_unique || (found && *found == place.offset));
    if (const auto part = extractor.extract(place.offset)) {
      require(waybill::verify(part->envelope).has_value());
    }
    std::map<std::string, std::size_t> counts;
    const std::vector<waybill::Step> steps =
        waybill::steps_from(envelope, place.offset);
    for (const auto& step : steps) ++counts[waybill::step_text(envelope, step)];
    for (const waybill::Step& step : steps) {
      if (places.size() == kMaxPlaces) break;
      const std::string text = waybill::step_text(envelope, step);
      places.push_back(
          {step.offset, place.path + text, place.is_unique && counts[text] == 1});
    }
  }
}

void check_explanation(const waybill::VerifiedEnvelope& envelope) {
  const waybill::Explanation explanation = waybill::explain_payload(envelope);
  const std::vector<waybill::ExplainedPart>& parts = explanation.parts;
  require(!parts.empty() && parts[0].bytes <= explanation.total);
  std::vector<std::uint64_t> sums(parts.size());
  for (std::size_t i = 0; i < parts.size(); ++i) {
    require(i == 0 || parts[i].parent < i);
    require(!parts[i].step.empty() && !parts[i].type.empty());
    sums[i] += parts[i].own;
    if (i != 0) sums[parts[i].parent] += parts[i].bytes;
  }
  for (std::size_t i = 0; i < parts.size(); ++i) require(sums[i] == parts[i].bytes);
  require(!waybill::explanation_text(explanation).empty());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::size_t kHead = 4;
  if (size < kHead) return 0;
  BytesView rest(data + kHead, size - kHead);
  const std::size_t code_count = data[0] % (bodies().size() + 1);
  const waybill::Manifest manifest = manifest_of(data[1]);
  Writer locations;
  const std::size_t location_count = data[2] % 8;
  locations.array(location_count);
  for (std::size_t i = 0; i < location_count; ++i) {
    write_location(locations, (data[2] >> 3 >> i & 1) != 0);
  }
  std::vector<std::uint64_t> shared(
      std::min<std::size_t>(data[3] % 16, rest.size() / 2));
  for (std::uint64_t& position : shared) {
    position = std::uint64_t{rest[0]} << 8 | rest[1];
    rest = rest.subspan(2);
  }
  constexpr std::uint8_t kItems[100] = {1, 2, 3};
  constexpr std::uint64_t kShape[] = {25};
  const waybill::BufferParts buffers[] = {
      {waybill::wire::BufferKind::kBytes, BytesView(kItems).first(7)},
      {waybill::wire::BufferKind::kWritable, kItems, "<i", kShape},
      {waybill::wire::BufferKind::kByteArray, BytesView(kItems).first(64)}};
  std::array<BytesView, 2> code;
  std::ranges::copy(bodies(), code.begin());

  waybill::Parts parts;
  parts.python = {3, 11, 3495};
  parts.manifest = &manifest;
  parts.code = std::span(code).first(code_count);
  parts.shared = shared;
  parts.payload = rest;
  parts.buffers = std::span(buffers).first(std::min<std::size_t>(data[3] >> 4, 3));
  if (location_count != 0) parts.source_locations = locations.view();
  Bytes sealed;
  waybill::seal(parts, sealed);

  const auto envelope = waybill::open_whole(sealed);
  if (!envelope) {
    require(waybill::envelope::begins_with_definitions(rest));
    require(envelope.error().offset <= sealed.size());
    return 0;
  }
  require(envelope->code.size() == code_count);
  require(envelope->buffers.size() == parts.buffers.size());
  require(std::ranges::equal(envelope->payload.bytes, rest));
  require(std::ranges::equal(listed_positions(*envelope), shared));
  require(waybill::StreamLength().measure(sealed).size == sealed.size());

  const auto verdict = waybill::verify(*envelope);
  require(verdict || verdict.error().offset <= sealed.size());
  require(!verdict || is_one_value(rest));
  // A limit makes verify() count each value, and pass over none.
  const auto counted = waybill::verify(*envelope, {.max_text = SIZE_MAX - 1});
  require(counted.has_value() == verdict.has_value());
  require(verdict || (counted.error().code == verdict.error().code &&
                      counted.error().offset == verdict.error().offset));
  if (verdict) check_parts(*verdict);
  if (verdict) check_explanation(*verdict);
  waybill::ReportOptions options;
  options.instructions = true;
  require(!waybill::report_json(*envelope, options).empty());
  check_sealed_again(*envelope, parts, sealed, verdict.has_value());
  // Truncates before the payload, in it, and after it, at places that vary.
  const std::size_t payload = envelope->payload.offset;
  check_cut(sealed, size % payload);
  if (!rest.empty()) {
    check_cut(sealed, payload + (data[0] * 7919u + size) % rest.size());
  }
  check_cut(sealed, sealed.size() - 1 - size % 12);
  return 0;
}
