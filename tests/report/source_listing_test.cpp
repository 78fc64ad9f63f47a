// Source in reports: what is shown of each unit, and what is not.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/parsed_json.h"
#include "format/samples.h"
#include "format/source_units.h"
#include "waybill/report.h"

namespace waybill {
namespace {

using namespace samples;

struct ListedUnit {
  std::uint64_t code, start, length;
  wire::UnitKind kind = wire::UnitKind::kFunction;
};

void write_unit(const ListedUnit& unit, Writer& out) {
  out.array(wire::kUnitFieldCount);
  for (const std::uint64_t number : {unit.code, unit.start, unit.length}) {
    out.unsigned_integer(number);
  }
  put(out, {static_cast<std::uint64_t>(unit.kind), "f", "f", kNil, 0, 0,
            2,  // Lines of decorators.
            0});
  for (int i = 0; i < 3; ++i) out.array(0);
}

// Two functions, both in use, at job.py:5; with these sources.
Bytes listed(std::string_view texts, const std::vector<ListedUnit>& units) {
  Draft draft;
  for (const char* name : {"f", "g"}) {
    BodyDraft body;
    body.name = name;
    draft.code.push_back(body.body());
  }
  draft.payload.array(2);
  draft.source_locations.array(2);
  for (std::uint64_t i = 0; i < 2; ++i) {
    put(draft.payload, {code_node(i)});
    put(draft.source_locations, {location("job.py", 5)});
  }
  draft.sources.array(3);
  envelope::write_texts(draft.sources, texts);
  draft.sources.array(units.size());
  for (const ListedUnit& unit : units) write_unit(unit, draft.sources);
  draft.sources.array(0);
  return draft.sealed();
}

std::vector<ParsedJson> sources_told(const Bytes& bytes) {
  ReportOptions options = {.source = true};
  const ParsedJson report(report_json(*open(bytes), options));
  return {report["code"][0]["source"], report["code"][1]["source"]};
}

std::string text_told(const Bytes& bytes) {
  ReportOptions options = {.source = true};
  return report_text(*open(bytes), options);
}

TEST(SourceListing, TellsTextAndFirstLineOfIt) {
  const auto bytes = listed("def f():\n  pass\n", {{0, 0, 16}});

  EXPECT_EQ(sources_told(bytes)[0],
            ParsedJson(R"({"kind": "function", "size": 16, "line": 7,
                           "text": "def f():\n  pass\n"})"));
  EXPECT_NE(text_told(bytes).find("      source job.py:5\n"
                                  "         7  def f():\n"
                                  "         8    pass\n"),
            std::string::npos);
}

TEST(SourceListing, TellsOfCodeInUseThatHasNone) {
  const auto bytes = listed("def f(): 0", {{0, 0, 10}});

  EXPECT_EQ(sources_told(bytes)[1], nullptr);
  EXPECT_NE(text_told(bytes).find("      no source job.py:5\n"), std::string::npos);
}

TEST(SourceListing, TellsWhatALibraryWrites) {
  const auto bytes = listed("", {{0, 0, 0, wire::UnitKind::kGenerated}});

  EXPECT_EQ(sources_told(bytes)[0]["kind"], "generated");
  EXPECT_NE(text_told(bytes).find("source job.py:5: a library writes it"),
            std::string::npos);
}

TEST(SourceListing, EscapesWhatSteersATerminal) {
  const auto bytes = listed("a\x1b[2J\r\xe2\x80\xae\n", {{0, 0, 9}});

  const std::string text = text_told(bytes);

  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  EXPECT_EQ(text.find('\r'), std::string::npos);
  EXPECT_EQ(text.find("\xe2\x80\xae"), std::string::npos);
}

TEST(SourceListing, SaysThatTextsAreDamaged) {
  const auto bytes = listed("a\xff", {{0, 0, 2}});

  EXPECT_EQ(sources_told(bytes)[0]["error"]["code"], "malformed");
  EXPECT_NE(text_told(bytes).find("unreadable: source texts should be UTF-8"),
            std::string::npos);
}

TEST(SourceListing, ShowsNoMoreThanAnEnvelopeMayHaveOfUnitsThatShareText) {
  constexpr std::uint64_t kLong = wire::kMaxSourceText / 2 + 1;
  const auto bytes = listed(std::string(kLong, 'x'), {{0, 0, kLong}, {1, 0, kLong}});

  const std::vector<ParsedJson> told = sources_told(bytes);

  EXPECT_EQ(told[0]["text"].text().size(), kLong);
  EXPECT_FALSE(told[1].contains("text"));
  EXPECT_NE(text_told(bytes).find("source job.py:5: 8388609 bytes more"),
            std::string::npos);
}

}  // namespace
}  // namespace waybill
