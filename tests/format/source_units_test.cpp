// Sources in the debug information: what is read, what verify() refuses, and what
// check_python() makes of them.

#include "format/source_units.h"

#include <gtest/gtest.h>

#include <string>

#include "base/fails.h"
#include "format/samples.h"
#include "format/source_locations.h"
#include "format/verdict.h"
#include "waybill/envelope.h"

namespace waybill {
namespace {

using namespace samples;

constexpr PythonVersion kOther{3, 12, 3531};

// A row whose fields can be spoiled.
struct UnitDraft {
  std::uint64_t code = 0, start = 0, length = 9, kind = 0, flags = 1;
  std::uint64_t optimization = 0;
  std::string name = "f";
  std::uint32_t more_fields = 0;
  std::uint32_t fewer_fields = 0;

  void write(Writer& out) const {
    out.array(wire::kUnitFieldCount + more_fields - fewer_fields);
    for (const std::uint64_t number : {code, start, length, kind}) {
      out.unsigned_integer(number);
    }
    put(out, {name, "C.f", "C", flags, optimization, 2, 4, array(1), "annotations",
              array(2), "__class__", "x"});
    if (fewer_fields == 0) out.array(0);
    for (std::uint32_t i = 0; i < more_fields; ++i) out.nil();
  }
};

void write_sources(Writer& out, std::string_view texts,
                   std::initializer_list<UnitDraft> units) {
  out.array(3);
  envelope::write_texts(out, texts);
  out.array(units.size());
  for (const UnitDraft& unit : units) unit.write(out);
  put(out, {array(1), array(3), binary(Bytes(16, 0xab)), binary(Bytes(16, 0xcd)), 7});
}

// Two functions; the payload uses the first `uses` of them.
struct CodeDraft : Draft {
  explicit CodeDraft(std::size_t uses = 2) {
    for (const char* name : {"f", "g"}) {
      BodyDraft body;
      body.name = name;
      code.push_back(body.body());
    }
    payload.array(uses);
    for (std::size_t i = 0; i < uses; ++i) put(payload, {code_node(i)});
  }
};

std::string verdict_on(const Tokens& sources) {
  CodeDraft draft;
  put(draft.sources, sources);
  return verdict_name(draft);
}

std::string verdict_on_unit(const UnitDraft& unit) {
  return verdict_on({[&](Writer& out) { write_sources(out, "def f(): ", {unit}); }});
}

envelope::Sources sources_in(const Result<Envelope>& envelope) {
  return envelope::sources_of(*envelope, envelope::sources_section(*envelope));
}

TEST(SourceUnits, AreReadAsTheyWereWritten) {
  CodeDraft draft;
  UnitDraft second;
  second.code = 1;
  second.start = 4;
  second.length = 5;
  write_sources(draft.sources, "def f(): ", {{}, second});
  const Bytes bytes = draft.sealed();
  const Result<Envelope> envelope = open(bytes);
  ASSERT_TRUE(envelope);
  const envelope::Sources sources = sources_in(envelope);
  ASSERT_EQ(sources.units.size(), 2U);
  const envelope::SourceUnit* unit = sources.unit_of(1);
  ASSERT_NE(unit, nullptr);
  EXPECT_EQ(unit->start, 4U);
  EXPECT_EQ(unit->length, 5U);
  EXPECT_EQ(unit->name, "f");
  EXPECT_EQ(unit->qualified_name, "C.f");
  EXPECT_EQ(unit->class_name, "C");
  EXPECT_EQ(unit->lines, 2U);
  EXPECT_EQ(unit->column, 4U);
  EXPECT_EQ(unit->futures, std::vector<std::string_view>{"annotations"});
  EXPECT_EQ(unit->free_names, (std::vector<std::string_view>{"__class__", "x"}));
  EXPECT_EQ(sources.unit_of(2), nullptr);
  EXPECT_EQ(*envelope::texts_of(sources), "def f(): ");
  ASSERT_EQ(sources.classes.size(), 1U);
  EXPECT_EQ(sources.classes[0].source_id[0], 0xcd);
  EXPECT_EQ(sources.classes[0].first_line, 7U);
}

TEST(SourceUnits, StandBesideSourceLocationsOrWithoutThem) {
  for (const bool has_locations : {false, true}) {
    CodeDraft draft(1);
    if (has_locations) {
      put(draft.source_locations, {array(1), location("a.py")});
    }
    write_sources(draft.sources, "def f(): ", {{}});
    const Bytes bytes = draft.sealed();
    const Result<Envelope> envelope = open(bytes);
    ASSERT_TRUE(envelope);
    EXPECT_TRUE(verify(*envelope));
    EXPECT_EQ(sources_in(envelope).units.size(), 1U);
  }
}

TEST(SourceUnits, LongTextsAreCompressed) {
  std::string text;
  for (int i = 0; i < 1000; ++i) text += "value = first + second\n";
  Writer out;
  write_sources(out, text, {});
  EXPECT_LT(out.size(), text.size() / 10);
  wire::Reader reader(out.view());
  envelope::Sources sources;
  ASSERT_TRUE(envelope::read_sources(reader, 0, sources));
  EXPECT_EQ(*envelope::texts_of(sources), text);
}

TEST(SourceUnits, TextsThatAreDamagedAreMalformed) {
  const std::string text(4096, 'x');
  Writer out;
  envelope::write_texts(out, text);
  const BytesView written = out.view();
  // Every single byte of the frame.
  for (std::size_t at = 6; at < written.size(); ++at) {
    Bytes changed = {0x93};
    changed.insert(changed.end(), written.begin(), written.end());
    changed[at + 1] ^= 0x55;
    changed.insert(changed.end(), {0x90, 0x90});
    wire::Reader reader(changed);
    envelope::Sources sources;
    if (!envelope::read_sources(reader, 0, sources)) continue;
    const Result<std::string> texts = envelope::texts_of(sources);
    if (texts) {
      EXPECT_EQ(texts->size(), sources.text_length);
    } else {
      EXPECT_EQ(texts.error().code, ErrorCode::kMalformed);
    }
  }
}

TEST(SourceUnits, LinesOfClassesMayBeLeftOut) {
  const auto verdict_on_class = [](std::initializer_list<std::int64_t> more) {
    return verdict_on({[&](Writer& out) {
      out.array(3);
      envelope::write_texts(out, "");
      put(out, {array(0), array(1), array(2 + more.size()), binary(Bytes(16, 0xab)),
                binary(Bytes(16, 0xcd))});
      for (const std::int64_t number : more) out.integer(number);
    }});
  };
  EXPECT_EQ(verdict_on_class({}), "sound");
  EXPECT_EQ(verdict_on_class({7}), "sound");
  EXPECT_EQ(verdict_on_class({7, 8}), "sound");
  EXPECT_EQ(verdict_on_class({-1}), "malformed");
  EXPECT_EQ(verdict_on_class({std::int64_t{1} << 31}), "malformed");
}

TEST(SourceUnits, TextsAreNoLongerThanTheyMayBe) {
  EXPECT_EQ(verdict_on({array(3), array(2), wire::kMaxSourceText + 1,
                        binary(Bytes(20, 0)), array(0), array(0)}),
            "malformed");
  EXPECT_EQ(verdict_on({[](Writer& out) { write_sources(out, "", {}); }}), "sound");
}

TEST(SourceUnits, WithAFieldOutOfRangeAreMalformed) {
  EXPECT_EQ(verdict_on_unit({}), "sound");
  EXPECT_EQ(verdict_on_unit({.more_fields = 2}), "sound");
  EXPECT_EQ(verdict_on_unit({.code = 2}), "malformed");
  EXPECT_EQ(verdict_on_unit({.start = 1}), "malformed");
  EXPECT_EQ(verdict_on_unit({.kind = 5}), "malformed");
  EXPECT_EQ(verdict_on_unit({.flags = 16}), "malformed");
  EXPECT_EQ(verdict_on_unit({.optimization = 3}), "malformed");
  EXPECT_EQ(verdict_on_unit({.name = "\xff"}), "malformed");
  EXPECT_EQ(verdict_on_unit({.fewer_fields = 1}), "malformed");
}

TEST(SourceUnits, StandInTheOrderOfTheCodeOnceEach) {
  UnitDraft first, second;
  second.code = 1;
  const auto verdict = [](const UnitDraft& a, const UnitDraft& b) {
    return verdict_on({[&](Writer& out) { write_sources(out, "def f(): ", {a, b}); }});
  };
  EXPECT_EQ(verdict(first, second), "sound");
  EXPECT_EQ(verdict(second, first), "malformed");
  EXPECT_EQ(verdict(first, first), "malformed");
}

TEST(CheckPython, TakesCodeOfAnotherVersionWhereAllThatIsUsedHasSource) {
  const auto check = [](std::size_t uses, bool has_source) {
    CodeDraft draft(uses);
    if (has_source) write_sources(draft.sources, "def f(): ", {{}});
    const Bytes bytes = draft.sealed();
    const Result<void> result = check_python(*open(bytes), kOther);
    return result ? "runs" : result.error().detail;
  };
  EXPECT_EQ(check(1, true), "runs");
  EXPECT_EQ(check(2, true),
            "the function g was made by Python 3.11 (bytecode 3495), without source, "
            "and this is Python 3.12 (bytecode 3531); send it with source=\"auto\", or "
            "run the version that made it");
  EXPECT_EQ(check(1, false).substr(0, 8), "the code");
}

TEST(CheckPython, SaysWhereSourcesCannotBeRead) {
  CodeDraft draft(1);
  draft.sources.integer(1);
  const Bytes bytes = draft.sealed();
  EXPECT_THAT(check_python(*open(bytes), kOther), Fails(ErrorCode::kMalformed));
  EXPECT_TRUE(check_python(*open(bytes), {3, 11, 3495}));
}

}  // namespace
}  // namespace waybill
