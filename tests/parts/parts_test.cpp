// Parts of payloads: told, found and extracted.

#include "waybill/parts.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "format/random_payload.h"
#include "format/samples.h"
#include "waybill/value.h"

namespace waybill {
namespace {

using data::List;
using data::Map;
using data::Tuple;
using data::Value;
using namespace samples;

VerifiedEnvelope verified(const Bytes& bytes) {
  Result<VerifiedEnvelope> envelope = open_mapped(bytes);
  EXPECT_TRUE(envelope) << to_string(envelope.error());
  return *std::move(envelope);
}

// The envelope of plain data; `bytes` has to outlive it.
VerifiedEnvelope of_value(const Value& value, Bytes& bytes) {
  bytes = *write_value(value);
  return verified(bytes);
}

std::size_t found(const VerifiedEnvelope& envelope, std::string_view path) {
  const Result<std::size_t> offset = find_part(envelope, path);
  EXPECT_TRUE(offset) << to_string(offset.error());
  return offset.value_or(root_of(envelope));
}

Value value_at(const VerifiedEnvelope& envelope, std::string_view path) {
  const auto part = PartExtractor(envelope).extract(found(envelope, path));
  if (!part) return "cannot stand alone";
  const Result<VerifiedEnvelope> alone = verify(part->envelope);
  if (!alone) return to_string(alone.error());
  return *read_value(*alone);
}

TEST(Parts, TellWhatPlainDataIs) {
  Bytes bytes;
  const VerifiedEnvelope envelope = of_value(
      Map{{"numbers", List{1, 2.5}}, {"pair", Tuple{"a", Value()}}, {"n", 7}}, bytes);

  const Part root = describe_part(envelope, root_of(envelope));
  const Part numbers = describe_part(envelope, found(envelope, "['numbers']"));
  const Part leaf = describe_part(envelope, found(envelope, "['pair'][0]"));

  EXPECT_EQ(root.type, "dict");
  EXPECT_EQ(root.count, 3u);
  EXPECT_EQ(root.size, envelope->payload.bytes.size());
  EXPECT_EQ(numbers.type, "list");
  EXPECT_EQ(numbers.size, 11u);
  EXPECT_EQ(leaf.type, "str");
  EXPECT_EQ(leaf.text, "'a'");
}

TEST(Parts, AreExtractedAsValues) {
  Bytes bytes;
  const VerifiedEnvelope envelope =
      of_value(Map{{"a", List{1, Map{{"x", Tuple{2, 3}}}}}, {"b", 4}}, bytes);

  EXPECT_EQ(value_at(envelope, "['a'][1]['x']"), Value(Tuple{2, 3}));
  EXPECT_EQ(value_at(envelope, "[\"b\"]"), Value(4));
  EXPECT_EQ(value_at(envelope, ""),
            Value(Map{{"a", List{1, Map{{"x", Tuple{2, 3}}}}}, {"b", 4}}));
}

// [shared list, [reference to it, reference to it], reference to all]
Bytes with_references() {
  Draft draft;
  draft.payload.array(3);
  draft.shared = {1, 0};
  put(draft.payload,
      {array(1), 5, array(2), reference(0), reference(0), array(1), reference(1)});
  return draft.sealed();
}

TEST(Parts, HoldWhatTheyReferToOutside) {
  const Bytes bytes = with_references();
  const VerifiedEnvelope envelope = verified(bytes);

  const auto part = PartExtractor(envelope).extract(found(envelope, "[1]"));

  ASSERT_TRUE(part);
  EXPECT_EQ(part->payload, (Bytes{0x92, 0x91, 0x05, 0xd4, 0x01, 0x00}));
  EXPECT_EQ(part->envelope.shared, (std::vector<std::uint64_t>{1}));
  EXPECT_TRUE(verify(part->envelope));
}

TEST(Parts, AreFoundThroughReferences) {
  const Bytes bytes = with_references();
  const VerifiedEnvelope envelope = verified(bytes);

  EXPECT_EQ(found(envelope, "[1][1]"), found(envelope, "[0]"));
  EXPECT_EQ(found(envelope, "[2][0]"), root_of(envelope));
  EXPECT_EQ(found(envelope, "[2][0][2][0][1][0][0]"), found(envelope, "[0][0]"));
}

// No writer makes such places, but verifying lets them pass.
TEST(Parts, WhereAReferenceIsReferredToDoNotStandAlone) {
  Draft draft({array(3), array(1), 5, array(2), reference(0),  // At 4.
               reference(1), array(1), reference(1)});
  draft.shared = {1, 4};
  const Bytes bytes = draft.sealed();
  const VerifiedEnvelope envelope = verified(bytes);
  const PartExtractor extractor(envelope);

  EXPECT_FALSE(extractor.extract(found(envelope, "[1]")));
  EXPECT_FALSE(extractor.extract(found(envelope, "[2]")));
  EXPECT_TRUE(extractor.extract(found(envelope, "[0]")));
}

TEST(Parts, ThatReferToWhatIsAroundThemCannotStandAlone) {
  const Bytes bytes = with_references();
  const VerifiedEnvelope envelope = verified(bytes);

  const auto part = PartExtractor(envelope).extract(found(envelope, "[2]"));

  EXPECT_FALSE(part);
}

TEST(Parts, OfStoredBuffersKeepTheirRows) {
  const Bytes bytes = buffers_envelope();
  const VerifiedEnvelope envelope = verified(bytes);
  const std::vector<Step> steps = steps_from(envelope, root_of(envelope));
  std::size_t rows = 0;

  for (const Step& step : steps) {
    const auto part = PartExtractor(envelope).extract(step.offset);
    ASSERT_TRUE(part);
    rows += part->envelope.buffers.size();
    EXPECT_TRUE(check_buffers(part->envelope));
    EXPECT_TRUE(verify(part->envelope));
    EXPECT_GE(describe_part(envelope, step.offset).size,
              part->envelope.buffers.empty() ? 0 : part->envelope.buffers[0].length);
  }

  EXPECT_GE(rows, 2u);
}

TEST(Parts, WithCodeCannotStandAlone) {
  const Bytes bytes = function_envelope();
  const VerifiedEnvelope envelope = verified(bytes);

  EXPECT_FALSE(PartExtractor(envelope).extract(root_of(envelope)));
}

TEST(Parts, PathsThatLeadNowhereAreRefused) {
  Bytes bytes;
  const VerifiedEnvelope envelope = of_value(Map{{"a", List{1, 2}}}, bytes);

  for (const std::string_view path :
       {"a", "['a", "['a'", "[", "]", ".", "..", "['b']", "['a'][2]", "['a'][-1]",
        "['a'].x", "['a'][0][0]", "['a'][18446744073709551616]", "[['a']]", "['\\"}) {
    const Result<std::size_t> offset = find_part(envelope, path);
    ASSERT_FALSE(offset) << path;
    EXPECT_EQ(offset.error().code, ErrorCode::kRefused);
    EXPECT_GE(offset.error().offset, root_of(envelope));
  }
}

TEST(Parts, KeysOfAnyKindAreSteps) {
  Bytes bytes;
  const Map map{{"it's", 1}, {"", 2}, {3, 4}, {Tuple{"]", 5}, 6}, {true, 7}, {1.5, 8}};
  const VerifiedEnvelope envelope = of_value(map, bytes);

  const std::vector<Step> steps = steps_from(envelope, root_of(envelope));

  ASSERT_EQ(steps.size(), 6u);
  for (const Step& step : steps) {
    const std::string text = step_text(envelope, step);
    EXPECT_EQ(found(envelope, text), step.offset) << text;
  }
  EXPECT_EQ(step_text(envelope, steps[0]), "['it\\'s']");
  EXPECT_EQ(found(envelope, "[\"it's\"]"), steps[0].offset);
  EXPECT_EQ(step_text(envelope, steps[3]), "[(']', 5)]");
}

// All that can be reached, each place once.
std::set<std::size_t> all_parts(const VerifiedEnvelope& envelope) {
  std::set<std::size_t> seen = {root_of(envelope)};
  std::vector<std::size_t> open = {root_of(envelope)};
  while (!open.empty()) {
    const std::size_t offset = open.back();
    open.pop_back();
    for (const Step& step : steps_from(envelope, offset)) {
      if (seen.insert(step.offset).second) open.push_back(step.offset);
    }
  }
  return seen;
}

TEST(Parts, OfPairsWithOneKeyTheLastIsMeantAsInLoads) {
  Draft draft;
  draft.payload.map(4);
  for (const int value : {1, 2}) put(draft.payload, {"a", value, -1, value});
  const Bytes bytes = draft.sealed();
  const VerifiedEnvelope envelope = verified(bytes);

  EXPECT_EQ(value_at(envelope, "['a']"), Value(2));
  EXPECT_EQ(value_at(envelope, "[-1]"), Value(2));
}

TEST(Parts, KeysWithBackslashesAreFoundAsTheyAreWritten) {
  Bytes bytes;
  const VerifiedEnvelope envelope =
      of_value(Map{{"a\nb", 1}, {"a\\nb", 2}, {"it's", 3}}, bytes);

  for (const Step& step : steps_from(envelope, root_of(envelope))) {
    EXPECT_EQ(found(envelope, step_text(envelope, step)), step.offset);
  }
  EXPECT_EQ(value_at(envelope, "[\"it's\"]"), Value(3));
}

TEST(Parts, OfAnyPayloadAreToldAndSoundAlone) {
  std::size_t alone = 0;
  for (unsigned seed = 0; seed < 6000; ++seed) {
    const Bytes bytes = RandomPayload(seed).sealed();
    const VerifiedEnvelope envelope = verified(bytes);
    const PartExtractor extractor(envelope);
    for (const std::size_t offset : all_parts(envelope)) {
      const Part part = describe_part(envelope, offset);
      EXPECT_FALSE(part.type.empty());
      EXPECT_LE(part.size, bytes.size() + envelope->size);
      const auto extracted = extractor.extract(offset);
      if (!extracted) continue;
      ++alone;
      const Result<VerifiedEnvelope> sound = verify(extracted->envelope);
      EXPECT_TRUE(sound) << seed << " at " << offset << ": "
                         << to_string(sound.error());
    }
  }
  EXPECT_GT(alone, 5000u);
}

TEST(Parts, DeepPayloadsNeedNoStack) {
  constexpr std::size_t kDepth = 1'000'000;
  Draft draft({times(kDepth, array(1)), array(0)});
  const Bytes bytes = draft.sealed();
  const VerifiedEnvelope envelope = verified(bytes);

  const auto part = PartExtractor(envelope).extract(root_of(envelope) + 1);

  ASSERT_TRUE(part);
  EXPECT_EQ(part->payload.size(), kDepth);
  EXPECT_EQ(describe_part(envelope, root_of(envelope)).size, kDepth + 1);
}

// An offset of another payload, or one that was computed.
TEST(Parts, AreHarmlessAtAnyOffset) {
  for (unsigned seed = 0; seed < 40; ++seed) {
    const Bytes bytes = RandomPayload(seed).sealed();
    const VerifiedEnvelope envelope = verified(bytes);
    const PartExtractor extractor(envelope);

    for (std::size_t offset = 0; offset < bytes.size() + 2; ++offset) {
      const Part part = describe_part(envelope, offset);
      EXPECT_LE(part.offset, bytes.size());
      for (const Step& step : steps_from(envelope, offset)) step_text(envelope, step);
      EXPECT_NO_THROW(static_cast<void>(extractor.extract(offset)));
    }
  }
}

}  // namespace
}  // namespace waybill
