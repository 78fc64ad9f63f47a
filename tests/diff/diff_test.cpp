#include "waybill/diff.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "base/parsed_json.h"
#include "format/attribute_targets.h"
#include "format/random_payload.h"
#include "format/samples.h"
#include "format/source_locations.h"
#include "verify/verified_prefix.h"
#include "waybill/policy.h"
#include "waybill/report.h"
#include "waybill/signature.h"
#include "waybill/value.h"

namespace waybill {
namespace {

using namespace samples;

ParsedJson diff_of(const Bytes& before, const Bytes& after, DiffOptions options = {}) {
  options.json = true;
  return ParsedJson(diff(*open(before), *open(after), options).report);
}

TEST(Diff, OfEqualEnvelopesIsEmpty) {
  const Bytes bytes = function_envelope();

  const Diff found = diff(*open(bytes), *open(bytes));

  EXPECT_FALSE(found.differs);
  EXPECT_EQ(found.report, "equal\n");
}

TEST(Diff, NamesTheValueThatDiffers) {
  Draft draft({map(1), "answer", 43});

  const ParsedJson found = diff_of(data_envelope(), draft.sealed());

  EXPECT_EQ(found["summary"], "differ in: the value at obj['answer']");
  EXPECT_EQ(found["payload"]["count"], 1);
  EXPECT_EQ(found["payload"]["items"][0]["old"], "42");
  EXPECT_EQ(found["payload"]["items"][0]["new"], "43");
}

// The sample, with these items in the place of its array.
Bytes with_items(const Bytes& items) {
  Draft draft;
  fill_with_buffers(draft);
  draft.buffers[1].bytes = items;
  return draft.sealed();
}

TEST(Diff, NamesTheBufferThatDiffers) {
  Bytes other = kStoredItems;
  other.back() = 1;

  const ParsedJson found = diff_of(buffers_envelope(), with_items(other));

  EXPECT_EQ(found["summary"], "differ in: the value at obj[1]");
  EXPECT_EQ(found["payload"]["items"][0]["old"], "<stored buffer 1: 5 x 20 x 'B'>");
  EXPECT_EQ(found["payload"]["items"][0]["new"],
            "<stored buffer 1: 5 x 20 x 'B'> (differs beyond what is shown)");
}

TEST(Diff, OfBuffersThatMovedIsNone) {
  Draft draft;
  fill_with_buffers(draft);
  std::swap(draft.buffers[0], draft.buffers[1]);
  draft.payload.clear();
  draft.payload.array(3);
  for (const std::uint64_t number : {0, 1, 1}) put(draft.payload, {stored(number)});

  const ParsedJson found = diff_of(buffers_envelope(), draft.sealed());

  // The first is an item more; the others are what they were.
  EXPECT_EQ(found["payload"]["count"], 2);
  EXPECT_EQ(found["payload"]["items"][1]["path"], "obj[1]");
}

TEST(Diff, OfSignedBuffersIsInTheSignatureAlone) {
  const SigningKey key = SigningKey::generate(SignatureAlgorithm::kMac);

  const ParsedJson found = diff_of(buffers_envelope(), buffers_envelope(&key));

  EXPECT_EQ(found["summary"], "differ in: the signature");
}

TEST(Diff, NamesThePython) {
  Draft draft;
  fill_with_data(draft);
  draft.python = {3, 12, 3531};

  const ParsedJson found = diff_of(data_envelope(), draft.sealed());

  EXPECT_EQ(found["summary"],
            "differ in: the Python that sealed it: 3.11 (bytecode 3495) and 3.12 "
            "(bytecode 3531)");
}

TEST(Diff, OfTablesThatMovedIsInThemAlone) {
  Draft draft;
  fill_with_function(draft);
  draft.manifest.imports.push_back({"zlib", ImportTime::kCall, "zlib", "f", "", 9});

  const ParsedJson found = diff_of(function_envelope(), draft.sealed());

  EXPECT_EQ(found["summary"], "differ in: import zlib (added)");
  EXPECT_EQ(found["payload"]["count"], 0);
}

TEST(Diff, OfAnotherKindIsTheWholeValue) {
  Draft draft;
  draft.payload.array(0);

  const ParsedJson found = diff_of(data_envelope(), draft.sealed());

  EXPECT_EQ(found["summary"], "differ in: the value at obj");
}

TEST(Diff, SurvivesAMillionNestedLists) {
  const auto nested = [](int value) {
    Draft draft({times(1000000, array(1)), value});
    return draft.sealed();
  };

  const ParsedJson found = diff_of(nested(1), nested(2));

  EXPECT_EQ(found["payload"]["count"], 1);
}

TEST(Diff, CountsWhatItDoesNotShow) {
  const auto list = [](int step) {
    Draft draft;
    draft.payload.array(100);
    for (int i = 0; i < 100; ++i) draft.payload.integer(i * step);
    return draft.sealed();
  };
  DiffOptions options;
  options.max_items = 3;

  const ParsedJson found = diff_of(list(1), list(2), options);

  EXPECT_EQ(found["payload"]["count"], 99);
  EXPECT_EQ(found["payload"]["items"].size(), 3u);
}

// Code that differs at each of many uses, with one name and from one file.
Bytes many_uses_of(const std::string& name, std::uint8_t line) {
  constexpr std::size_t kHalfOfUses = 50;
  Draft draft;
  for (std::size_t i = 0; i <= kHalfOfUses; ++i) {
    BodyDraft body;
    body.name = i == 0 ? name : "f" + std::to_string(i);
    draft.code.push_back(body.body());
  }
  draft.payload.array(2 * kHalfOfUses);
  draft.source_locations.array(2 * kHalfOfUses);
  for (std::size_t i = 0; i < 2 * kHalfOfUses; ++i) {
    put(draft.payload, {code_node(i < kHalfOfUses ? i + 1 : line)});
    draft.source_locations.array(4);
    i == 0 ? draft.source_locations.text("/" + std::to_string(line) + name)
           : draft.source_locations.unsigned_integer(0);
    put(draft.source_locations, {line, binary({}), array(0)});
  }
  return draft.sealed();
}

TEST(Diff, CutsWhatIsToldAtEachUse) {
  const std::string name(50000, 'x');

  const ParsedJson found = diff_of(many_uses_of(name, 0), many_uses_of(name, 1));

  const std::string cut(80, 'x');
  EXPECT_EQ(found["payload"]["items"][0]["old"], "<function " + cut + "…>");
  EXPECT_EQ(found["locations"]["items"][1]["old_file"], "…" + cut);
  EXPECT_LT(found.dump().size(), 4 * name.size());
}

// Whatever open() accepts is compared and disassembled, sound or not.
TEST(Diff, SurvivesEachSpoiltByte) {
  const Bytes sound = function_envelope();
  const Envelope original = *open(sound);
  ReportOptions report = {.instructions = true};
  int opened = 0;
  for (std::size_t at = 0; at + 11 < sound.size(); ++at) {
    for (const int change : {1, 2, 0x10, 0x40, 0x80}) {
      Bytes bytes = sound;
      bytes[at] = static_cast<std::uint8_t>(bytes[at] ^ change);
      fit_digest(bytes);
      const Result<Envelope> envelope = open_whole(bytes);
      if (!envelope) continue;
      ++opened;
      EXPECT_TRUE(diff(original, *envelope).differs);
      EXPECT_TRUE(diff(*envelope, original).differs);
      EXPECT_FALSE(report_text(*envelope, report).empty());
    }
  }

  EXPECT_GT(opened, 100);
}

// Payloads made from the grammar are sound to verify(), and all who read what it
// accepts come to their end.

constexpr unsigned kSeeds = 500;

TEST(RandomPayload, IsAcceptedAndReadByAll) {
  const Policy data;
  const Policy most = *Policy::from_text("allow code\nallow call *");
  std::set<std::string> kinds;

  for (unsigned seed = 0; seed < kSeeds; ++seed) {
    SCOPED_TRACE(seed);
    const Bytes bytes = samples::RandomPayload(seed).sealed();
    const Result<Envelope> opened = open_whole(bytes);
    ASSERT_TRUE(opened) << opened.error().detail;
    const Result<VerifiedEnvelope> envelope = verify(*opened);
    ASSERT_TRUE(envelope) << envelope.error().detail;

    const ParsedJson report(report_json(*envelope));
    EXPECT_FALSE(report["payload"].contains("error"));
    for (const std::string& kind : report["payload"]["statistics"]["nodes"].keys()) {
      kinds.insert(kind);
    }
    EXPECT_FALSE(report_text(*envelope, {.instructions = true}).empty());
    EXPECT_FALSE(diff(*envelope, *envelope).differs);
    EXPECT_TRUE(check_policy(*envelope, most));
    const bool is_data = check_policy(*envelope, data).has_value();
    const bool is_read = read_value(*envelope).has_value();
    EXPECT_TRUE(is_data || !is_read);
    static_cast<void>(read_value(*envelope, {}, Objects::kStandard));
    static_cast<void>(envelope::find_attribute_targets(*envelope));
    for (const auto& location : envelope::first_locations(*envelope)) {
      EXPECT_TRUE(!location.is_known || location.first_line == 2);
    }
    const auto prefix = envelope::VerifiedPrefix::make(*envelope);
    EXPECT_TRUE(prefix == nullptr || (prefix->begin(bytes) && prefix->check_value()));
  }

  // All but hashes of definitions, which are refused.
  EXPECT_EQ(kinds.size(), envelope::kShapes.size() - 1);
}

// What differs is told without looking at what the grammar does not promise.
TEST(RandomPayload, IsComparedWithOthers) {
  Bytes before = samples::RandomPayload(0).sealed();

  for (unsigned seed = 1; seed < kSeeds; ++seed) {
    const Bytes after = samples::RandomPayload(seed).sealed();
    EXPECT_EQ(diff(*open(before), *open(after)).differs, before != after) << seed;
    before = after;
  }
}

}  // namespace
}  // namespace waybill
