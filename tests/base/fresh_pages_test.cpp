#include "base/fresh_pages.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <numeric>
#include <vector>

namespace waybill::base {
namespace {

using Bytes = std::vector<std::uint8_t>;

Bytes numbered(std::size_t size) {
  Bytes bytes(size);
  std::iota(bytes.begin(), bytes.end(), std::uint8_t{1});
  return bytes;
}

// Memory that nobody has written to, as malloc() gives it.
struct Fresh {
  explicit Fresh(std::size_t size) : begin(static_cast<std::uint8_t*>(malloc(size))) {}
  struct Free {
    void operator()(std::uint8_t* bytes) const { free(bytes); }
  };
  std::unique_ptr<std::uint8_t, Free> begin;
};

TEST(FreshPages, WhatIsCopiedInBlocksIsShownOnceAndInOrder) {
  for (const std::size_t size : {0, 1, 4095, 262144, 262145, 4194304, 9000001}) {
    for (const std::size_t offset : {0, 1, 64, 4096}) {
      const Bytes from = numbered(size);
      const Fresh to(size + offset);
      std::uint8_t* const begin = to.begin.get() + offset;
      FreshPages pages(begin, size);

      Bytes shown;
      copy_in_blocks(begin, from, pages, [&](BytesView copy) {
        shown.insert(shown.end(), copy.begin(), copy.end());
      });

      EXPECT_TRUE(std::ranges::equal(BytesView(begin, size), from)) << size;
      EXPECT_EQ(shown, from) << size;
    }
  }
}

TEST(FreshPages, WhatWasWrittenThereStays) {
  const std::size_t size = std::size_t{40} << 20;
  Bytes bytes = numbered(size);

  FreshPages pages(bytes.data() + 5, size - 10);
  pages.populate_to(bytes.data() + 7);
  pages.populate_to(bytes.data() + size / 2);
  pages.populate_to(bytes.data() + size);
  pages.populate_to(bytes.data() + size);
  advise_large_pages(bytes.data() + 1, size - 2);

  EXPECT_EQ(bytes, numbered(size));
}

TEST(FreshPages, WhatOverlapsIsMovedToLowerPlaces) {
  Bytes bytes = numbered(1 << 20);
  const Bytes expected(bytes.begin() + 100, bytes.end());
  FreshPages pages(bytes.data(), bytes.size());

  copy_in_blocks(bytes.data(), BytesView(bytes).subspan(100), pages, [](BytesView) {});

  bytes.resize(expected.size());
  EXPECT_EQ(bytes, expected);
}

}  // namespace
}  // namespace waybill::base
