#include "format/compression.h"

#include <gtest/gtest.h>

#include "format/compressed_samples.h"

namespace waybill::envelope {
namespace {

using samples::Bytes;

Bytes shuffled_slowly(const Bytes& items, std::size_t item_size) {
  const std::size_t count = items.size() / item_size;
  Bytes out(items);
  for (std::size_t i = 0; i < count * item_size; ++i) {
    out[i % item_size * count + i / item_size] = items[i];
  }
  return out;
}

TEST(ByteShuffle, SortsBytesByTheirPlaceInAnItem) {
  for (const std::uint8_t item_size : Bytes{2, 4, 8, 16}) {
    for (const std::size_t size :
         {0, 1, 2, 15, 16, 63, 64, 127, 128, 129, 1000, 4111}) {
      const Bytes items = samples::noise(size);
      Bytes shuffled(size), back(size);

      shuffle(items, item_size, shuffled.data());
      unshuffle(shuffled, item_size, back.data());

      EXPECT_EQ(shuffled, shuffled_slowly(items, item_size)) << size;
      EXPECT_EQ(back, items) << size << " by " << int{item_size};
    }
  }
}

}  // namespace
}  // namespace waybill::envelope
