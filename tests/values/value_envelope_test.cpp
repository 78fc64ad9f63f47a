// Values written and read again, and compared with what Python wrote.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <iterator>
#include <limits>

#include "format/compressed_samples.h"
#include "format/samples.h"
#include "waybill/signature.h"
#include "waybill/value.h"

namespace waybill {
namespace {

using samples::Bytes;
using namespace data;  // NOLINT: List, Map and the like are what this is about.

Bytes written(const Value& value, const WriteOptions& options = {}) {
  const Result<Bytes> bytes = write_value(value, options);
  if (!bytes) {
    ADD_FAILURE() << to_string(bytes.error());
    return {};
  }
  return *bytes;
}

Value read(const Bytes& bytes) {
  const Result<Value> value = read_value(bytes);
  if (!value) {
    ADD_FAILURE() << to_string(value.error());
    return {};
  }
  return *value;
}

Value integer(Binary bytes, std::size_t zeros) {
  bytes.resize(bytes.size() + zeros);
  return Value::integer(bytes);
}

std::string refusal(const Value& value) {
  const Result<Bytes> bytes = write_value(value);
  if (bytes) return "written";
  EXPECT_EQ(bytes.error().offset, 0u);
  return std::string(name_of(bytes.error().code)) + " " + bytes.error().detail;
}

TEST(ValueEnvelope, EachKindComesBack) {
  const double infinity = std::numeric_limits<double>::infinity();
  const Value values[] = {
      Value(),
      true,
      false,
      0,
      -1,
      127,
      128,
      -33,
      INT64_MIN,
      INT64_MAX,
      UINT64_MAX,
      integer({1}, 8),
      integer({0xff, 0}, 8),
      integer({0x7f}, 100),
      0.0,
      1.5,
      -infinity,
      std::complex<double>(1, -2),
      "",
      "\xc3\xa4\xe4\xb8\xad",
      "a lone \xed\xb2\x80 surrogate",
      std::string(70'000, 'x'),
      Binary{},
      Binary(300, 7),
      ByteArray{{1, 2, 3}},
      List{},
      List{1, List{2, List{}}},
      Tuple{},
      Tuple{1, Tuple{2}},
      Set{},
      Set{1, 2, "a"},
      FrozenSet{Tuple{1, "x"}, FrozenSet{2}},
      Map{},
      Map{{"a", 1}, {1, Map{{Tuple{1, 2}, List{}}}}, {Value(), 2}, {FrozenSet{1}, 3}},
      Slice{Value(), 1, "any"},
      Range{0, 10, -3},
      Ellipsis(),
      NotImplemented(),
  };
  for (const Value& value : values) {
    const Value back = read(written(value));
    EXPECT_EQ(back.kind(), value.kind());
    // Sets come back sorted.
    if (value.kind() != Kind::kSet && value.kind() != Kind::kFrozenSet) {
      EXPECT_EQ(back, value);
    }
    EXPECT_EQ(written(back), written(value));
  }
}

TEST(ValueEnvelope, StoredBuffersAreBytesOrABytearray) {
  const Binary& text = samples::kStoredText;

  const Value value = read(samples::buffers_envelope());

  EXPECT_EQ(value, Value(List{text, ByteArray{samples::kStoredItems}, text}));
}

TEST(ValueEnvelope, CompressedBuffersAreWhatTheyHold) {
  const Binary content = samples::rising(100'000, 8);
  Binary frames(content.size());
  BufferParts buffer;
  buffer.bytes = content;
  compress_buffer(buffer, 3, frames.data());

  const Value value = read(samples::with_stored(buffer.bytes, buffer.length, 8));

  EXPECT_EQ(value, Value(List{content}));
}

TEST(ValueEnvelope, SignsOfZeroAndNanTravel) {
  const Value zero = read(written(-0.0));
  const Value nan = read(written(std::nan("")));

  EXPECT_TRUE(std::signbit(*zero.get_if<double>()));
  EXPECT_TRUE(std::isnan(*nan.get_if<double>()));
}

// The example of docs/wire_format.md.
TEST(ValueEnvelope, BytesAreThoseOfThePage) {
  WriteOptions options = {.python = {3, 11, 3495}};

  EXPECT_EQ(written(Map{{"answer", 42}}, options), samples::data_envelope());
}

TEST(ValueEnvelope, WithoutAPythonTheHeaderNamesNone) {
  const Bytes bytes = written(1);
  const Result<Envelope> envelope = open_whole(bytes);

  ASSERT_TRUE(envelope);
  EXPECT_EQ(envelope->python, PythonVersion());
}

TEST(ValueEnvelope, SetsAreSortedByTheirBytes) {
  EXPECT_EQ(written(Set{3, "b", 1, "a"}), written(Set{"a", "b", 1, 3}));
  EXPECT_EQ(read(written(Set{3, "b", 1, "a"})), (Value(Set{1, 3, "a", "b"})));
  EXPECT_EQ(written(Map{{FrozenSet{2, 1}, 0}}), written(Map{{FrozenSet{1, 2}, 0}}));
}

class GoldenData : public testing::TestWithParam<const char*> {};

TEST_P(GoldenData, OfPythonIsReadAndWrittenAgainByteByByte) {
  std::ifstream file(
      std::string(WAYBILL_TESTS_DIR "/golden/v1/data-") + GetParam() + ".waybill",
      std::ios::binary);
  const Bytes bytes{std::istreambuf_iterator<char>(file), {}};
  const Result<Envelope> envelope = open_whole(bytes);
  ASSERT_TRUE(envelope);

  const Value value = read(bytes);

  const auto* map = value.get_if<Map>();
  ASSERT_NE(map, nullptr);
  ASSERT_NE(map->find("floats"), nullptr);
  EXPECT_EQ(map->find("floats")->items()->size(), 4u);
  EXPECT_EQ(*map->find("text"),
            (Value(List{"", "plain", "\xc3\xa4\xe4\xb8\xad\xf0\x9f\x98\x80",
                        "\xed\xb2\x80"})));
  EXPECT_EQ(*map->find("range"), (Value(Range{0, 10, 3})));
  WriteOptions options = {.python = envelope->python};
  EXPECT_EQ(written(value, options), bytes);
}

INSTANTIATE_TEST_SUITE_P(ValueEnvelope, GoldenData,
                         testing::Values("3.11", "3.12", "3.13", "3.14", "3.15"),
                         [](const auto& version) {
                           std::string name = version.param;
                           name.erase(1, 1);
                           return name;
                         });

TEST(ValueEnvelope, SignaturesAndTheApplicationFieldGoAlong) {
  const SigningKey key = SigningKey::generate(SignatureAlgorithm::kEd25519);
  auto keys = std::make_shared<KeyRing>();
  keys->add(key);
  const Bytes nonce = {1, 2, 3};
  WriteOptions options = {.application = nonce, .key = &key};
  LoadOptions load_options = {.policy = std::make_shared<Policy>(), .keys = keys};
  const Gate gate(load_options);

  const Bytes bytes = written(List{1}, options);

  EXPECT_EQ(read_value(bytes, gate), Value(List{1}));
  EXPECT_EQ(open_whole(bytes)->application.size(), 3u);
  EXPECT_EQ(read_value(written(List{1}), gate).error().code, ErrorCode::kBadSignature);
}

TEST(ValueEnvelope, WhatCannotBeWrittenIsNamedWithItsPath) {
  const Value bad = "\xff";
  EXPECT_EQ(refusal(bad), "malformed value: text is not UTF-8; use Binary for bytes");
  EXPECT_EQ(refusal(Map{{"runs", List{1, Tuple{bad}}}}),
            "malformed value['runs'][1][0]: text is not UTF-8; use Binary for bytes");
  EXPECT_EQ(refusal(Map{{1, 2}, {bad, 1}}),
            "malformed value: text is not UTF-8; use Binary for bytes");
  EXPECT_EQ(refusal(Map{{7, bad}}),
            "malformed value.values()[0]: text is not UTF-8; use Binary for bytes");
  EXPECT_EQ(
      refusal(List{Range{1, 2, 0}}),
      "malformed value[0]: a range should have three ints, and a step other than 0");
  EXPECT_EQ(refusal(Range{1, 2, true}),
            "malformed value: a range should have three ints, and a step other than 0");
  EXPECT_EQ(refusal(Slice{1}), "malformed value: a slice or range has three items");
}

TEST(ValueEnvelope, DepthOfWritingTakesNoStack) {
  Value value;
  for (int i = 0; i < 200'000; ++i) {
    std::vector<Value> items(1);
    items[0] = std::move(value);
    value = List(std::move(items));
  }

  const Bytes bytes = written(value);

  EXPECT_EQ(read_value(bytes).error().code, ErrorCode::kLimitExceeded);
  const Result<Value> back = read_value(bytes, Limits{});
  ASSERT_TRUE(back);
  EXPECT_EQ(*back, value);
}

TEST(ValueEnvelope, LargeBytesStandBehindThePayload) {
  const Binary large(64 << 10, 'x');
  const Binary small((64 << 10) - 1, 'y');
  const Value value = List{large, ByteArray{large}, Map{{large, small}}, Set{large}};

  const Bytes bytes = written(value);

  const auto envelope = open_whole(bytes);
  ASSERT_TRUE(envelope);
  ASSERT_EQ(envelope->buffers.size(), 3u);  // What is sorted by its bytes stays.
  EXPECT_EQ(envelope->buffers[0].kind, wire::BufferKind::kBytes);
  EXPECT_EQ(envelope->buffers[1].kind, wire::BufferKind::kByteArray);
  EXPECT_EQ(read(bytes), value);
}

}  // namespace
}  // namespace waybill
