// Each ceiling, just met and just exceeded, and the weights behind them.

#include "waybill/limits.h"

#include <gtest/gtest.h>

#include "envelope/samples.h"
#include "waybill/envelope.h"

namespace waybill {
namespace {

using samples::Bytes;
using samples::Draft;
using wire::ExtType;
using wire::NodeTag;

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
  Draft draft;
  draft.payload.array(3);
  draft.payload.text("four");
  draft.payload.array(3);
  for (int i = 1; i <= 3; ++i) draft.payload.integer(i);
  draft.payload.map(1);
  draft.payload.integer(1);
  draft.payload.integer(2);
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
    draft.payload.index(ExtType::kReference, i - 1);
    draft.payload.index(ExtType::kReference, i - 1);
  }
  return draft.sealed();
}

TEST(Limits, TextIsMeasured) {
  EXPECT_EQ(told(sample(), {.max_text = 4}), "sound");
  EXPECT_TRUE(names(told(sample(), {.max_text = 3}), "max_text"));
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

TEST(Limits, CycleCountsAsOne) {
  Draft draft;
  draft.shared = {0};
  draft.payload.array(2);
  draft.payload.index(ExtType::kReference, 0);
  draft.payload.index(ExtType::kReference, 0);
  EXPECT_EQ(told(draft.sealed(), {.max_unfolded = 3}), "sound");
  EXPECT_TRUE(names(told(draft.sealed(), {.max_unfolded = 2}), "max_unfolded"));
}

TEST(Limits, NestedTargetsAreClosedEachInItsPlace) {
  // [[1, 2], ref, ref to the outer of two lists, …]: the inner is 3, the outer 4.
  Draft draft;
  draft.payload.array(3);
  draft.shared.push_back(draft.payload.size());
  draft.payload.array(1);
  draft.shared.push_back(draft.payload.size());
  draft.payload.array(2);
  draft.payload.integer(1);
  draft.payload.integer(2);
  draft.payload.index(ExtType::kReference, 0);
  draft.payload.index(ExtType::kReference, 1);
  EXPECT_EQ(told(draft.sealed(), {.max_unfolded = 1 + 4 + 4 + 3}), "sound");
  EXPECT_TRUE(
      names(told(draft.sealed(), {.max_unfolded = 1 + 4 + 4 + 2}), "max_unfolded"));
}

TEST(Limits, SampleIsSoundUnderStrictOnes) {
  EXPECT_EQ(told(sample(), kStrictLimits), "sound");
  EXPECT_EQ(told(samples::function_envelope(), kStrictLimits), "sound");
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
