// Arrays as plain data.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <complex>
#include <cstring>
#include <limits>
#include <memory>
#include <numeric>
#include <span>
#include <stdexcept>

#include "base/fails.h"
#include "format/samples.h"
#include "waybill/parts.h"
#include "waybill/signature.h"
#include "waybill/value.h"
#include "waybill/value_json.h"

namespace waybill {
namespace {

using data::List;
using data::Value;
using samples::Bytes;
using namespace data;  // NOLINT: List, Map and the like are what this is about.

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
    EXPECT_THAT(value_of(item, {}, std::vector<std::uint8_t>(16)),
                Fails(ErrorCode::kRefused))
        << item;
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

// Arrays of numbers among plain data, written as NumPy's and found again.

Bytes numbered(std::size_t size) {
  Bytes bytes(size);
  std::iota(bytes.begin(), bytes.end(), std::uint8_t{0});
  return bytes;
}

Bytes with_arrays(const Value& value, const WriteOptions& options = {}) {
  const Result<Bytes> bytes = write_value(value, options);
  EXPECT_TRUE(bytes) << to_string(bytes.error());
  return bytes.value_or(Bytes());
}

Part part_at(const VerifiedEnvelope& envelope, std::string_view path) {
  const Result<std::size_t> offset = find_part(envelope, path);
  EXPECT_TRUE(offset) << to_string(offset.error());
  return describe_part(envelope, offset.value_or(root_of(envelope)));
}

std::string complaint_about(const Value& value) {
  std::size_t pieces = 0;
  const Result<void> done = write_value_to([&](BytesView) { ++pieces; }, value);
  if (done) return "written";
  EXPECT_EQ(pieces, 0u);
  EXPECT_EQ(write_value(value).error().detail, done.error().detail);
  return std::string(name_of(done.error().code)) + " " + done.error().detail;
}

// An array of one item, and of as many as take a row of the table.
void expect_found_again(std::string_view item, std::size_t size) {
  const Bytes content = numbered(70'000 / size * size);
  const std::uint64_t count = content.size() / size;
  const BytesView one = BytesView(content).first(size);

  const Bytes bytes =
      with_arrays(List{Array{item, {1}, one}, Array{item, {count}, content}});

  const auto envelope = open_mapped(bytes);
  ASSERT_TRUE(envelope) << to_string(envelope.error());
  const Part small = part_at(*envelope, "[0]");
  const Part large = part_at(*envelope, "[1]");
  EXPECT_EQ(small.type, "numpy.ndarray");
  ASSERT_TRUE(small.array && large.array);
  EXPECT_EQ(small.array->item, item);
  EXPECT_EQ(large.array->item, item);
  EXPECT_EQ(large.array->shape, std::vector<std::uint64_t>{count});
  EXPECT_TRUE(std::ranges::equal(small.array->bytes, one));
  EXPECT_TRUE(std::ranges::equal(large.array->bytes, content));
  EXPECT_FALSE(small.array->buffer);
  EXPECT_EQ(large.array->buffer, 0u);
}

TEST(Array, OfEachItemIsFoundAgain) {
  const std::pair<std::string_view, std::size_t> items[] = {
      {"bool", 1},      {"int8", 1},        {"uint8", 1},   {"int16", 2},
      {"uint16", 2},    {"int32", 4},       {"uint32", 4},  {"int64", 8},
      {"uint64", 8},    {"float16", 2},     {"float32", 4}, {"float64", 8},
      {"complex64", 8}, {"complex128", 16},
  };
  for (const auto& [item, size] : items) {
    SCOPED_TRACE(item);
    expect_found_again(item, size);
  }
}

TEST(Array, OfAnotherOrderOfBytesIsFoundAgain) {
  const char foreign = std::endian::native == std::endian::little ? '>' : '<';
  for (const char* code : {"i2", "u4", "i8", "f2", "f4", "f8", "c8", "c16"}) {
    SCOPED_TRACE(code);
    const std::size_t size = std::stoul(code + 1);
    expect_found_again(foreign + std::string(code), size);
  }
}

TEST(Array, OfThisMachinesOrderMayBeSpelledEitherWay) {
  const double numbers[] = {1.5, -2};
  const bool is_little = std::endian::native == std::endian::little;
  Array array = array_of(numbers, {2});
  const Bytes bytes = with_arrays(array);

  array.item = is_little ? "<f8" : ">f8";

  EXPECT_EQ(with_arrays(array), bytes);
}

TEST(Array, TakesItsItemFromNumbers) {
  const std::vector<float> floats(6);
  const std::array<std::int16_t, 2> shorts = {1, 2};
  const std::unique_ptr<bool[]> flags(new bool[3]());
  std::vector<std::complex<double>> changing(1);

  const Array array = array_of(floats, {2, 3});

  EXPECT_EQ(array.item, "float32");
  EXPECT_EQ(array.bytes.data(), reinterpret_cast<const std::uint8_t*>(floats.data()));
  EXPECT_EQ(array.bytes.size(), 24u);
  EXPECT_EQ(array_of(shorts, {2}).item, "int16");
  EXPECT_EQ(array_of(std::span(flags.get(), 3), {3}).item, "bool");
  EXPECT_EQ(array_of(changing, {}).item, "complex128");
  EXPECT_EQ(item_name<unsigned long long>(), "uint64");
}

template <typename T>
concept HasArray = requires(T numbers) { array_of(std::forward<T>(numbers), {}); };

TEST(Array, IsNotMadeOfWhatIsGoneAfterwards) {
  static_assert(HasArray<std::vector<int>&>);
  static_assert(HasArray<std::span<const int>>);
  static_assert(!HasArray<std::vector<int>>);
  static_assert(!HasArray<std::vector<std::string>&>);
  static_assert(!HasArray<std::string&>);
}

TEST(Array, StandsAmongPlainData) {
  const std::vector<double> weights(20'000, 0.5);
  const Value run = Map{{"weights", array_of(weights, {1000, 20})},
                        {"names", List{"a", "b"}},
                        {"step", 3}};

  const Bytes bytes = with_arrays(run);

  const auto envelope = open_mapped(bytes);
  ASSERT_TRUE(envelope);
  const Part part = part_at(*envelope, "['weights']");
  ASSERT_TRUE(part.array);
  EXPECT_EQ(part.array->shape, (std::vector<std::uint64_t>{1000, 20}));
  EXPECT_EQ(part.array->bytes.size(), 160'000u);
  EXPECT_EQ((part.array->bytes.data() - bytes.data()) % 64, 0);
  EXPECT_EQ(part_at(*envelope, "['step']").text, "3");
  ASSERT_EQ((*envelope)->buffers.size(), 1u);
  EXPECT_EQ((*envelope)->buffers[0].format, "d");
  EXPECT_TRUE(open_whole(bytes));  // Compares digests.
}

TEST(Array, OfColumnsIsFoundAgain) {
  const std::vector<double> numbers(12'000, 0.5);

  const Bytes bytes = with_arrays(
      List{array_of(numbers, {100, 120}, true), array_of(numbers, {12'000, 1}, true)});

  const auto envelope = open_mapped(bytes);
  ASSERT_TRUE(envelope);
  EXPECT_TRUE(part_at(*envelope, "[0]").array->is_fortran);
  EXPECT_EQ(part_at(*envelope, "[0]").array->shape,
            (std::vector<std::uint64_t>{100, 120}));
  EXPECT_EQ((*envelope)->buffers[0].shape, (std::vector<std::uint64_t>{120, 100}));
  // Of one column: rows and columns are the same then.
  EXPECT_FALSE(part_at(*envelope, "[1]").array->is_fortran);
}

TEST(Array, SharesWhatIsTheSameInAll) {
  const std::vector<int> numbers(4);
  const Value one = List{array_of(numbers, {4}), 7};
  const Value two = List{array_of(numbers, {4}), array_of(numbers, {2, 2})};

  const Bytes of_one = with_arrays(one);
  const Bytes of_two = with_arrays(two);

  EXPECT_TRUE(open(of_one)->shared.empty());
  EXPECT_EQ(open(of_two)->shared.size(), 2u);
  EXPECT_EQ(open(of_two)->manifest.imports.size(), 2u);
  EXPECT_EQ(open(of_two)->manifest.imports[1].module, "numpy");
  EXPECT_LT(of_two.size(), of_one.size() + 50);
  EXPECT_TRUE(verify(*open(of_two)));
}

TEST(Array, GivesTheSameBytesPieceByPiece) {
  const Bytes content = numbered(100'000);
  const Value value =
      Map{{"first", Array{"uint8", {1000, 100}, content}},
          {"text", "between"},
          {"last", Array{"uint8", {99'999}, BytesView(content).first(99'999)}}};
  const SigningKey key = SigningKey::generate(SignatureAlgorithm::kMac);
  for (const SigningKey* each : {static_cast<const SigningKey*>(nullptr), &key}) {
    const WriteOptions options = {.python = {3, 11, 3495}, .key = each};
    Bytes joined;
    std::size_t in_place = 0;

    const Result<void> done = write_value_to(
        [&](BytesView piece) {
          in_place += piece.data() == content.data() ? 1 : 0;
          joined.insert(joined.end(), piece.begin(), piece.end());
        },
        value, options);

    EXPECT_TRUE(done);
    EXPECT_EQ(in_place, 2u);
    EXPECT_EQ(joined, with_arrays(value, options));
    EXPECT_TRUE(open_whole(joined));
  }
}

TEST(Array, IsNotNeededToWritePieces) {
  Bytes joined;
  const auto append = [&](BytesView piece) {
    joined.insert(joined.end(), piece.begin(), piece.end());
  };

  EXPECT_TRUE(write_value_to(append, List{1, "two"}));

  EXPECT_EQ(joined, *write_value(List{1, "two"}));
}

TEST(Array, LetsThroughWhatTheWriterOfPiecesThrows) {
  const auto fail = [](BytesView) { throw std::runtime_error("the disk is full"); };

  EXPECT_THROW((void)write_value_to(fail, 1), std::runtime_error);
}

TEST(Array, HasAsManyBytesAsItsShapeSays) {
  const Bytes content = numbered(24);
  const auto of_shape = [&](std::vector<std::uint64_t> shape) {
    return complaint_about(Map{{"w", Array{"float64", std::move(shape), content}}});
  };

  EXPECT_EQ(of_shape({3}), "written");
  EXPECT_EQ(of_shape({1, 3, 1}), "written");
  EXPECT_EQ(
      of_shape({4}),
      "malformed value['w']: an array has 24 bytes, but its shape of float64 items "
      "takes 32");
  EXPECT_THAT(of_shape({}), testing::HasSubstr("takes 8"));
  EXPECT_THAT(of_shape({3, 0}), testing::HasSubstr("takes 0"));
  EXPECT_THAT(of_shape({std::uint64_t{1} << 61}), testing::HasSubstr("2^63"));
  // 3 items, if what is beyond 64 bits is lost.
  EXPECT_THAT(of_shape({(std::uint64_t{1} << 63) + 3, 2}), testing::HasSubstr("2^63"));
  EXPECT_THAT(of_shape(std::vector<std::uint64_t>(65, 1)),
              testing::HasSubstr("65 dimensions"));
}

TEST(Array, MayBeEmpty) {
  EXPECT_EQ(complaint_about(Array{"int8", {0}, {}}), "written");
  EXPECT_EQ(complaint_about(Array{"int8", {3, 0, 5}, {}, true}), "written");
  EXPECT_THAT(complaint_about(Array{"int8", {0, UINT64_MAX, 2}, {}}),
              testing::HasSubstr("2^63"));
}

TEST(Array, OfOtherItemsIsRefused) {
  const Bytes content = numbered(16);
  for (const char* item : {"", "object", "<U4", "S16", "V16", "float128", "bfloat16",
                           "int", "int7", "int24", "<x8", ">", "<f", "datetime64"}) {
    SCOPED_TRACE(item);
    EXPECT_THAT(complaint_about(List{1, Array{item, {1}, content}}),
                testing::StartsWith("refused value[1]: an array has items of type \""));
  }
}

TEST(Array, CannotBeAKey) {
  const Bytes content = numbered(1);
  const Array array = {"int8", {1}, content};

  EXPECT_THAT(complaint_about(Map{{array, 1}}), testing::HasSubstr("cannot be a key"));
  EXPECT_THAT(complaint_about(Set{array}), testing::HasSubstr("cannot be a key"));
}

TEST(Array, IsNoPlainDataToWhoReads) {
  const Bytes content = numbered(1);

  const Result<Value> value =
      read_value(with_arrays(List{Array{"int8", {1}, content}}));

  ASSERT_FALSE(value);
  EXPECT_EQ(value.error().code, ErrorCode::kRefused);
  EXPECT_EQ(
      value.error().detail,
      "a node object (numpy._core.numeric._frombuffer) at [0], which is not plain "
      "data");
}

TEST(Array, IsNotWrittenAsJson) {
  EXPECT_EQ(value_json(List{Array{}}).error().code, ErrorCode::kRefused);
}

TEST(Array, EqualsOneOfTheSameBytes) {
  const Bytes content = numbered(8);
  const Bytes same = content;
  const Value array = Array{"int8", {8}, content};

  EXPECT_EQ(array, Value(Array{"int8", {8}, same}));
  EXPECT_EQ(array, Value(array));
  EXPECT_NE(array, Value(Array{"uint8", {8}, content}));
  EXPECT_NE(array, Value(Array{"int8", {2, 4}, content}));
  EXPECT_NE(array, Value(Array{"int8", {8}, content, true}));
  EXPECT_NE(array, Value(Array{"int8", {7}, BytesView(content).first(7)}));
  EXPECT_EQ(array.kind(), Kind::kArray);
}

}  // namespace
}  // namespace waybill
