// Tested by tests/report/source_listing_test.cpp and tests/cli/test_inspect_source.py.

#include "report/source_listing.h"

#include <set>
#include <string>

#include "format/source_locations.h"
#include "format/source_units.h"
#include "report/value_text.h"
#include "wire/format.h"

namespace waybill::envelope {
namespace {

// By wire::UnitKind.
constexpr const char* kKinds[] = {"function", "lambda", "annotate", "class_annotate",
                                  "generated"};

// Where the text begins. Of a class that is the line below its first one.
std::uint64_t line_of(const SourceUnit& unit, const FirstLocation& location) {
  const bool is_below = unit.kind == wire::UnitKind::kClassAnnotate;
  return std::uint64_t{location.first_line} + unit.lines + (is_below ? 1 : 0);
}

// Units may share texts: what is shown is counted each time.
class Texts {
 public:
  explicit Texts(const Sources& sources) {
    if (!sources.units.empty()) texts_ = texts_of(sources);
  }

  void fill(const SourceUnit& unit, Json model) {
    if (!texts_) {
      set_error(model["error"], texts_.error());
    } else if (unit.length <= left_) {
      left_ -= unit.length;
      model["text"] = texts_->substr(unit.start, unit.length);
    }
  }

 private:
  Result<std::string> texts_;
  std::uint64_t left_ = wire::kMostSourceText;
};

}  // namespace

void fill_sources(const Envelope& envelope, const ReportOptions& options, Json code) {
  const Sources sources = sources_of(envelope, sources_section(envelope));
  const std::vector<FirstLocation> locations = first_locations(envelope);
  const std::vector<std::uint32_t> uses = code_uses_of(envelope);
  Texts texts(sources);
  for (const std::uint32_t index : std::set(uses.begin(), uses.end())) {
    if (index >= envelope.code.size()) break;
    const Json body = code[index];
    const FirstLocation& location = locations[index];
    if (location.is_known) {
      body["file"] = end_of(location.file, options.max_text);
      body["first_line"] = location.first_line;
    }
    const Json model = body["source"];
    const SourceUnit* const unit = sources.unit_of(index);
    if (unit == nullptr) continue;
    model.make_object(4);
    model["kind"] = kKinds[static_cast<std::size_t>(unit->kind)];
    model["size"] = unit->length;
    if (location.is_known) model["line"] = line_of(*unit, location);
    texts.fill(*unit, model);
  }
}

}  // namespace waybill::envelope
