// What is no plain data, or too much of it, is refused with its byte.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/fails.h"
#include "format/compressed_samples.h"
#include "format/samples.h"
#include "waybill/value.h"

namespace waybill {
namespace {

using namespace samples;
using namespace data;  // NOLINT: List, Map and the like are what this is about.

// Offset of the payload in the drafts of this file.
constexpr std::size_t kPayload = 15;

std::string refusal(const Bytes& bytes, const Limits& limits = kStrictLimits) {
  const Result<Value> value = read_value(bytes, limits);
  if (value) return "read";
  return std::string(name_of(value.error().code)) + " " +
         std::to_string(value.error().offset) + " " + value.error().detail;
}

std::string refusal(const Draft& draft, const Limits& limits = kStrictLimits) {
  return refusal(draft.sealed(), limits);
}

TEST(ValueRefusals, FunctionsAreNoPlainData) {
  const Bytes bytes = function_envelope();
  EXPECT_THAT(read_value(bytes),
              Fails(ErrorCode::kRefused, open(bytes)->payload.offset + 1,
                    "a node function (f) at [0], which is not plain data"));
}

TEST(ValueRefusals, WhateverTheTermsAllow) {
  const Bytes bytes = function_envelope();

  const Result<Value> value = read_value(bytes, Gate());

  EXPECT_EQ(value.error().code, ErrorCode::kRefused);
}

TEST(ValueRefusals, ObjectsAreNamedByKindAndByte) {
  Draft draft({array(2), 1, node(NodeTag::kObject, 5), global("print"), array(0),
               object_end()});

  EXPECT_EQ(refusal(draft), "refused " + std::to_string(kPayload + 2) +
                                " a node object (builtins.print) at [1], which is not "
                                "plain data");
}

TEST(ValueRefusals, ObjectsOfTheStandardLibraryAreReadOnRequestAndNeverWritten) {
  Draft draft({node(NodeTag::kObject, 5), global("Decimal", 0), array(1), "1.50",
               object_end()});
  draft.manifest.imports = {{"decimal", ImportTime::kLoad, "decimal", "", "", 0}};
  const Bytes bytes = draft.sealed();

  EXPECT_EQ(read_value(bytes).error().code, ErrorCode::kRefused);
  const Result<Value> value =
      read_value(*verify(*open(bytes)), kStrictLimits, Objects::kStandard);
  ASSERT_TRUE(value) << value.error().detail;
  EXPECT_EQ(*value, Value(data::Standard{"decimal", "1.50"}));
  EXPECT_EQ(write_value(*value).error().code, ErrorCode::kRefused);
  EXPECT_EQ(write_value(data::Map{{*value, 1}}).error().code, ErrorCode::kRefused);
}

TEST(ValueRefusals, SoAreBuffersAndPersistentIds) {
  Draft buffer({node(NodeTag::kBuffer, 2), 0, true});
  Draft persistent({node(NodeTag::kPersistent, 1), 0});

  EXPECT_THAT(refusal(buffer), testing::HasSubstr("a node buffer"));
  EXPECT_THAT(refusal(persistent), testing::HasSubstr("a node persistent"));
}

TEST(ValueRefusals, StoredBuffersHaveToBeThere) {
  const Bytes bytes = buffers_envelope();

  EXPECT_THAT(
      read_value(*verify(*open_head(bytes))),
      Fails(ErrorCode::kTruncated, testing::_, testing::HasSubstr("stored buffer 0")));
}

TEST(ValueRefusals, CompressedBuffersHaveToBeWhatTheirRowsSay) {
  const Bytes frame = frame_of(Bytes(3000));
  const Bytes sealed = with_stored(frame, 2999);

  EXPECT_THAT(read_value(sealed),
              Fails(ErrorCode::kMalformed, open(sealed)->buffers_offset));
}

TEST(ValueRefusals, CompressedBuffersCountByWhatTheyHold) {
  const Bytes sealed = with_stored(frame_of(Bytes(3000)), 3000);

  EXPECT_TRUE(read_value(sealed, {.max_memory = 10'000}));
  EXPECT_EQ(read_value(sealed, {.max_memory = 3000}).error().code,
            ErrorCode::kLimitExceeded);
}

TEST(ValueRefusals, SoAreModulesAndImportsThatNothingUses) {
  Draft module;
  module.manifest.imports = {{"json", ImportTime::kLoad, "json", "", "", 0}};
  module.payload.index(ExtType::kModule, 0);
  Draft unused;
  unused.manifest.imports = {{"json", ImportTime::kLoad, "json", "", "", 0}};
  unused.payload.integer(1);

  EXPECT_THAT(refusal(module), testing::HasSubstr("a module (json), which is not "
                                                  "plain data"));
  EXPECT_THAT(refusal(unused), testing::StartsWith("refused 0 import of json"));
}

TEST(ValueRefusals, CyclesAreNoTrees) {
  Draft draft({array(2), 1, reference(0)});
  draft.shared = {0};

  // One byte more of shared positions.
  EXPECT_EQ(refusal(draft),
            "refused " + std::to_string(kPayload + 1 + 2) +
                " a container holds itself: plain data cannot have a cycle");
}

TEST(ValueRefusals, WhatIsSharedIsCopied) {
  Draft draft({array(4), array(2), 1, 2, "text", reference(0), reference(1)});
  draft.shared = {1, 4};

  const Bytes bytes = draft.sealed();
  const Result<Value> value = read_value(bytes);

  ASSERT_TRUE(value) << to_string(value.error());
  EXPECT_EQ(*value, (Value(List{List{1, 2}, "text", List{1, 2}, "text"})));
}

// Lists of two, each of which holds the one before twice.
Bytes laughs(std::size_t levels) {
  Draft draft;
  draft.payload.array(levels);
  std::size_t before = 0;
  for (std::size_t i = 0; i < levels; ++i) {
    const std::size_t start = draft.payload.size();
    draft.payload.array(2);
    for (int twice = 0; twice < 2; ++twice) {
      if (i == 0) {
        draft.payload.integer(twice);
      } else {
        if (twice == 0) draft.shared.push_back(before);
        draft.payload.index(ExtType::kReference, i - 1);
      }
    }
    before = start;
  }
  return draft.sealed();
}

TEST(ValueRefusals, CopiesCountEachTime) {
  EXPECT_EQ(refusal(laughs(10)), "read");
  EXPECT_THAT(refusal(laughs(60)), testing::StartsWith("limit_exceeded"));

  Limits by_values = {.max_unfolded = 1'000'000};
  Limits by_memory = {.max_memory = 10'000'000};
  Limits by_depth = {.max_depth = 12};
  EXPECT_THAT(refusal(laughs(60), by_values), testing::HasSubstr("max_unfolded"));
  EXPECT_THAT(refusal(laughs(60), by_memory), testing::HasSubstr("max_memory"));
  EXPECT_THAT(refusal(laughs(60), by_depth), testing::HasSubstr("max_depth"));
}

TEST(ValueRefusals, PlacesOfValuesCountAsMemory) {
  Draft draft;
  draft.payload.array(1000);
  for (int i = 0; i < 1000; ++i) draft.payload.nil();
  Limits limits = {.max_memory = 1000 * sizeof(Value) - 1};

  EXPECT_THAT(refusal(draft, limits), testing::HasSubstr("max_memory"));
  ++limits.max_memory;
  EXPECT_EQ(refusal(draft, limits), "read");
}

TEST(ValueRefusals, DepthStopsAtItsCeiling) {
  Draft draft({times(512, array(1)), 1});
  Draft deeper({times(513, array(1)), 1});

  EXPECT_EQ(refusal(draft), "read");
  EXPECT_THAT(refusal(deeper), testing::HasSubstr("max_depth"));
}

TEST(ValueRefusals, EqualKeysAreRefusedWithTheirMap) {
  Draft draft({array(1), map(2), 1, kNil, 1.0, kNil});

  EXPECT_EQ(refusal(draft), "malformed " + std::to_string(kPayload + 1) +
                                " keys number 0 and 1 are equal");
}

TEST(ValueRefusals, ListsAreNoKeys) {
  Draft draft({map(1), array(0), kNil});

  EXPECT_EQ(refusal(draft),
            "malformed " + std::to_string(kPayload) + " a list cannot be a key");
}

TEST(ValueRefusals, RangesHaveThreeInts) {
  Draft draft({node(NodeTag::kRange, 3), 0, "x", 1});

  EXPECT_THAT(refusal(draft),
              testing::StartsWith("malformed 15 a range should have three"));
}

TEST(ValueRefusals, SpoiledEnvelopesGiveErrorsWithinTheInput) {
  const Bytes whole =
      *write_value(Map{{"a", List{1, Tuple{2.5, "x"}}}, {Tuple{1}, Set{1, Binary{2}}}});
  for (std::size_t i = 0; i < whole.size(); ++i) {
    const Result<Value> cut = read_value(BytesView(whole).first(i));
    ASSERT_FALSE(cut);
    EXPECT_LE(cut.error().offset, i);
    for (int value = 0; value < 256; ++value) {
      Bytes bytes = whole;
      bytes[i] = static_cast<std::uint8_t>(value);
      fit_digest(bytes);
      const Result<Value> spoiled = read_value(bytes);
      if (spoiled) {
        EXPECT_TRUE(write_value(*spoiled));
      } else {
        EXPECT_LE(spoiled.error().offset, bytes.size());
      }
    }
  }
}

}  // namespace
}  // namespace waybill
