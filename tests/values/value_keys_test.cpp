// Keys are equal where Python says so.

#include "values/value_keys.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace waybill {
namespace {

using namespace data;  // NOLINT: List, Map and the like are what this is about.

// "", or what is wrong.
std::string objection_to(const std::vector<Value>& keys) {
  envelope::Failure failure;
  return envelope::are_keys(keys, failure) ? "" : failure.detail;
}

bool are_equal(const Value& a, const Value& b) {
  return objection_to({a, b}) == "keys number 0 and 1 are equal";
}

Value power_of_two(std::size_t exponent, bool is_negative = false) {
  Binary bytes(exponent / 8 + 2);
  bytes[1] = static_cast<std::uint8_t>(1u << exponent % 8);
  if (is_negative) {  // Of a power of two: all bits above are ones too.
    bytes[0] = 0xff;
    bytes[1] = static_cast<std::uint8_t>(~(bytes[1] - 1u));
  }
  return Value::integer(bytes);
}

TEST(ValueKeys, NumbersAreEqualAcrossKinds) {
  EXPECT_TRUE(are_equal(1, 1.0));
  EXPECT_TRUE(are_equal(1, true));
  EXPECT_TRUE(are_equal(0.0, false));
  EXPECT_TRUE(are_equal(0.0, -0.0));
  EXPECT_TRUE(are_equal(std::complex<double>(2, 0), 2));
  EXPECT_TRUE(are_equal(std::complex<double>(0.5, -0.0), 0.5));
  EXPECT_TRUE(are_equal(std::complex<double>(0.0, 1), std::complex<double>(-0.0, 1)));
  EXPECT_TRUE(are_equal(0x1p63, std::uint64_t{1} << 63));
  EXPECT_TRUE(are_equal(-0x1p63, INT64_MIN));
  for (const std::size_t exponent : {63u, 64u, 65u, 71u, 72u, 100u, 1023u}) {
    const double value = std::ldexp(1.0, static_cast<int>(exponent));
    EXPECT_TRUE(are_equal(value, power_of_two(exponent))) << exponent;
    EXPECT_TRUE(are_equal(-value, power_of_two(exponent, true))) << exponent;
  }
}

TEST(ValueKeys, OtherThingsDiffer) {
  EXPECT_FALSE(are_equal(1, "1"));
  EXPECT_FALSE(are_equal("a", Binary{'a'}));
  EXPECT_FALSE(are_equal(Value(), false));
  EXPECT_FALSE(are_equal(1, Tuple{1}));
  EXPECT_FALSE(are_equal(Tuple{1}, FrozenSet{1}));
  EXPECT_FALSE(are_equal(1.5, 1));
  EXPECT_FALSE(are_equal(0x1p63, INT64_MAX));
  EXPECT_FALSE(are_equal(std::numeric_limits<double>::infinity(), 1e308));
}

TEST(ValueKeys, WhatIsInTuplesAndFrozensetsCounts) {
  EXPECT_TRUE(are_equal(Tuple{1, Tuple{2}}, Tuple{1.0, Tuple{2}}));
  EXPECT_TRUE(are_equal(FrozenSet{1, 2}, FrozenSet{2.0, true}));
  EXPECT_FALSE(are_equal(Tuple{1, 2}, Tuple{2, 1}));
}

TEST(ValueKeys, WhatPythonCannotHashIsNoKey) {
  EXPECT_EQ(objection_to({1, List{}}), "a list cannot be a key");
  EXPECT_EQ(objection_to({Map{}}), "a dict cannot be a key");
  EXPECT_EQ(objection_to({Tuple{Set{}}}), "a set cannot be a key");
  EXPECT_EQ(objection_to({ByteArray{}}), "a bytearray cannot be a key");
}

TEST(ValueKeys, RangesAreForPythonToCompare) {
  EXPECT_THAT(objection_to({Range{0, 3, 1}}),
              testing::HasSubstr("only Python can compare ranges"));
  EXPECT_THAT(objection_to({Tuple{Range{0, 3, 1}}}),
              testing::HasSubstr("only Python can compare ranges"));
}

TEST(ValueKeys, NanIsNoKey) {
  const double nan = std::nan("");
  EXPECT_NE(objection_to({nan}), "");
  EXPECT_NE(objection_to({Tuple{std::complex<double>(1, nan)}}), "");
}

TEST(ValueKeys, FrozensetsHaveNoEqualItems) {
  EXPECT_EQ(objection_to({FrozenSet{1, true}}), "a frozenset has two equal items");
}

TEST(ValueKeys, DepthOfKeysIsBounded) {
  Value key = 1;
  for (int i = 0; i < envelope::kMaxKeyDepth; ++i) key = Tuple{key};
  EXPECT_EQ(objection_to({key}), "");
  EXPECT_EQ(objection_to({Value(Tuple{key})}),
            "a key nests containers more than 15 deep");
}

TEST(ValueKeys, TheSecondOfEqualKeysIsTheCulprit) {
  EXPECT_EQ(objection_to({"b", "a", "c", "a"}), "keys number 1 and 3 are equal");
}

}  // namespace
}  // namespace waybill
