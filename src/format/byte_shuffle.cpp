// Eight items are handled at a time. A square of eight by eight bytes, in eight 64-bit
// numbers, is transposed by swapping halves, quarters and eighths of the numbers, in
// all lanes at once. Its rows are eight bytes of an item of 8 or 16 bytes; for smaller
// items, the bytes of several items, each eight items apart.
//
// Tested by tests/format/byte_shuffle_test.cpp.

#include "format/compression.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstring>

namespace waybill::envelope {
namespace {

static_assert(std::endian::native == std::endian::little);

constexpr std::size_t kLanes = 8;
using Square = std::array<std::uint64_t, kLanes>;

template <std::size_t kStep, std::uint64_t kMask>
void swap_parts(Square& rows) {
  constexpr std::size_t kShift = 8 * kStep;
  for (std::size_t i = 0; i < kLanes; ++i) {
    if ((i & kStep) != 0) continue;
    const std::uint64_t differ = (rows[i] >> kShift ^ rows[i + kStep]) & kMask;
    rows[i + kStep] ^= differ;
    rows[i] ^= differ << kShift;
  }
}

void transpose(Square& rows) {
  swap_parts<4, 0x00000000FFFFFFFF>(rows);
  swap_parts<2, 0x0000FFFF0000FFFF>(rows);
  swap_parts<1, 0x00FF00FF00FF00FF>(rows);
}

// For items of kSize bytes: the number of items in a row of a square, and of bytes that
// the row takes from each item.
template <std::size_t kSize>
constexpr std::size_t kItemsPerRow = kSize < kLanes ? kLanes / kSize : 1;
template <std::size_t kSize>
constexpr std::size_t kBytesPerItem = kSize < kLanes ? kSize : kLanes;

// Calls `each` with the first item of each square and the first byte in it. Returns the
// item after the last square.
template <std::size_t kSize, typename Each>
std::size_t each_square(std::size_t count, Each each) {
  constexpr std::size_t kItems = kLanes * kItemsPerRow<kSize>;
  std::size_t item = 0;
  for (; item + kItems <= count; item += kItems) {
    for (std::size_t byte = 0; byte < kSize; byte += kLanes) each(item, byte);
  }
  return item;
}

template <std::size_t kSize>
void shuffle_items(BytesView items, std::uint8_t* out) {
  const std::uint8_t* in = items.data();
  const std::size_t count = items.size() / kSize;
  constexpr std::size_t kBytes = kBytesPerItem<kSize>;
  std::size_t item = each_square<kSize>(count, [&](std::size_t first, std::size_t at) {
    Square rows{};
    for (std::size_t i = 0; i < kLanes; ++i) {
      for (std::size_t j = 0; j < kItemsPerRow<kSize>; ++j) {
        std::uint64_t part = 0;
        std::memcpy(&part, in + (first + i + j * kLanes) * kSize + at, kBytes);
        rows[i] |= part << 8 * kBytes * j % 64;
      }
    }
    transpose(rows);
    for (std::size_t i = 0; i < kLanes; ++i) {
      const std::size_t further = i / kBytes * kLanes;
      std::memcpy(out + (at + i % kBytes) * count + first + further, &rows[i], kLanes);
    }
  });
  for (; item < count; ++item) {
    for (std::size_t byte = 0; byte < kSize; ++byte) {
      out[byte * count + item] = in[item * kSize + byte];
    }
  }
  std::copy_n(in + count * kSize, items.size() % kSize, out + count * kSize);
}

template <std::size_t kSize>
void unshuffle_items(BytesView bytes, std::uint8_t* out) {
  const std::uint8_t* in = bytes.data();
  const std::size_t count = bytes.size() / kSize;
  constexpr std::size_t kBytes = kBytesPerItem<kSize>;
  std::size_t item = each_square<kSize>(count, [&](std::size_t first, std::size_t at) {
    Square rows;
    for (std::size_t i = 0; i < kLanes; ++i) {
      const std::size_t further = i / kBytes * kLanes;
      std::memcpy(&rows[i], in + (at + i % kBytes) * count + first + further, kLanes);
    }
    transpose(rows);
    for (std::size_t i = 0; i < kLanes; ++i) {
      for (std::size_t j = 0; j < kItemsPerRow<kSize>; ++j) {
        const std::uint64_t part = rows[i] >> 8 * kBytes * j % 64;
        std::memcpy(out + (first + i + j * kLanes) * kSize + at, &part, kBytes);
      }
    }
  });
  for (; item < count; ++item) {
    for (std::size_t byte = 0; byte < kSize; ++byte) {
      out[item * kSize + byte] = in[byte * count + item];
    }
  }
  std::copy_n(in + count * kSize, bytes.size() % kSize, out + count * kSize);
}

// Calls `call` with the size as a constant.
template <typename Call>
void with_size(std::uint8_t item_size, Call call) {
  switch (item_size) {
    case 2:
      return call.template operator()<2>();
    case 4:
      return call.template operator()<4>();
    case 8:
      return call.template operator()<8>();
    default:
      return call.template operator()<16>();
  }
}

}  // namespace

void shuffle(BytesView items, std::uint8_t item_size, std::uint8_t* out) {
  with_size(item_size, [&]<std::size_t kSize>() { shuffle_items<kSize>(items, out); });
}

void unshuffle(BytesView bytes, std::uint8_t item_size, std::uint8_t* out) {
  with_size(item_size,
            [&]<std::size_t kSize>() { unshuffle_items<kSize>(bytes, out); });
}

}  // namespace waybill::envelope
