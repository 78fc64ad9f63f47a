// How much of a stream is one envelope.

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "samples.h"
#include "waybill/stream_length.h"

namespace waybill {
namespace {

std::vector<samples::Bytes> all_samples() {
  samples::Draft data;
  samples::fill_with_data(data);
  samples::Draft function;
  samples::fill_with_function(function);
  return {data.sealed(), function.sealed(), samples::buffers_envelope()};
}

TEST(StreamLength, TellsTheLengthOfAWholeValue) {
  for (const samples::Bytes& sample : all_samples()) {
    std::vector<std::uint8_t> stream = sample;
    stream.push_back(0x93);

    const Extent extent = StreamLength().measure(stream);

    EXPECT_EQ(extent.size, sample.size());
    EXPECT_EQ(extent.missing, 0u);
  }
}

TEST(StreamLength, NeverAsksForMoreThanTheValueHas) {
  for (const samples::Bytes& sample : all_samples()) {
    for (std::size_t cut = 0; cut < sample.size(); ++cut) {
      const Extent extent = StreamLength().measure(BytesView(sample).first(cut));

      EXPECT_EQ(extent.size, 0u);
      EXPECT_GE(extent.missing, 1u);
      EXPECT_LE(extent.missing, sample.size() - cut);
    }
  }
}

TEST(StreamLength, DoesNotLookAtBytesTwice) {
  samples::Bytes sample = all_samples().front();
  const std::size_t half = sample.size() / 2;
  StreamLength stream_length;
  ASSERT_NE(stream_length.measure(BytesView(sample).first(half)).missing, 0u);

  std::fill(sample.begin(), sample.begin() + static_cast<std::ptrdiff_t>(half) - 8,
            std::uint8_t{0xc1});

  EXPECT_EQ(stream_length.measure(sample).size, sample.size());
}

// An envelope of this one value, as far as is measured: [["wb", value]].
samples::Bytes with_mark(const samples::Bytes& value) {
  samples::Bytes bytes = {0x91, 0x92, 0xa2, 'w', 'b'};
  bytes.insert(bytes.end(), value.begin(), value.end());
  return bytes;
}

TEST(StreamLength, GoesOnWhereItWasWithTheSameResult) {
  for (const samples::Bytes& sample : all_samples()) {
    StreamLength stream_length;
    for (std::size_t cut = 0; cut <= sample.size(); ++cut) {
      const BytesView bytes = BytesView(sample).first(cut);

      EXPECT_EQ(stream_length.measure(bytes), StreamLength().measure(bytes)) << cut;
    }
  }
}

TEST(StreamLength, CountsEveryFormOfMsgpack) {
  const std::vector<std::vector<std::uint8_t>> values = {{0xc0},
                                                         {0x7f},
                                                         {0xe0},
                                                         {0xcc, 1},
                                                         {0xcd, 1, 1},
                                                         {0xce, 1, 1, 1, 1},
                                                         {0xca, 1, 1, 1, 1},
                                                         {0xcb, 1, 1, 1, 1, 1, 1, 1, 1},
                                                         {0xa1, 'x'},
                                                         {0xd9, 1, 'x'},
                                                         {0xda, 0, 1, 'x'},
                                                         {0xdb, 0, 0, 0, 1, 'x'},
                                                         {0xc4, 1, 1},
                                                         {0xc5, 0, 1, 1},
                                                         {0xc6, 0, 0, 0, 1, 1},
                                                         {0xc7, 1, 5, 1},
                                                         {0xc8, 0, 1, 5, 1},
                                                         {0xc9, 0, 0, 0, 1, 5, 1},
                                                         {0xd4, 0, 1},
                                                         {0xd5, 0, 1, 2},
                                                         {0xd6, 0, 1, 2, 3, 4},
                                                         {0x91, 1},
                                                         {0x81, 1, 2},
                                                         {0xdc, 0, 1, 1},
                                                         {0xdd, 0, 0, 0, 1, 1},
                                                         {0xde, 0, 1, 1, 2},
                                                         {0xdf, 0, 0, 0, 1, 1, 2}};
  for (const auto& value : values) {
    const samples::Bytes bytes = with_mark(value);

    EXPECT_EQ(StreamLength().measure(bytes).size, bytes.size()) << int{value[0]};
  }
}

TEST(StreamLength, AsksForBuffersWhenItKnowsTheirTable) {
  const samples::Bytes sample = samples::buffers_envelope();
  const std::size_t head = open(sample)->bytes.size();
  StreamLength stream_length({.max_bytes = sample.size() - 1});

  EXPECT_EQ(StreamLength().measure(BytesView(sample).first(head)),
            (Extent{0, sample.size() - head}));
  EXPECT_EQ(stream_length.measure(BytesView(sample).first(head)),
            (Extent{0, sample.size() - head}));
  EXPECT_EQ(
      StreamLength({.max_bytes = head + 9}).measure(BytesView(sample).first(head)),
      (Extent{0, 10}));
}

TEST(StreamLength, StopsAtATableThatIsWrong) {
  samples::Bytes sample = samples::buffers_envelope();
  const Result<Envelope> envelope = open(sample);
  const std::size_t row =
      envelope->debug_info.offset + envelope->debug_info.bytes.size() + 2;
  ASSERT_EQ(sample[row + 1], 0);  // The place of the first buffer.

  sample[row + 1] = 64;

  EXPECT_EQ(StreamLength().measure(sample), Extent{});
}

TEST(StreamLength, PassesOverThePayloadByItsLength) {
  samples::Bytes sample = all_samples().front();
  const Result<Envelope> envelope = open(sample);
  const std::size_t start = envelope->payload.offset;

  EXPECT_EQ(StreamLength().measure(BytesView(sample).first(start)).missing,
            envelope->payload.bytes.size() + 3);  // Three values follow.
  std::fill_n(sample.begin() + static_cast<std::ptrdiff_t>(start),
              envelope->payload.bytes.size(), std::uint8_t{0xc1});
  EXPECT_EQ(StreamLength().measure(sample).size, sample.size());
}

TEST(StreamLength, StopsAtALengthThatIsNone) {
  const samples::Bytes before = {0x99, 0x92, 0xa2, 'w', 'b', 1, 0x80, 0x90, 0x90};
  const std::vector<samples::Bytes> lengths = {
      {0xff}, {0xc0}, {0xa0}, {0x90}, {0xcf, 0xff, 0, 0, 0, 0, 0, 0, 0}};
  for (const samples::Bytes& length : lengths) {
    samples::Bytes bytes = before;
    bytes.insert(bytes.end(), length.begin(), length.end());

    EXPECT_NE(StreamLength().measure(before).missing, 0u);
    EXPECT_EQ(StreamLength().measure(bytes), Extent{}) << int{length[0]};
  }
}

TEST(StreamLength, TakesHugeClaimsForWhatTheyAre) {
  const samples::Bytes claim = with_mark({0xdd, 0x7f, 0xff, 0xff, 0xff});

  EXPECT_EQ(StreamLength().measure(claim).missing, 0x7fffffffu);
}

TEST(StreamLength, AsksForOneByteBeyondMaxBytesAtMost) {
  samples::Bytes claim = with_mark({0xdd, 0xff, 0xff, 0xff, 0xff});
  StreamLength stream_length({.max_bytes = 100});

  EXPECT_EQ(stream_length.measure(claim), (Extent{0, 101 - claim.size()}));
  claim.resize(101);
  EXPECT_EQ(stream_length.measure(claim), Extent{});
}

TEST(StreamLength, StopsWhereAnEnvelopeCannotStartSo) {
  const std::vector<samples::Bytes> inputs = {
      {0x80},                          // A pickle.
      {0xc1},                          // No msgpack.
      {0x99, 0xc0},                    // The header should be an array,
      {0x99, 0x95, 0xa3},              // the mark of two letters,
      {0x99, 0x95, 0xa2, 'w', 'c', 1}  // and these.
  };
  for (const samples::Bytes& input : inputs) {
    const BytesView before = BytesView(input).first(input.size() - 1);

    EXPECT_NE(StreamLength().measure(before).missing, 0u) << int{input.back()};
    EXPECT_EQ(StreamLength().measure(input), Extent{}) << int{input.back()};
  }
}

// Containers in the header that never end.
samples::Bytes nested(std::size_t depth) {
  samples::Bytes bytes = {0x99, 0x95, 0xa2, 'w', 'b', 1, 3, 11, 0};
  bytes.insert(bytes.end(), depth, 0x91);
  return bytes;
}

TEST(StreamLength, StopsAtContainersThatNeverEnd) {
  constexpr std::size_t kDepth = 100;
  const Limits limits = {.max_depth = kDepth};

  EXPECT_NE(StreamLength(limits).measure(nested(kDepth)).missing, 0u);
  EXPECT_EQ(StreamLength(limits).measure(nested(kDepth + 3)), Extent{});
}

TEST(StreamLength, AllowsTheDepthThatCodeIsAllowedInItsSection) {
  constexpr std::size_t kDepth = 3;
  samples::Draft draft;
  samples::fill_with_data(draft);
  draft.code = {{0x91, 0x91, 0x91, 0xc0}};
  const samples::Bytes sealed = draft.sealed();

  EXPECT_EQ(StreamLength({.max_depth = kDepth}).measure(sealed).size, sealed.size());
}

}  // namespace
}  // namespace waybill
