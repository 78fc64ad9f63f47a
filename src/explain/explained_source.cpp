// Tested by tests/python/explain/test_explained_source.py and fuzz/fuzz_sources.cpp.

#include "explain/explained_source.h"

#include <cstdint>
#include <set>
#include <vector>

#include "format/code_body.h"
#include "format/source_locations.h"
#include "format/source_units.h"
#include "report/value_text.h"

namespace waybill::envelope {
namespace {

// Bytes of a name or file that is told.
constexpr std::size_t kLongestTold = 200;

CodePlace told_place(const CodeBody& body, const FirstLocation& location) {
  CodePlace place;
  CodeFields fields;
  if (read_code_body(body, fields)) {
    place.function = start_of(fields.qualified_name, kLongestTold);
  }
  place.file = end_of(location.file, kLongestTold);
  place.line = location.first_line;
  return place;
}

}  // namespace

std::optional<ExplainedSource> explained_source(const Envelope& envelope,
                                                bool is_asked_for) {
  const Section section = sources_section(envelope);
  if (section.bytes.empty() && (!is_asked_for || envelope.code.empty())) {
    return std::nullopt;
  }
  const Sources sources = sources_of(envelope, section);
  const std::vector<FirstLocation> locations = first_locations(envelope);
  const std::vector<std::uint32_t> uses = code_uses_of(envelope);
  ExplainedSource source;
  source.bytes = section.bytes.size();
  for (const std::uint32_t body : std::set(uses.begin(), uses.end())) {
    if (body >= envelope.code.size()) break;
    if (sources.unit_of(body) != nullptr) {
      ++source.functions;
    } else {
      source.without.push_back(told_place(envelope.code[body], locations[body]));
    }
  }
  return source;
}

}  // namespace waybill::envelope
