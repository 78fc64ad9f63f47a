#include "wire/reader.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include <msgpack.hpp>

#include "wire/writer.h"

namespace waybill::wire {
namespace {

using Bytes = std::vector<std::uint8_t>;

// A random value, of every type and length class that msgpack has.
class RandomValues {
 public:
  explicit RandomValues(unsigned seed) : random_(seed) {}

  void write(Writer& out, int depth = 0) {
    switch (random_() % (depth > 4 ? 7 : 9)) {
      case 0:
        return out.nil();
      case 1:
        return out.boolean(random_() % 2 == 0);
      case 2:
        return out.integer(integer());
      case 3:
        return out.unsigned_integer(static_cast<std::uint64_t>(integer()));
      case 4:
        return out.real(static_cast<double>(integer()) / 8);
      case 5:
        return out.text(std::string(length(), 'x'));
      case 6:
        if (random_() % 2 == 0) return out.binary(Bytes(length()));
        return out.extension(ExtType{static_cast<std::int8_t>(random_() % 256)},
                             Bytes(length()));
      case 7: {
        const std::size_t count = random_() % 20;
        out.array(count);
        for (std::size_t i = 0; i < count; ++i) write(out, depth + 1);
        return;
      }
      default: {
        const std::size_t count = random_() % 18;
        out.map(count);
        for (std::size_t i = 0; i < 2 * count; ++i) write(out, depth + 1);
      }
    }
  }

 private:
  std::int64_t integer() {
    const auto bits = (std::uint64_t{random_()} << 32 | random_()) >> (random_() % 64);
    return static_cast<std::int64_t>(random_() % 2 == 0 ? bits : ~bits);
  }
  std::size_t length() {
    constexpr std::size_t kLengths[] = {0, 1, 2, 3, 4, 8, 15, 16, 17, 31, 32, 255, 256};
    return kLengths[random_() % std::size(kLengths)];
  }

  std::mt19937 random_;
};

void expect_same(Reader& reader, const msgpack::object& object) {
  Token token;
  ASSERT_TRUE(reader.next(token)) << to_string(reader.error());
  switch (object.type) {
    case msgpack::type::NIL:
      EXPECT_EQ(token.type, TokenType::kNil);
      break;
    case msgpack::type::BOOLEAN:
      ASSERT_EQ(token.type, TokenType::kBoolean);
      EXPECT_EQ(token.integer != 0, object.via.boolean);
      break;
    case msgpack::type::POSITIVE_INTEGER:
      if (object.via.u64 > INT64_MAX) {
        ASSERT_EQ(token.type, TokenType::kUnsigned);
        EXPECT_EQ(token.unsigned_integer, object.via.u64);
      } else {
        ASSERT_EQ(token.type, TokenType::kInteger);
        EXPECT_EQ(token.integer, static_cast<std::int64_t>(object.via.u64));
      }
      break;
    case msgpack::type::NEGATIVE_INTEGER:
      ASSERT_EQ(token.type, TokenType::kInteger);
      EXPECT_EQ(token.integer, object.via.i64);
      break;
    case msgpack::type::FLOAT32:
    case msgpack::type::FLOAT64:
      ASSERT_EQ(token.type, TokenType::kReal);
      EXPECT_EQ(token.real, object.via.f64);
      break;
    case msgpack::type::STR:
      ASSERT_EQ(token.type, TokenType::kText);
      EXPECT_EQ(token.text(),
                std::string_view(object.via.str.ptr, object.via.str.size));
      break;
    case msgpack::type::BIN:
      ASSERT_EQ(token.type, TokenType::kBinary);
      EXPECT_EQ(token.bytes.size(), object.via.bin.size);
      break;
    case msgpack::type::EXT:
      ASSERT_EQ(token.type, TokenType::kExtension);
      EXPECT_EQ(token.ext_type, object.via.ext.type());
      EXPECT_EQ(token.bytes.size(), object.via.ext.size);
      break;
    case msgpack::type::ARRAY:
      ASSERT_EQ(token.type, TokenType::kArray);
      ASSERT_EQ(token.count, object.via.array.size);
      for (const msgpack::object& item : object.via.array) expect_same(reader, item);
      break;
    case msgpack::type::MAP:
      ASSERT_EQ(token.type, TokenType::kMap);
      ASSERT_EQ(token.count, object.via.map.size);
      for (const msgpack::object_kv& pair : object.via.map) {
        expect_same(reader, pair.key);
        expect_same(reader, pair.val);
      }
  }
}

Error error_of_next(const Bytes& bytes, const Limits& limits = {}) {
  Reader reader(bytes, limits);
  Token token;
  EXPECT_FALSE(reader.next(token));
  return reader.error();
}

TEST(Reader, AgreesWithMsgpackOnRandomValues) {
  for (unsigned seed = 0; seed < 400; ++seed) {
    Writer out;
    RandomValues(seed).write(out);
    const Bytes bytes = out.take();

    const auto handle =
        msgpack::unpack(reinterpret_cast<const char*>(bytes.data()), bytes.size());

    Reader reader(bytes);
    expect_same(reader, handle.get());
    EXPECT_TRUE(reader.at_end()) << "seed " << seed;
  }
}

TEST(Reader, AcceptsTheRandomBytesThatMsgpackAccepts) {
  std::mt19937 random(7);
  for (int round = 0; round < 50000; ++round) {
    Bytes bytes(1 + random() % 24);
    for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random());
    std::size_t end = 0;
    msgpack::null_visitor visitor;
    const bool expected = msgpack::parse(reinterpret_cast<const char*>(bytes.data()),
                                         bytes.size(), end, visitor);

    Reader reader(bytes);
    const bool accepted = reader.skip();

    ASSERT_EQ(accepted, expected) << "round " << round;
    if (accepted) {
      ASSERT_EQ(reader.offset(), end);
    }
  }
}

TEST(Reader, SkipsWhatNextReads) {
  for (unsigned seed = 0; seed < 500; ++seed) {
    Writer out;
    RandomValues(seed).write(out);

    Reader reader(out.view());

    EXPECT_TRUE(reader.skip());
    EXPECT_TRUE(reader.at_end());
  }
}

TEST(Reader, RefusesEveryCutOfAValue) {
  for (unsigned seed = 0; seed < 60; ++seed) {
    Writer out;
    RandomValues(seed).write(out);
    if (out.size() > 3000) continue;  // Each cut is read from the start.
    for (std::size_t size = 0; size < out.size(); ++size) {
      Reader reader(out.view().first(size));
      EXPECT_FALSE(reader.skip());
      EXPECT_EQ(reader.error().code, ErrorCode::kTruncated);
      EXPECT_LE(reader.error().offset, size);
    }
  }
}

TEST(Reader, RejectsCountBeyondInput) {
  EXPECT_EQ(error_of_next({0xdd, 0xff, 0xff, 0xff, 0xff, 0xc0}).code,
            ErrorCode::kTruncated);
  EXPECT_EQ(error_of_next({0x92, 0xc0}).code, ErrorCode::kTruncated);
}

TEST(Reader, CountsBothHalvesOfAPair) {
  EXPECT_EQ(error_of_next({0x82, 0xc0, 0xc0, 0xc0}).code, ErrorCode::kTruncated);
}

TEST(Reader, RejectsTextBeyondInput) {
  EXPECT_EQ(error_of_next({0xdb, 0xff, 0xff, 0xff, 0xff, 'x'}).code,
            ErrorCode::kTruncated);
}

TEST(Reader, RejectsTheByteThatMsgpackNeverUses) {
  const Error error = error_of_next({0xc1});

  EXPECT_EQ(error.code, ErrorCode::kMalformed);
  EXPECT_EQ(error.offset, 0u);
}

TEST(Reader, StopsAtTheLimitsOfValuesAndDepth) {
  const struct {
    Bytes bytes;
    Limits limits;
    std::size_t offset;
  } rows[] = {{{0x93, 1, 2, 3}, {.max_values = 3}, 3},
              {{0x91, 0x91, 0x91, 0xc0}, {.max_depth = 2}, 2}};
  for (const auto& row : rows) {
    Reader reader(row.bytes, row.limits);

    EXPECT_FALSE(reader.skip());

    EXPECT_EQ(reader.error().code, ErrorCode::kLimitExceeded);
    EXPECT_EQ(reader.error().offset, row.offset);
  }
}

TEST(Reader, SkipsAMillionNestedArrays) {
  Bytes bytes(1000000, 0x91);
  bytes.push_back(0xc0);
  Reader reader(bytes);

  EXPECT_TRUE(reader.skip());
  EXPECT_TRUE(reader.at_end());
}

TEST(Reader, KeepsTheFirstError) {
  const Bytes bytes = {0xc1};
  Reader reader(bytes);
  Token token;
  EXPECT_FALSE(reader.next(token));

  reader.fail(ErrorCode::kUnknownTag, 0, "later");

  EXPECT_EQ(reader.error().code, ErrorCode::kMalformed);
  EXPECT_FALSE(reader.next(token));
}

TEST(Reader, AddsTheBaseToOffsets) {
  const Bytes bytes = {0xc0, 0xc1};
  Reader reader(bytes, Limits{}, 100);
  Token token;

  EXPECT_TRUE(reader.next(token));
  EXPECT_EQ(token.offset, 100u);
  EXPECT_FALSE(reader.next(token));
  EXPECT_EQ(reader.error().offset, 101u);
}

TEST(Reader, NamesWhatIsOfTheWrongType) {
  const Bytes bytes = {0xa0};
  Reader reader(bytes);
  std::uint64_t count = 0;

  EXPECT_FALSE(reader.read_map(count, "the manifest"));

  EXPECT_EQ(to_string(reader.error()),
            "malformed at byte 0: the manifest should be a map and is text");
}

TEST(Reader, RefusesNegativeAndLargeNumbersAsUnsigned) {
  const Bytes negative = {0xff};
  const Bytes large = {0xcc, 200};
  std::uint64_t value = 0;

  EXPECT_FALSE(Reader(negative).read_unsigned(value, 100, "a number"));
  EXPECT_FALSE(Reader(large).read_unsigned(value, 100, "a number"));
  EXPECT_TRUE(Reader(large).read_unsigned(value, 200, "a number"));
}

TEST(Reader, TakesANodeTagOnlyWhereOneStands) {
  const Bytes bytes = {0xd4, 0x00, 0x07, 0xd4, 0x01, 0x07};
  Reader reader(bytes);
  std::uint8_t tag = 0;

  EXPECT_TRUE(reader.read_node_tag(tag));
  EXPECT_EQ(tag, 7);
  EXPECT_FALSE(reader.read_node_tag(tag));
  EXPECT_EQ(reader.offset(), 3u);
}

TEST(Reader, SkipsPlainDataAroundAllElse) {
  for (unsigned seed = 0; seed < 200; ++seed) {
    Writer out;
    RandomValues(seed).write(out);
    Reader reader(out.view());
    std::uint64_t count = 1;
    while ((count = reader.skip_plain(count, SIZE_MAX)) != 0) {
      Token token;
      ASSERT_TRUE(reader.next(token)) << seed;
      // Of plain data only an array that could be a node stops it.
      ASSERT_TRUE(token.type == TokenType::kExtension ||
                  (token.type == TokenType::kArray && reader.rest()[0] == 0xd4));
      --count;
      if (token.type == TokenType::kArray) count += token.count;
    }
    EXPECT_TRUE(reader.at_end()) << seed;
  }
}

// The values that are left of three, and the offset of the first of them.
std::pair<std::uint64_t, std::size_t> plain_in(const Bytes& bytes,
                                               std::size_t stop = SIZE_MAX,
                                               const Limits& limits = {}) {
  Reader reader(bytes, limits);
  const std::uint64_t left = reader.skip_plain(3, stop);
  EXPECT_FALSE(reader.failed());
  return {left, reader.offset()};
}

TEST(Reader, StopsBeforeWhatIsNotPlainData) {
  const std::vector<Bytes> others = {
      {0xd4, 0x01, 0x00},        // a reference
      {0xc7, 0x01, 0x03, 0x00},  // an extension with a length
      {0x91, 0xd4, 0x00, 0x01},  // a node
      {0xa1, 0xff},              // not UTF-8
      {0xd9, 0x01, 0xff},
      {0xa2, 'x'},  // cut off
      {0xd9, 0x05, 'x'},
      {0xcd, 0x00},
      {0xda, 0x00},
      {0x92, 0x01},
      {0x81, 0x01},
      {0xc1},
      {},
  };
  for (const Bytes& other : others) {
    Bytes bytes = {0x01, 0x82, 0xa1, 'k', 0x91, 0xc0, 0xa0};
    bytes.insert(bytes.end(), other.begin(), other.end());
    EXPECT_EQ(plain_in(bytes), std::pair(std::uint64_t{2}, std::size_t{7}));
  }
}

TEST(Reader, StopsBeforePlainDataThatStartsAtAnOffset) {
  const Bytes bytes = {0x01, 0x92, 0xa1, 'a', 0xc4, 1, 0, 0xc3};
  const std::uint64_t left[] = {3, 2, 3, 2, 2, 1, 1, 1, 0};
  const std::size_t offsets[] = {0, 1, 2, 4, 4, 7, 7, 7, 8};
  for (std::size_t stop = 0; stop <= bytes.size(); ++stop) {
    EXPECT_EQ(plain_in(bytes, stop), std::pair(left[stop], offsets[stop])) << stop;
  }
}

TEST(Reader, SkipsNoPlainDataThatCouldExceedALimit) {
  const Bytes bytes = {0x01, 0x02, 0x03};
  EXPECT_EQ(plain_in(bytes, SIZE_MAX, {.max_values = 2}).first, 3u);
  EXPECT_EQ(plain_in(bytes, SIZE_MAX, {.max_values = 3}).first, 0u);
}

TEST(Reader, ReadsIndicesOfOneTwoFourAndEightBytes) {
  for (const std::uint64_t index : {0ull, 255ull, 256ull, 65536ull, 1ull << 40}) {
    Writer out;
    out.index(ExtType::kReference, index);
    Reader reader(out.view());
    Token token;
    std::uint64_t value = 1;

    EXPECT_TRUE(reader.next(token));
    EXPECT_TRUE(index_of(token.bytes, value));
    EXPECT_EQ(value, index);
  }
  std::uint64_t value = 0;
  EXPECT_FALSE(index_of(Bytes{1, 2, 3}, value));
  EXPECT_FALSE(index_of({}, value));
}

}  // namespace
}  // namespace waybill::wire
