// Each ceiling, just met and just exceeded, and the weights behind them.

#include "waybill/limits.h"

#include <gtest/gtest.h>

#include "format/samples.h"
#include "waybill/envelope.h"

namespace waybill {
namespace {

using namespace samples;

std::string told(const Bytes& bytes, const Limits& limits) {
  const auto envelope = open_whole(bytes, limits);
  if (!envelope) return to_string(envelope.error());
  const auto verdict = verify(*envelope, limits);
  return verdict ? "sound" : to_string(verdict.error());
}

bool names(const std::string& text, std::string_view ceiling) {
  return text.starts_with("limit_exceeded") && text.find(ceiling) != std::string::npos;
}

// [text, [1, 2, 3], {1: 2}]
Bytes sample() {
  Draft draft({array(3), "four", array(3)});
  for (int i = 1; i <= 3; ++i) draft.payload.integer(i);
  put(draft.payload, {map(1), 1, 2});
  return draft.sealed();
}

// Lists of two references each to the list before: 2^levels values when unfolded.
Bytes bomb(std::size_t levels) {
  Draft draft;
  draft.payload.array(levels + 1);
  for (std::size_t i = 0; i <= levels; ++i) {
    if (i < levels) draft.shared.push_back(draft.payload.size());
    draft.payload.array(i == 0 ? 0 : 2);
    if (i == 0) continue;
    put(draft.payload, {reference(i - 1), reference(i - 1)});
  }
  return draft.sealed();
}

TEST(Limits, TextIsMeasured) {
  EXPECT_EQ(told(sample(), {.max_text = 4}), "sound");
  EXPECT_TRUE(names(told(sample(), {.max_text = 3}), "max_text"));
}

TEST(Limits, StoredBuffersAreMeasuredFromTheirTable) {
  const Bytes bytes = buffers_envelope();
  const Result<Envelope> head = open_head(bytes);
  const auto told_of_head = [&](const Limits& limits) {
    const auto verdict = verify(*head, limits);
    return verdict ? "sound" : to_string(verdict.error());
  };

  // The bytes have 10, and stand twice; the memory of an array is no text.
  EXPECT_EQ(told_of_head({.max_text = 10}), "sound");
  EXPECT_TRUE(names(told_of_head({.max_text = 9}), "max_text"));
  EXPECT_EQ(told_of_head({.max_memory = 8000}), "sound");
  EXPECT_TRUE(names(told_of_head({.max_memory = 1000}), "max_memory"));
}

TEST(Limits, StoredBuffersOfAnyLengthDoNotWrapAround) {
  const Bytes bytes = buffers_envelope();
  Result<Envelope> head = open_head(bytes);
  for (StoredBuffer& row : head->buffers) row.length = INT64_MAX;

  const auto verdict = verify(*head, {.max_memory = SIZE_MAX - 1});

  ASSERT_FALSE(verdict);
  EXPECT_TRUE(names(to_string(verdict.error()), "max_memory"));
}

TEST(Limits, ItemsAreCounted) {
  EXPECT_EQ(told(sample(), {.max_items = 3}), "sound");
  EXPECT_TRUE(names(told(sample(), {.max_items = 2}), "max_items"));
}

TEST(Limits, MemoryIsEstimated) {
  EXPECT_EQ(told(sample(), {.max_memory = 4000}), "sound");
  EXPECT_TRUE(names(told(sample(), {.max_memory = 500}), "max_memory"));
}

TEST(Limits, DepthIsCounted) {
  EXPECT_EQ(told(sample(), {.max_depth = 2}), "sound");
  EXPECT_TRUE(names(told(sample(), {.max_depth = 1}), "max_depth"));
}

TEST(Limits, BytesAreCounted) {
  const Bytes bytes = sample();
  EXPECT_EQ(told(bytes, {.max_bytes = bytes.size()}), "sound");
  EXPECT_TRUE(names(told(bytes, {.max_bytes = bytes.size() - 1}), "max_bytes"));
}

TEST(Limits, ReferencesCountAsWhatTheyMean) {
  // 1 + Σ (1 + 2 × what was before): 1, 3, 7, 15 …
  EXPECT_EQ(told(bomb(3), {.max_unfolded = 1 + 1 + 3 + 7 + 15}), "sound");
  EXPECT_TRUE(
      names(told(bomb(3), {.max_unfolded = 1 + 1 + 3 + 7 + 14}), "max_unfolded"));
}

TEST(Limits, BombOfReferencesIsRefusedByStrictLimitsAlone) {
  EXPECT_EQ(told(bomb(100), {}), "sound");
  EXPECT_TRUE(names(told(bomb(100), kStrictLimits), "max_unfolded"));
  // More than 64 bits count.
  EXPECT_EQ(told(bomb(100), {.max_text = 1}), "sound");
}

// [range(start, stop, step), more references to it]
Bytes range_of(const Bytes& start, const Bytes& stop, std::int64_t step,
               std::size_t references = 0) {
  Draft draft;
  const auto write = [&](const Bytes& twos_complement) {
    if (twos_complement.size() > 8) {
      draft.payload.extension(ExtType::kInteger, twos_complement);
      return;
    }
    std::int64_t value = twos_complement[0] >= 0x80 ? -1 : 0;
    for (const std::uint8_t byte : twos_complement) value = value << 8 | byte;
    draft.payload.integer(value);
  };
  draft.payload.array(1 + references);
  if (references != 0) draft.shared = {draft.payload.size()};
  draft.payload.node(NodeTag::kRange, 3);
  write(start);
  write(stop);
  draft.payload.integer(step);
  for (std::size_t i = 0; i < references; ++i) {
    draft.payload.index(ExtType::kReference, 0);
  }
  return draft.sealed();
}

Bytes large(std::uint8_t first, std::size_t size, std::uint8_t last = 0) {
  Bytes bytes(size);
  bytes.front() = first;
  bytes.back() = last;
  return bytes;
}

TEST(Limits, RangeCountsAsItsInts) {
  struct Row {
    Bytes start, stop;
    std::int64_t step;
    std::size_t ints;
  };
  const Row rows[] = {
      {{0}, {100}, 1, 100},
      {{0}, {100}, 33, 4},
      {{0}, {99}, 33, 3},
      {{100}, {0}, 1, 0},
      {{100}, {0xff}, -1, 101},
      {{100}, {0}, INT64_MIN, 1},
      {{0}, {100}, 0, 0},  // Refused where it is built.
      {large(1, 9), large(1, 9, 100), 7, 15},
      {large(0x80, 15), large(0x80, 15, 5), 1, 5},
  };
  for (const Row& row : rows) {
    const Bytes bytes = range_of(row.start, row.stop, row.step);
    EXPECT_EQ(told(bytes, {.max_unfolded = 5 + row.ints}), "sound") << row.ints;
    EXPECT_TRUE(names(told(bytes, {.max_unfolded = 4 + row.ints}), "max_unfolded"));
  }
}

TEST(Limits, RangeBeyondAllCountingIsRefused) {
  const Bytes least = large(0x80, 16);
  const Bytes most(16, 0x7f);
  const Bytes longer = large(1, 17);
  const Limits limits{.max_unfolded = Limits::kNone - 1};

  EXPECT_TRUE(names(told(range_of(least, most, 1), limits), "max_unfolded"));
  EXPECT_TRUE(names(told(range_of(most, least, -1), limits), "max_unfolded"));
  EXPECT_TRUE(names(told(range_of(longer, longer, 1), limits), "max_unfolded"));
  EXPECT_EQ(told(range_of(least, most, 1), {.max_text = 16}), "sound");
}

TEST(Limits, RangeCountsForEachReference) {
  const Bytes bytes = range_of({0}, {100}, 1, 9);

  EXPECT_EQ(told(bytes, {.max_unfolded = 1 + 10 * 104}), "sound");
  EXPECT_TRUE(names(told(bytes, {.max_unfolded = 10 * 104}), "max_unfolded"));
}

TEST(Limits, RangeOfReferencesCountsAsWhatTheyMean) {
  Draft draft;
  put(draft.payload,
      {array(2), draft.here(), extension(ExtType::kInteger, large(1, 9, 100)),
       node(NodeTag::kRange, 3), 0, reference(0), 1});

  EXPECT_TRUE(names(told(draft.sealed(), kStrictLimits), "max_unfolded"));
}

TEST(Limits, ConstantsOfCodeCountWithThePayload) {
  BodyDraft body;
  body.write_constants = Tokens{array(1002), times(1000, kNil), "a text",
                                extension(ExtType::kInteger, large(1, 9))};
  Draft draft({code_node(0)});
  draft.code = {body.body()};
  put(draft.source_locations,
      {array(1), location("a file that is longer than all else")});
  const Bytes bytes = draft.sealed();

  EXPECT_EQ(told(bytes, {.max_text = 9, .max_integer = 9, .max_unfolded = 1004}),
            "sound");
  EXPECT_TRUE(names(told(bytes, {.max_text = 5}), "max_text"));
  EXPECT_TRUE(names(told(bytes, {.max_integer = 8}), "max_integer"));
  EXPECT_TRUE(names(told(bytes, {.max_unfolded = 1003}), "max_unfolded"));
  EXPECT_TRUE(names(told(bytes, {.max_values = 1000}), "max_values"));
}

TEST(Limits, CycleCountsAsOne) {
  Draft draft({array(2), reference(0), reference(0)});
  draft.shared = {0};
  EXPECT_EQ(told(draft.sealed(), {.max_unfolded = 3}), "sound");
  EXPECT_TRUE(names(told(draft.sealed(), {.max_unfolded = 2}), "max_unfolded"));
}

TEST(Limits, NestedTargetsAreClosedEachInItsPlace) {
  // [[1, 2], ref, ref to the outer of two lists, …]: the inner is 3, the outer 4.
  Draft draft;
  put(draft.payload, {array(3), draft.here(), array(1), draft.here(), array(2), 1, 2,
                      reference(0), reference(1)});
  EXPECT_EQ(told(draft.sealed(), {.max_unfolded = 1 + 4 + 4 + 3}), "sound");
  EXPECT_TRUE(
      names(told(draft.sealed(), {.max_unfolded = 1 + 4 + 4 + 2}), "max_unfolded"));
}

TEST(Limits, SampleIsSoundUnderStrictOnes) {
  EXPECT_EQ(told(sample(), kStrictLimits), "sound");
  EXPECT_EQ(told(function_envelope(), kStrictLimits), "sound");
}

TEST(Limits, StricterTakesTheLowerOfEach) {
  Limits a;
  Limits b;
  a.max_bytes = 10;
  b.max_depth = 20;
  const Limits both = stricter(a, b);
  EXPECT_EQ(both.max_bytes, 10u);
  EXPECT_EQ(both.max_depth, 20u);
  EXPECT_EQ(both.max_items, Limits::kNone);
  EXPECT_EQ(stricter(kStrictLimits, {}), kStrictLimits);
}

}  // namespace
}  // namespace waybill
