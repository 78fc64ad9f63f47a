// Arbitrary sources in an otherwise correct envelope. The units that verify() accepts
// are in order, and their texts lie in the texts of the envelope; these are UTF-8, or
// an error at an offset in the input; texts that are written again read the same.
// Another Python may run the code if and only if all used code has a unit; the same
// Python always may. Reports and explanations cover each function in use.
//
// Input: a byte that chooses how often the payload uses two code bodies; the rest is
// the value of the sources.

#include <algorithm>
#include <cstdint>
#include <set>
#include <vector>

#include "format/source_locations.h"
#include "format/source_units.h"
#include "plain_body.h"
#include "require.h"
#include "waybill/envelope.h"
#include "waybill/explanation.h"
#include "waybill/report.h"
#include "wire/reader.h"
#include "wire/writer.h"

namespace {

using waybill::BytesView;
using waybill::Envelope;
using waybill::fuzz::plain_body;
using waybill::fuzz::require;
using waybill::wire::Writer;
using Bytes = std::vector<std::uint8_t>;

constexpr waybill::PythonVersion kSender{3, 11, 3495};
constexpr waybill::PythonVersion kOther{3, 13, 3571};

bool is_one_value(BytesView bytes) {
  waybill::wire::Reader reader(bytes);
  return reader.skip() && reader.at_end();
}

Bytes seal_with(BytesView sources, std::size_t uses) {
  static const Bytes bodies[] = {plain_body("f"), plain_body("g")};
  const BytesView code[] = {bodies[0], bodies[1]};
  Writer payload;
  payload.array(uses);
  for (std::size_t i = 0; i < uses; ++i) {
    payload.node(waybill::wire::NodeTag::kCode, 1);
    payload.unsigned_integer(i % std::size(code));
  }
  waybill::Parts parts;
  parts.python = kSender;
  parts.code = code;
  parts.payload = payload.view();
  parts.sources = sources;
  Bytes sealed;
  waybill::seal(parts, sealed);
  return sealed;
}

void check_texts(const waybill::envelope::Sources& sources, std::size_t size) {
  const auto texts = waybill::envelope::texts_of(sources);
  if (!texts) {
    require(texts.error().offset <= size);
    return;
  }
  require(texts->size() == sources.text_length);
  for (const auto& unit : sources.units) {
    require(unit.start + unit.length <= texts->size());
  }
  Writer out;
  out.array(3);
  waybill::envelope::write_texts(out, *texts);
  out.array(0);
  out.array(0);
  waybill::wire::Reader reader(out.view());
  waybill::envelope::Sources again;
  require(waybill::envelope::read_sources(reader, 0, again));
  require(waybill::envelope::texts_of(again) == *texts);
}

void check_pythons(const Envelope& envelope, const waybill::envelope::Sources& sources,
                   const std::set<std::uint32_t>& used) {
  require(waybill::check_python(envelope, kSender).has_value());
  const bool has_all_sources = std::ranges::all_of(
      used, [&](std::uint32_t code) { return sources.unit_of(code) != nullptr; });
  const auto runs = waybill::check_python(envelope, kOther);
  require(runs.has_value() == has_all_sources);
  require(runs || runs.error().code == waybill::ErrorCode::kPythonMismatch);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const BytesView value(data + 1, size - 1);
  if (!is_one_value(value)) return 0;
  const Bytes sealed = seal_with(value, data[0] % 4);
  const auto envelope = waybill::open_whole(sealed);
  require(envelope.has_value());
  waybill::ReportOptions options;
  options.source = true;
  require(!waybill::report_text(*envelope, options).empty());

  const auto verified = waybill::verify(*envelope);
  const auto foreign = waybill::check_python(*envelope, kOther);
  if (!verified) {
    require(verified.error().offset <= sealed.size());
    require(foreign || foreign.error().offset <= sealed.size());
    return 0;
  }
  const waybill::Section section = waybill::envelope::sources_section(*envelope);
  require(std::ranges::equal(section.bytes, value));
  const auto sources = waybill::envelope::sources_of(*envelope, section);
  const auto uses = waybill::envelope::code_uses_of(*envelope);
  const std::set<std::uint32_t> used(uses.begin(), uses.end());
  check_texts(sources, sealed.size());
  check_pythons(*envelope, sources, used);
  const waybill::Explanation explanation = waybill::explain_payload(*verified);
  const auto& source = explanation.source;
  require(source && source->functions + source->without.size() == used.size());
  return 0;
}
