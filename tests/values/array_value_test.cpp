// Arrays as plain data.

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "waybill/parts.h"
#include "waybill/value.h"

namespace waybill {
namespace {

using data::List;
using data::Value;

template <typename... Items>
std::vector<std::uint8_t> bytes_of(Items... items) {
  std::vector<std::uint8_t> bytes;
  const auto add = [&](auto item) {
    std::uint8_t raw[sizeof item];
    std::memcpy(raw, &item, sizeof item);
    bytes.insert(bytes.end(), raw, raw + sizeof item);
  };
  (add(items), ...);
  return bytes;
}

Result<Value> value_of(std::string item, std::vector<std::uint64_t> shape,
                       const std::vector<std::uint8_t>& bytes,
                       bool is_fortran = false) {
  ArrayPart array;
  array.item = std::move(item);
  array.shape = std::move(shape);
  array.is_fortran = is_fortran;
  array.bytes = bytes;
  return array_value(array);
}

TEST(ArrayValue, HasAListForEachDimension) {
  const auto bytes = bytes_of(1, 2, 3, 4, 5, 6);

  EXPECT_EQ(*value_of("int32", {2, 3}, bytes),
            Value(List{List{1, 2, 3}, List{4, 5, 6}}));
  EXPECT_EQ(*value_of("int32", {2, 3}, bytes, true),
            Value(List{List{1, 3, 5}, List{2, 4, 6}}));
  EXPECT_EQ(*value_of("int32", {6}, bytes), Value(List{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(*value_of("int32", {}, bytes_of(7)), Value(7));
  EXPECT_EQ(*value_of("int32", {2, 0}, {}), Value(List{List{}, List{}}));
}

TEST(ArrayValue, ReadsItemsOfAllUsualTypes) {
  const auto one = [](std::string item, const std::vector<std::uint8_t>& bytes) {
    return *value_of(std::move(item), {}, bytes);
  };

  EXPECT_EQ(one("bool", {1}), Value(true));
  EXPECT_EQ(one("int8", {0xff}), Value(-1));
  EXPECT_EQ(one("uint8", {0xff}), Value(255));
  EXPECT_EQ(one("int16", bytes_of(std::int16_t{-300})), Value(-300));
  EXPECT_EQ(one("int64", bytes_of(std::numeric_limits<std::int64_t>::min())),
            Value(std::numeric_limits<std::int64_t>::min()));
  EXPECT_EQ(one("uint64", bytes_of(std::numeric_limits<std::uint64_t>::max())),
            Value(std::numeric_limits<std::uint64_t>::max()));
  EXPECT_EQ(one("float32", bytes_of(0.5f)), Value(0.5));
  EXPECT_EQ(one("float64", bytes_of(0.1)), Value(0.1));
  EXPECT_EQ(one("complex64", bytes_of(0.5f, -1.5f)),
            Value(std::complex<double>(0.5, -1.5)));
  EXPECT_EQ(one("complex128", bytes_of(0.1, 0.2)),
            Value(std::complex<double>(0.1, 0.2)));
}

TEST(ArrayValue, ReadsHalves) {
  const auto half = [](std::uint16_t bits) {
    return *value_of("float16", {}, bytes_of(bits))->get_if<double>();
  };

  EXPECT_EQ(half(0x3c00), 1.0);
  EXPECT_EQ(half(0xc500), -5.0);
  EXPECT_EQ(half(0x0001), std::ldexp(1.0, -24));
  EXPECT_EQ(half(0x7bff), 65504.0);
  EXPECT_EQ(half(0xfc00), -std::numeric_limits<double>::infinity());
  EXPECT_TRUE(std::isnan(half(0x7e00)));
}

TEST(ArrayValue, ReadsItemsOfEitherOrder) {
  EXPECT_EQ(*value_of(">i4", {}, {0, 0, 1, 2}), Value(258));
  EXPECT_EQ(*value_of("<i4", {}, {2, 1, 0, 0}), Value(258));
  EXPECT_EQ(*value_of(">f8", {}, {0x3f, 0xe0, 0, 0, 0, 0, 0, 0}), Value(0.5));
}

TEST(ArrayValue, RefusesWhatIsNoNumberOrNotAllThere) {
  for (const char* item : {"object", "U2", "V12", "datetime64", "", "float", "float12",
                           "int128", "float8", ">", ">i", ">i3", "longdouble128"}) {
    const Result<Value> value = value_of(item, {}, std::vector<std::uint8_t>(16));
    ASSERT_FALSE(value) << item;
    EXPECT_EQ(value.error().code, ErrorCode::kRefused);
  }
  EXPECT_EQ(value_of("int32", {2}, bytes_of(1)).error().code, ErrorCode::kRefused);
  EXPECT_EQ(value_of("int32", {1}, bytes_of(1, 2)).error().code, ErrorCode::kRefused);
}

TEST(ArrayValue, RefusesMoreItemsThanTheLimitBeforeItMakesAny) {
  const std::uint64_t kLarge = std::uint64_t{1} << 62;

  EXPECT_EQ(value_of("int8", {kLarge, 0}, {}).error().code, ErrorCode::kLimitExceeded);
  EXPECT_EQ(value_of("int8", {kLarge, kLarge}, {}).error().code,
            ErrorCode::kLimitExceeded);
  EXPECT_EQ(*value_of("int8", {0, kLarge}, {}), Value(List{}));
}

TEST(ArrayValue, RefusesMoreDimensionsThanArraysHave) {
  EXPECT_FALSE(value_of("int8", std::vector<std::uint64_t>(100, 1), {1}));
}

}  // namespace
}  // namespace waybill
