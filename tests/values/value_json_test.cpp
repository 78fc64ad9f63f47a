// Values as JSON: nothing is lost unless that is asked for.

#include "waybill/value_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/fails.h"
#include "waybill/report.h"

namespace waybill {
namespace {

using namespace data;  // NOLINT: List, Map and the like are what this is about.

std::string json(const Value& value, bool is_loose = false) {
  JsonOptions options = {.indent = -1, .is_loose = is_loose};
  const Result<std::string> text = value_json(value, options);
  return text ? *text : to_string(text.error());
}

const double kInfinity = std::numeric_limits<double>::infinity();
const Value kBig = Value::integer(Binary{1, 0, 0, 0, 0, 0, 0, 0, 0});

TEST(ValueJson, WhatJsonHasIsWrittenAsSuch) {
  EXPECT_EQ(json(Value()), "null");
  EXPECT_EQ(json(List{true, 1, -1, UINT64_MAX, 1.0, 0.1, "x\n"}),
            R"([true,1,-1,18446744073709551615,1.0,0.1,"x\n"])");
  EXPECT_EQ(json(Map{{"b", 1}, {"a", Map{}}}), R"({"b":1,"a":{}})");
}

TEST(ValueJson, WhatItHasNotHasANameWithADollar) {
  EXPECT_EQ(json(Tuple{1}), R"({"$tuple":[1]})");
  EXPECT_EQ(json(Set{1}), R"({"$set":[1]})");
  EXPECT_EQ(json(FrozenSet{1}), R"({"$frozenset":[1]})");
  EXPECT_EQ(json(Slice{Value(), 1, 2}), R"({"$slice":[null,1,2]})");
  EXPECT_EQ(json(Range{0, 1, 2}), R"({"$range":[0,1,2]})");
  EXPECT_EQ(json(Binary{0, 255, 1, 2}), R"({"$bytes":"AP8BAg=="})");
  EXPECT_EQ(json(ByteArray{{'a'}}), R"({"$bytearray":"YQ=="})");
  EXPECT_EQ(json(kBig), R"({"$int":"18446744073709551616"})");
  EXPECT_EQ(json(List{kInfinity, -kInfinity, std::nan("")}),
            R"([{"$float":"inf"},{"$float":"-inf"},{"$float":"nan"}])");
  EXPECT_EQ(json(std::complex<double>(1, kInfinity)),
            R"({"$complex":[1.0,{"$float":"inf"}]})");
  EXPECT_EQ(json("\xed\xb2\x80"), R"({"$text":"7bKA"})");
  EXPECT_EQ(json(Ellipsis()), R"({"$constant":"ellipsis"})");
  EXPECT_EQ(json(NotImplemented()), R"({"$constant":"not_implemented"})");
}

TEST(ValueJson, DictsThatAreNoObjectsAreArraysOfPairs) {
  EXPECT_EQ(json(Map{{1, 2}, {"a", 3}}), R"({"$dict":[[1,2],["a",3]]})");
  EXPECT_EQ(json(Map{{"$tuple", List{1}}}), R"({"$dict":[["$tuple",[1]]]})");
  EXPECT_EQ(json(Map{{"\xed\xb2\x80", 1}}), R"({"$dict":[[{"$text":"7bKA"},1]]})");
}

TEST(ValueJson, LooseFormTakesWhatIsNearest) {
  EXPECT_EQ(json(Tuple{1, Set{2}, Range{0, 1, 2}}, true), "[1,[2],[0,1,2]]");
  EXPECT_EQ(json(Binary{0, 255}, true), R"("AP8=")");
  EXPECT_EQ(json(List{kBig, kInfinity, std::complex<double>(1, 2)}, true),
            R"(["18446744073709551616",null,[1.0,2.0]])");
  EXPECT_EQ(json("a\xed\xb2\x80\xed\x95\x9c", true), "\"a\xef\xbf\xbd\xed\x95\x9c\"");
  EXPECT_EQ(json(Map{{1, 2}, {Value(), 3}, {true, 4}, {"$x", 5}, {0.5, 6}}, true),
            R"({"1":2,"null":3,"true":4,"$x":5,"0.5":6})");
}

TEST(ValueJson, LooseFormRefusesKeysThatAreNoNamesOrTheSame) {
  EXPECT_THAT(json(Map{{Tuple{1}, 2}}, true),
              testing::StartsWith("refused at byte 0: a tuple cannot be a key"));
  EXPECT_THAT(json(Map{{1, 2}, {"1", 2}}, true),
              testing::StartsWith("refused at byte 0: two keys of a dict"));
}

TEST(ValueJson, DepthIsBounded) {
  const auto nested = [](int depth) {
    Value value = 1;
    for (int i = 0; i < depth; ++i) {
      std::vector<Value> items(1);
      items[0] = std::move(value);
      value = Tuple(std::move(items));
    }
    return value;
  };
  EXPECT_TRUE(value_json(nested(512)));
  EXPECT_EQ(value_json(nested(513)).error().code, ErrorCode::kLimitExceeded);
  EXPECT_EQ(value_json(nested(1'000'000)).error().code, ErrorCode::kLimitExceeded);
}

TEST(ValueJson, TextThatIsNoUtf8IsRefused) {
  EXPECT_EQ(value_json("\xff").error().code, ErrorCode::kMalformed);
}

TEST(ValueJson, NothingInItMovesACursor) {
  EXPECT_EQ(json("\x1b[2J\x7f\xc2\x9b\xe2\x80\xae\xe2\x81\xa6 \xe2\x80\x94"),
            "\"\\u001b[2J\\u007f\\u009b\\u202e\\u2066 \xe2\x80\x94\"");
  EXPECT_EQ(json(Map{{"\xc2\x9b", 1}}), "{\"\\u009b\":1}");
}

// A value of each kind, at its longest.
std::vector<Value> long_ones() {
  const double longest = -2.2250738585072014e-308;
  const auto repeated = [](std::string_view text) {
    std::string out;
    for (int i = 0; i < 100; ++i) out += text;
    return Value(out);
  };
  return {
      INT64_MIN,
      UINT64_MAX,
      longest,
      -kInfinity,
      std::complex<double>(longest, longest),
      std::complex<double>(-kInfinity, -kInfinity),
      kBig,
      Value::integer(Binary(999, 0x80)),
      NotImplemented(),
      repeated("\"\\\n\x01\x7f"),
      repeated("\xc2\x85"),
      repeated("\xd8\x9c"),
      repeated("\xe2\x80\xae"),
      repeated("\xed\xa0\x80"),
      Binary(100, 0),
      ByteArray{Binary(100, 0)},
      FrozenSet(),
      Map(),
      Tuple{Tuple{Tuple{1}}},
      Map{{Tuple{1}, Map{{2, Map{{"key", 3}}}}}},
      Map{{std::string(100, 'k'), 1}},
  };
}

TEST(ValueJson, HasNoMoreThanMaxBytes) {
  for (const Value& value : long_ones()) {
    std::vector<Value> many(20);
    std::ranges::fill(many, value);
    for (const Value& whole : {value, Value(List(std::move(many)))}) {
      for (const int indent : {-1, 0, 2, 100}) {
        for (const bool is_loose : {false, true}) {
          JsonOptions options{.indent = indent, .is_loose = is_loose};
          const Result<std::string> json = value_json(whole, options);
          if (!json) continue;  // A tuple is no name in the loose form.
          options.max_bytes = json->size() - 1;

          EXPECT_THAT(value_json(whole, options), Fails(ErrorCode::kLimitExceeded))
              << *json;
        }
      }
    }
  }
}

TEST(ValueJson, IntsWhoseDigitsTakeLongAreRefused) {
  const Value longest = Value::integer(Binary(1 << 17, 0x55));
  const Value another = Value::integer(Binary(2048, 0x55));
  const Value huge = Value::integer(Binary(1 << 26, 0x55));

  EXPECT_TRUE(value_json(longest));
  EXPECT_EQ(value_json(List{another, longest}).error().code, ErrorCode::kLimitExceeded);
  EXPECT_EQ(value_json(huge).error().code, ErrorCode::kLimitExceeded);
}

TEST(ValueJson, LooseFormTellsWhatIsWrongWithAKey) {
  JsonOptions options{.is_loose = true, .max_bytes = 60};
  const Value key = Map{{std::string(100, 'a'), 1}};
  EXPECT_EQ(value_json(key, options).error().code, ErrorCode::kLimitExceeded);
  EXPECT_EQ(value_json(Map{{"\xff", 1}}, {.is_loose = true}).error().code,
            ErrorCode::kMalformed);
}

TEST(ValueJson, EscapesWhatReportsEscape) {
  for (unsigned point = 0x80; point < 0x3000; ++point) {
    std::string text;
    if (point >= 0x800) text += static_cast<char>(0xe0 | point >> 12);
    text += static_cast<char>(point >= 0x800 ? 0x80 | (point >> 6 & 0x3f)
                                             : 0xc0 | point >> 6);
    text += static_cast<char>(0x80 | (point & 0x3f));

    EXPECT_EQ(json(text) == '"' + text + '"', printable(text) == text) << point;
  }
}

TEST(ValueJson, ColoursChangeNothingElse) {
  const Value value = Map{{"a \"b\"", List{1, "x\\", Value(), -0.5}}, {"e", List{}}};
  JsonOptions options = {.colours = true};
  std::string text = *value_json(value, options);

  EXPECT_THAT(text, testing::HasSubstr("\x1b[36m\"a \\\"b\\\"\"\x1b[0m: [\n"));
  for (const char* colour : {"\x1b[36m", "\x1b[32m", "\x1b[33m", "\x1b[0m"}) {
    for (std::size_t at; (at = text.find(colour)) != text.npos;) {
      text.erase(at, std::string_view(colour).size());
    }
  }
  EXPECT_EQ(text, *value_json(value));
}

}  // namespace
}  // namespace waybill
