#include "wire/utf8.h"

#include <gtest/gtest.h>

#include <string>

namespace waybill::wire {
namespace {

// UTF-8 of any number, sound or not.
std::string encode(std::uint32_t point) {
  const auto tail = [&](int shift) {
    return static_cast<char>(0x80 | ((point >> shift) & 0x3f));
  };
  if (point < 0x80) return {static_cast<char>(point)};
  if (point < 0x800) return {static_cast<char>(0xc0 | point >> 6), tail(0)};
  if (point < 0x10000) return {static_cast<char>(0xe0 | point >> 12), tail(6), tail(0)};
  return {static_cast<char>(0xf0 | point >> 18), tail(12), tail(6), tail(0)};
}

TEST(Utf8, AcceptsEveryCharacterButSurrogates) {
  for (std::uint32_t point = 0; point < 0x110000; ++point) {
    const bool is_surrogate = point >= 0xd800 && point < 0xe000;
    EXPECT_EQ(is_utf8(encode(point)), !is_surrogate) << point;
  }
}

TEST(Utf8, AcceptsSurrogatesWhereAllowed) {
  EXPECT_TRUE(is_utf8(encode(0xd800), Surrogates::kAllowed));
  EXPECT_TRUE(is_utf8(encode(0xdfff), Surrogates::kAllowed));
}

TEST(Utf8, RefusesNumbersBeyondUnicode) {
  EXPECT_FALSE(is_utf8(encode(0x110000)));
  EXPECT_FALSE(is_utf8("\xf8\x88\x80\x80\x80"));
}

TEST(Utf8, RefusesOverlongForms) {
  EXPECT_FALSE(is_utf8("\xc0\x80"));
  EXPECT_FALSE(is_utf8("\xc1\xbf"));
  EXPECT_FALSE(is_utf8("\xe0\x9f\xbf"));
  EXPECT_FALSE(is_utf8("\xf0\x8f\xbf\xbf"));
}

TEST(Utf8, RefusesCharactersCutOff) {
  EXPECT_FALSE(is_utf8("\xc3"));
  EXPECT_FALSE(is_utf8("\xe2\x82"));
  EXPECT_FALSE(is_utf8("\xe2(\xa1"));
  EXPECT_FALSE(is_utf8("\x80"));
}

TEST(Utf8, FindsAFaultAfterALongRunOfAscii) {
  EXPECT_TRUE(is_utf8(std::string(100, 'x')));
  EXPECT_FALSE(is_utf8(std::string(100, 'x') + "\xff"));
  EXPECT_FALSE(is_utf8("\xff" + std::string(100, 'x')));
}

TEST(Utf8, TheStartOfATextCutsNoCharacter) {
  const std::string text = "a" + encode(0x20ac) + encode(0x1f600);
  const std::size_t sizes[] = {0, 1, 1, 1, 4, 4, 4, 4, 8, 8};
  for (std::size_t most = 0; most < std::size(sizes); ++most) {
    EXPECT_EQ(prefix_size(text, most), sizes[most]) << most;
  }
  EXPECT_EQ(prefix_size("\x80\x80\x80", 2), 0u);
}

}  // namespace
}  // namespace waybill::wire
