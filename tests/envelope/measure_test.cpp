// How much of a stream is one envelope.

#include <gtest/gtest.h>

#include <vector>

#include "samples.h"
#include "waybill/envelope.h"

namespace waybill {
namespace {

std::vector<samples::Bytes> all_samples() {
  samples::Draft data;
  samples::fill_with_data(data);
  samples::Draft function;
  samples::fill_with_function(function);
  return {data.sealed(), function.sealed()};
}

TEST(Measure, TellsTheLengthOfAWholeValue) {
  for (const samples::Bytes& sample : all_samples()) {
    std::vector<std::uint8_t> stream = sample;
    stream.push_back(0x93);

    const Extent extent = measure(stream);

    EXPECT_EQ(extent.size, sample.size());
    EXPECT_EQ(extent.missing, 0u);
  }
}

TEST(Measure, NeverAsksForMoreThanTheValueHas) {
  for (const samples::Bytes& sample : all_samples()) {
    for (std::size_t cut = 0; cut < sample.size(); ++cut) {
      const Extent extent = measure(BytesView(sample).first(cut));

      EXPECT_EQ(extent.size, 0u);
      EXPECT_GE(extent.missing, 1u);
      EXPECT_LE(extent.missing, sample.size() - cut);
    }
  }
}

TEST(Measure, CountsEveryFormOfMsgpack) {
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
    EXPECT_EQ(measure(value).size, value.size()) << int{value[0]};
  }
}

TEST(Measure, TakesHugeClaimsForWhatTheyAre) {
  const std::vector<std::uint8_t> claim = {0xdd, 0xff, 0xff, 0xff, 0xff};

  EXPECT_EQ(measure(claim).missing, 0xffffffffu);
}

}  // namespace
}  // namespace waybill
