// Values by themselves: what becomes what, and that depth takes no stack.

#include "waybill/value.h"

#include <gtest/gtest.h>

#include <limits>
#include <type_traits>

namespace waybill::data {
namespace {

constexpr std::size_t kDeep = 300'000;

// Lists, maps by their values, maps by their keys and tuples in turn; `leaf` inside.
Value nested(std::size_t depth, Value leaf) {
  Value value = std::move(leaf);
  for (std::size_t i = 0; i < depth; ++i) {
    if (i % 4 == 0) {
      std::vector<Value> items(1);
      items[0] = std::move(value);
      value = List(std::move(items));
    } else if (i % 4 == 3) {
      std::vector<Value> items(3);
      items[1] = std::move(value);
      value = Tuple(std::move(items));
    } else {
      std::vector<std::pair<Value, Value>> pairs(2);
      (i % 4 == 1 ? pairs[0].first : pairs[0].second) = std::move(value);
      value = Map(std::move(pairs));
    }
  }
  return value;
}

// What a double or 64 bits may not hold is not narrowed in silence.
static_assert(std::is_constructible_v<Value, float>);
static_assert(!std::is_constructible_v<Value, long double>);

TEST(Value, IsOfTheKindOfWhatItIsMadeFrom) {
  EXPECT_EQ(Value().kind(), Kind::kNil);
  EXPECT_EQ(Value(true).kind(), Kind::kBoolean);
  EXPECT_EQ(Value(1).kind(), Kind::kInteger);
  EXPECT_EQ(Value(1u).kind(), Kind::kInteger);
  EXPECT_EQ(Value(std::uint64_t{1} << 63).kind(), Kind::kUnsigned);
  EXPECT_EQ(Value(1.0f).kind(), Kind::kReal);
  EXPECT_EQ(Value(std::complex<double>(1, 2)).kind(), Kind::kComplex);
  EXPECT_EQ(Value("text").kind(), Kind::kText);
  EXPECT_EQ(Value(std::string_view("text")).kind(), Kind::kText);
  EXPECT_EQ(Value(Binary{1}).kind(), Kind::kBinary);
  EXPECT_EQ(Value(ByteArray{{1}}).kind(), Kind::kByteArray);
  EXPECT_EQ(Value(List{1}).kind(), Kind::kList);
  EXPECT_EQ(Value(Tuple{1}).kind(), Kind::kTuple);
  EXPECT_EQ(Value(Set{1}).kind(), Kind::kSet);
  EXPECT_EQ(Value(FrozenSet{1}).kind(), Kind::kFrozenSet);
  EXPECT_EQ(Value(Map{{1, 2}}).kind(), Kind::kMap);
  EXPECT_EQ(Value(Slice{1, 2, 3}).kind(), Kind::kSlice);
  EXPECT_EQ(Value(Range{1, 2, 3}).kind(), Kind::kRange);
  EXPECT_EQ(Value(Ellipsis()).kind(), Kind::kEllipsis);
  EXPECT_EQ(Value(NotImplemented()).kind(), Kind::kNotImplemented);
}

TEST(Value, IsNotMadeOfPointersAndCharacters) {
  enum Unscoped { kOne };
  EXPECT_FALSE((std::is_constructible_v<Value, const int*>));
  EXPECT_FALSE((std::is_constructible_v<Value, void*>));
  EXPECT_FALSE((std::is_constructible_v<Value, std::nullptr_t>));
  EXPECT_FALSE((std::is_constructible_v<Value, char>));
  EXPECT_FALSE((std::is_constructible_v<Value, char32_t>));
  EXPECT_FALSE((std::is_constructible_v<Value, Unscoped>));
}

TEST(Value, GivesWhatIsInItAndConvertsNothing) {
  const Value value = 7;

  ASSERT_NE(value.get_if<std::int64_t>(), nullptr);
  EXPECT_EQ(*value.get_if<std::int64_t>(), 7);
  EXPECT_EQ(value.get_if<std::uint64_t>(), nullptr);
  EXPECT_EQ(value.get_if<double>(), nullptr);
  EXPECT_EQ(value.get_if<bool>(), nullptr);
  EXPECT_EQ(value.items(), nullptr);
}

TEST(Value, BracesAreItemsHoweverMany) {
  const List inner{1};
  EXPECT_EQ(List{Value(inner)}.items.size(), 1u);
  EXPECT_EQ(List{Value(inner)}.items[0].kind(), Kind::kList);
#ifndef __clang__  // Clang 14 copies: see the comment at Items.
  EXPECT_EQ(List{inner}.items[0].kind(), Kind::kList);
#endif
  EXPECT_EQ((Map{{"a", "b"}}.pairs.size()), 1u);
  EXPECT_EQ((Map{{"a", "b"}, {"c", "d"}}.pairs.size()), 2u);
}

TEST(Value, MapsFindTextAlone) {
  const Map map{{1, "number"}, {Binary{'a'}, "bytes"}, {"a", "text"}};

  ASSERT_NE(map.find("a"), nullptr);
  EXPECT_EQ(*map.find("a"), Value("text"));
  EXPECT_EQ(map.find("1"), nullptr);
}

TEST(Value, EqualityKnowsKindsAndOrder) {
  EXPECT_EQ(Value(List{1, Map{{"a", Tuple{}}}}), Value(List{1, Map{{"a", Tuple{}}}}));
  EXPECT_NE(Value(1), Value(1.0));
  EXPECT_NE(Value(1), Value(true));
  EXPECT_NE(Value(List{1}), Value(Tuple{1}));
  EXPECT_NE(Value(List{1}), Value(List{1, 2}));
  EXPECT_NE(Value(Set{1, 2}), Value(Set{2, 1}));
  EXPECT_NE(Value(Map{{1, 2}}), Value(Map{{1, 3}}));
  EXPECT_NE(Value(Map{{1, 2}}), Value(Map{{2, 2}}));
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_NE(Value(nan), Value(nan));
}

TEST(Value, CopiesAreDeepAndTheirOwn) {
  Value original = Map{{"a", List{1, Tuple{Set{2}, "x"}}}, {Tuple{1}, Binary{1, 2}}};

  Value copy = original;
  original = 1;
  Value assigned;
  assigned = copy;

  EXPECT_EQ(copy,
            (Value(Map{{"a", List{1, Tuple{Set{2}, "x"}}}, {Tuple{1}, Binary{1, 2}}})));
  EXPECT_EQ(assigned, copy);
}

TEST(Value, PartsCanTakeThePlaceOfTheWhole) {
  Value value = List{List{1, 2}, 3};

  value = (*value.items())[0];

  EXPECT_EQ(value, Value(List{1, 2}));
}

TEST(Value, DepthTakesNoStack) {
  const Value value = nested(kDeep, 1);

  Value copy = value;

  EXPECT_EQ(copy, value);
  EXPECT_NE(copy, nested(kDeep, 2));
  copy = 5;
  EXPECT_EQ(copy, Value(5));
}

TEST(Value, WideAndDeepIsTakenApart) {
  Value value = List{nested(1000, 1), "x", nested(1001, Tuple{1}), List{}, Map{}};
  for (int i = 0; i < 1000; ++i) {
    std::vector<Value> items(3);
    items[0] = nested(5, i);
    items[1] = std::move(value);
    items[2] = nested(3, "leaf");
    value = List(std::move(items));
  }
  const Value copy = value;

  EXPECT_EQ(copy, value);
}

std::string decimal(const Binary& bytes) {
  const Value value = Value::integer(bytes);
  const auto* big = value.get_if<BigInteger>();
  return big == nullptr ? "not big" : big->decimal();
}

Binary zeros_after(Binary bytes, std::size_t count) {
  bytes.resize(bytes.size() + count);
  return bytes;
}

TEST(Value, IntegersAreOfTheKindThatTheirSizeAsksFor) {
  EXPECT_EQ(Value::integer({}), Value(0));
  EXPECT_EQ(Value::integer(Binary{0, 0, 0, 0, 0, 0, 0, 0, 0, 5}), Value(5));
  EXPECT_EQ(Value::integer(Binary{0xff}), Value(-1));
  EXPECT_EQ(Value::integer(Binary{0xff, 0xff, 0x7f}), Value(-129));
  EXPECT_EQ(Value::integer(zeros_after({0x80}, 7)), Value(INT64_MIN));
  EXPECT_EQ(Value::integer(zeros_after({0x00, 0x80}, 7)),
            Value(std::uint64_t{1} << 63));
  EXPECT_EQ(Value::integer(zeros_after({1}, 8)).kind(), Kind::kBigInteger);
  EXPECT_EQ(Value::integer(zeros_after({0xff, 0x00}, 8)).kind(), Kind::kBigInteger);
}

TEST(Value, BigIntegersHaveDecimalDigits) {
  EXPECT_EQ(decimal(zeros_after({1}, 8)), "18446744073709551616");
  EXPECT_EQ(decimal(zeros_after({0xff}, 8)), "-18446744073709551616");
  EXPECT_EQ(decimal(zeros_after({0x10}, 12)), "1267650600228229401496703205376");
  EXPECT_EQ(decimal({0xff, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}),
            "-9223372036854775809");
  // 10^20: zeros at the end stay.
  EXPECT_EQ(decimal({0x05, 0x6b, 0xc7, 0x5e, 0x2d, 0x63, 0x10, 0x00, 0x00}),
            "100000000000000000000");
}

TEST(Value, NamesOfKindsAreThoseOfReports) {
  EXPECT_EQ(name_of(Kind::kNil), "none");
  EXPECT_EQ(name_of(Kind::kMap), "dict");
  EXPECT_EQ(name_of(Kind::kSlice), "slice");
  EXPECT_EQ(name_of(Kind::kNotImplemented), "not_implemented");
}

}  // namespace
}  // namespace waybill::data
