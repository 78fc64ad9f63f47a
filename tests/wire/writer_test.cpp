#include "wire/writer.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include <msgpack.hpp>

namespace waybill::wire {
namespace {

using Bytes = std::vector<std::uint8_t>;

msgpack::object_handle unpack(const Writer& out) {
  return msgpack::unpack(reinterpret_cast<const char*>(out.view().data()), out.size());
}

TEST(Writer, WritesIntegersThatMsgpackReads) {
  std::mt19937_64 random(3);
  for (int round = 0; round < 20000; ++round) {
    const std::uint64_t bits = random() >> (random() % 64);
    const auto value = static_cast<std::int64_t>(round % 2 == 0 ? bits : ~bits);
    Writer out;
    out.integer(value);

    EXPECT_EQ(unpack(out)->as<std::int64_t>(), value);
  }
}

TEST(Number, IsWhatMsgpackWrites) {
  const auto expect_same = [](std::int64_t value) {
    std::uint8_t bytes[kMaxNumberSize];
    const std::uint8_t* end = put_integer(bytes, value);
    msgpack::sbuffer expected;
    msgpack::pack(expected, value);
    ASSERT_EQ(std::string_view(reinterpret_cast<const char*>(bytes),
                               static_cast<std::size_t>(end - bytes)),
              std::string_view(expected.data(), expected.size()))
        << value;
  };
  for (int shift = 0; shift < 64; ++shift) {
    const auto power = static_cast<std::int64_t>(std::uint64_t{1} << shift);
    for (const std::int64_t near : {-2, -1, 0, 1, 2}) {
      const auto value = static_cast<std::int64_t>(static_cast<std::uint64_t>(power) +
                                                   static_cast<std::uint64_t>(near));
      expect_same(value);
      expect_same(static_cast<std::int64_t>(~static_cast<std::uint64_t>(value)));
    }
  }
  for (int value = -70'000; value < 70'000; ++value) expect_same(value);
}

TEST(Writer, WritesTheShortestInteger) {
  const std::pair<std::int64_t, std::size_t> cases[] = {
      {0, 1},     {127, 1},   {128, 2},    {255, 2},        {256, 3},
      {65535, 3}, {65536, 5}, {-1, 1},     {-32, 1},        {-33, 2},
      {-128, 2},  {-129, 3},  {-32769, 5}, {4294967296, 9}, {-2147483649, 9}};
  for (const auto& [value, size] : cases) {
    Writer out;
    out.integer(value);
    EXPECT_EQ(out.size(), size) << value;
  }
}

TEST(Writer, WritesUnsignedIntegersAsIntegers) {
  Writer one, other;
  one.integer(300);
  other.unsigned_integer(300);

  EXPECT_TRUE(std::ranges::equal(one.view(), other.view()));
}

TEST(Writer, KeepsFloatsFloats) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  for (const double value : {0.0, -0.0, 1.0, -3.0, 0.1, 1e300, kInfinity}) {
    Writer out;
    out.real(value);
    const auto handle = unpack(out);

    ASSERT_EQ(handle->type, msgpack::type::FLOAT64);
    EXPECT_EQ(out.size(), 9u);
    EXPECT_EQ(handle->via.f64, value);
    EXPECT_EQ(std::signbit(handle->via.f64), std::signbit(value));
  }
}

TEST(Writer, KeepsTheBitsOfNotANumber) {
  Writer out;
  out.real(std::bit_cast<double>(0x7ff8000000000123));

  EXPECT_EQ(out.view()[8], 0x23);
  EXPECT_EQ(out.view()[7], 0x01);
}

TEST(Writer, WritesTheShortestHeadOfTextAndBinary) {
  const std::pair<std::size_t, std::size_t> text_heads[] = {
      {0, 1}, {31, 1}, {32, 2}, {255, 2}, {256, 3}, {65535, 3}, {65536, 5}};
  for (const auto& [length, head] : text_heads) {
    Writer out;
    out.text(std::string(length, 'x'));
    EXPECT_EQ(out.size(), length + head);
  }
  const std::pair<std::size_t, std::size_t> binary_heads[] = {
      {0, 2}, {255, 2}, {256, 3}, {65535, 3}, {65536, 5}};
  for (const auto& [length, head] : binary_heads) {
    Writer out;
    out.binary(Bytes(length));
    EXPECT_EQ(out.size(), length + head);
  }
}

TEST(Writer, StartsANodeWithItsTag) {
  Writer out;
  out.node(NodeTag::kTuple, 2);

  EXPECT_EQ(Bytes(out.view().begin(), out.view().end()),
            (Bytes{0x93, 0xd4, 0x00, 0x01}));
}

TEST(Writer, WritesTheShortestIndex) {
  const std::pair<std::uint64_t, std::size_t> cases[] = {
      {0, 3}, {255, 3}, {256, 4}, {65535, 4}, {65536, 6}, {1ull << 32, 10}};
  for (const auto& [index, size] : cases) {
    Writer out;
    out.index(ExtType::kReference, index);
    EXPECT_EQ(out.size(), size) << index;
  }
}

TEST(Writer, IsEmptyAfterTake) {
  Writer out;
  out.text("text");

  const Bytes bytes = out.take();

  EXPECT_EQ(bytes.size(), 5u);
  EXPECT_EQ(out.size(), 0u);
}

TEST(Writer, KeepsItsMemoryWhenCleared) {
  Writer out;
  out.binary(Bytes(10000));
  const std::size_t capacity = out.capacity();

  out.clear();

  EXPECT_EQ(out.size(), 0u);
  EXPECT_EQ(out.capacity(), capacity);
}

TEST(Writer, CountsWhatStaysInPlace) {
  Writer out;
  const Bytes first(300, 1);
  const Bytes second(2, 2);
  out.nil();
  for (const Bytes* bytes : {&first, &second}) {
    out.binary_head(bytes->size());
    out.append_in_place(*bytes);
  }
  out.nil();

  EXPECT_EQ(out.size(), 1 + 3 + 300 + 2 + 2 + 1u);
  EXPECT_EQ(out.view().size(), 1 + 3 + 2 + 1u);
  ASSERT_EQ(out.insertions().size(), 2u);
  EXPECT_EQ(out.insertions()[0].offset, 4u);
  EXPECT_EQ(out.insertions()[1].offset, 6u);
  EXPECT_EQ(out.insertions()[0].bytes.data(), first.data());

  out.clear();
  EXPECT_EQ(out.size(), 0u);
  EXPECT_TRUE(out.insertions().empty());
}

TEST(CursorWriter, WritesWhatWriterWrites) {
  std::uint8_t memory[64];
  Writer writer;
  CursorWriter cursor(memory);
  const auto write = [](auto& out) {
    out.map(1);
    out.text("key");
    out.real(1.5);
    out.singleton(Singleton::kEllipsis);
  };

  write(writer);
  write(cursor);

  EXPECT_TRUE(std::ranges::equal(writer.view(), BytesView(memory, cursor.at())));
}

}  // namespace
}  // namespace waybill::wire
