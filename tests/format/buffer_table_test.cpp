// Rows of the table of buffers, each wrong in one field.

#include "format/buffer_table.h"

#include <gtest/gtest.h>

#include <vector>

#include "base/fails.h"
#include "base/hash.h"
#include "format/samples.h"

namespace waybill {
namespace {

using namespace samples;

Token numbers(std::size_t count) {
  return [=](Writer& out) {
    out.array(count);
    for (std::size_t i = 0; i < count; ++i) out.unsigned_integer(i);
  };
}

using Row = std::vector<Token>;

Row row_of(std::uint64_t offset, std::uint64_t length) {
  return {0, offset, length, binary(Bytes(8, 1)), kNil, kNil, kNil, false};
}

Row with(std::size_t field, Token other) {
  Row row = row_of(0, 10);
  row[field] = std::move(other);
  return row;
}

// The head of an envelope of nil.
Bytes head_of(const std::vector<Row>& rows, const Bytes& signature = {}) {
  Writer out;
  put(out,
      {array(wire::kSectionCountWithBuffers), array(wire::kHeaderFieldCount), "wb"});
  for (const int field : {1, 3, 11, 3495}) out.integer(field);
  put(out, {map(0), array(0), array(0), 1, kNil, map(0), array(rows.size())});
  for (const Row& row : rows) {
    out.array(row.size());
    for (const Token& field : row) field(out);
  }
  out.binary(base::digest_of(out.view()));
  signature.empty() ? out.nil() : out.binary(signature);
  return out.take();
}

// Without the bytes that its views point into.
Result<Envelope> opened(const std::vector<Row>& rows, const Bytes& signature = {}) {
  const Bytes head = head_of(rows, signature);
  return open_head(head);
}

// Where the first row starts.
constexpr std::size_t kRowAt = 18;

void expect_refused(const std::vector<Row>& rows, ErrorCode code, std::size_t offset,
                    std::string_view word) {
  const Bytes head = head_of(rows);

  EXPECT_THAT(open_head(head), Fails(code, offset, testing::HasSubstr(word))) << word;
}

TEST(BufferTable, IsReadRowByRow) {
  const Bytes head = head_of({row_of(0, 65), row_of(128, 64), row_of(192, 1)});

  const Result<Envelope> envelope = open_head(head);

  ASSERT_TRUE(envelope) << to_string(envelope.error());
  EXPECT_EQ(head[kRowAt], 0x98);
  EXPECT_EQ(envelope->buffers.size(), 3u);
  EXPECT_EQ(envelope->size, envelope->buffers_offset + 192 + 1 + 8);
}

TEST(BufferTable, IsNeverEmpty) {
  expect_refused({}, ErrorCode::kMalformed, kRowAt - 1, "one row or more");
}

TEST(BufferTable, HasRowsOfEightFields) {
  Row row = row_of(0, 10);
  row.pop_back();

  expect_refused({row}, ErrorCode::kMalformed, kRowAt, "eight fields");
}

TEST(BufferTable, HasFieldsOfLaterVersionsPassedOver) {
  Row row = row_of(0, 10);
  row.push_back("later");
  row.push_back(numbers(3));

  EXPECT_TRUE(opened({row, row_of(64, 1)}));
}

TEST(BufferTable, KnowsFiveKinds) {
  for (const std::uint64_t kind : {0, 1, 2, 3, 4}) {
    EXPECT_TRUE(opened({with(0, kind)}));
  }
  expect_refused({with(0, 5)}, ErrorCode::kUnknownTag, kRowAt + 1, "newer waybill");
  expect_refused({with(0, kNil)}, ErrorCode::kMalformed, kRowAt + 1, "kind");
}

TEST(BufferTable, HasEachBufferAtTheNextMultipleOf64) {
  expect_refused({row_of(64, 10)}, ErrorCode::kMalformed, kRowAt + 2, "should be at 0");
  const std::size_t second = head_of({row_of(0, 64)}).size() - 11 + 2;
  for (const std::uint64_t offset : {0, 63, 65, 127}) {
    expect_refused({row_of(0, 64), row_of(offset, 1)}, ErrorCode::kMalformed, second,
                   "should be at 64");
  }
  EXPECT_TRUE(opened({row_of(0, 64), row_of(64, 1)}));
}

TEST(BufferTable, HasNoBufferOfNothing) {
  expect_refused({row_of(0, 0)}, ErrorCode::kMalformed, kRowAt + 3, "one byte");
}

TEST(BufferTable, HasNoBufferThatEndsBeyondAllNumbers) {
  for (const std::uint64_t length :
       {UINT64_MAX, UINT64_MAX - 63, std::uint64_t{1} << 63}) {
    expect_refused({row_of(0, length)}, ErrorCode::kMalformed, kRowAt + 3, "2^63");
  }
  constexpr std::uint64_t kMost = INT64_MAX;
  const std::size_t second = head_of({row_of(0, kMost)}).size() - 11;
  const std::uint64_t next = std::uint64_t{1} << 63;
  expect_refused({row_of(0, kMost), row_of(next, 1)}, ErrorCode::kMalformed,
                 second + 2 + 9, "2^63");
  expect_refused({row_of(0, kMost)}, ErrorCode::kLimitExceeded, kRowAt - 1,
                 "max_bytes");
}

TEST(BufferTable, HasDigestsOfTwoSizes) {
  for (const std::size_t size : {0, 7, 9, 31, 33}) {
    expect_refused({with(3, binary(Bytes(size, 1)))}, ErrorCode::kMalformed, kRowAt + 4,
                   "digest");
  }
  expect_refused({with(3, "digest")}, ErrorCode::kMalformed, kRowAt + 4, "digest");
}

TEST(BufferTable, HasTheDigestsThatBelongToASignature) {
  const Bytes signature(64, 7);
  const auto is_sound = [&](std::size_t size, const Bytes& section) {
    return opened({with(3, binary(Bytes(size, 1)))}, section).has_value();
  };

  EXPECT_TRUE(is_sound(8, {}));
  EXPECT_TRUE(is_sound(32, signature));
  EXPECT_FALSE(is_sound(8, signature));
  expect_refused({with(3, binary(Bytes(32, 1)))}, ErrorCode::kMalformed, kRowAt + 4,
                 "not signed");
}

TEST(BufferTable, KnowsNoCompression) {
  for (const Token& field : Row{0, "zstd", numbers(1), false}) {
    expect_refused({with(4, field)}, ErrorCode::kUnknownTag, kRowAt + 14,
                   "compression");
  }
}

Token compression(std::uint64_t method, std::uint64_t stored, std::uint64_t item_size) {
  return [=](Writer& out) {
    out.array(3);
    for (const std::uint64_t number : {method, stored, item_size}) {
      out.unsigned_integer(number);
    }
  };
}

TEST(BufferTable, KnowsZstd) {
  for (const std::uint64_t item_size : {1, 2, 4, 8, 16}) {
    const Bytes head = head_of({with(4, compression(1, 9, item_size)), row_of(64, 5)});

    const Result<Envelope> envelope = open_head(head);

    ASSERT_TRUE(envelope) << to_string(envelope.error());
    const StoredBuffer& row = envelope->buffers[0];
    EXPECT_EQ(row.length, 10u);
    EXPECT_EQ(row.stored_length, 9u);
    EXPECT_EQ(row.compression->item_size, item_size);
    EXPECT_EQ(envelope->buffers[1].stored_length, 5u);
  }
}

TEST(BufferTable, PlacesBuffersByTheirStoredLengths) {
  Row row = row_of(0, 1000);
  row[4] = compression(1, 65, 1);

  EXPECT_TRUE(opened({row, row_of(128, 1)}));
  EXPECT_FALSE(opened({row, row_of(1024, 1)}));
}

TEST(BufferTable, RefusesCompressionsThatAreNone) {
  constexpr std::size_t kAt = kRowAt + 14;
  expect_refused({with(4, compression(2, 9, 1))}, ErrorCode::kUnknownTag, kAt,
                 "newer waybill");
  expect_refused({with(4, compression(1, 0, 1))}, ErrorCode::kMalformed, kAt + 2,
                 "one byte");
  expect_refused({with(4, compression(1, 10, 1))}, ErrorCode::kMalformed, kAt + 2,
                 "fewer");
  for (const std::uint64_t item_size : {0, 3, 12, 32, 256, 257}) {
    expect_refused({with(4, compression(1, 9, item_size))}, ErrorCode::kMalformed,
                   kAt + 3, "item size");
  }
  const Token longer = [](Writer& out) {
    out.array(4);
    for (const int field : {1, 9, 1, 0}) out.integer(field);
  };
  expect_refused({with(4, longer)}, ErrorCode::kMalformed, kAt, "three fields");
}

TEST(BufferTable, RefusesLengthsThatNoFrameHas) {
  Row row = row_of(0, std::uint64_t{1} << 40);
  row[4] = compression(1, (1 << 25) - 1, 1);

  expect_refused({row}, ErrorCode::kMalformed, kRowAt + 24, "cannot be decompressed");
  row[4] = compression(1, 1 << 25, 1);
  expect_refused({row}, ErrorCode::kLimitExceeded, kRowAt - 1, "max_bytes");
}

TEST(BufferTable, CountsLengthsOfAnyNumberOfRowsWithoutWrappingAround) {
  std::vector<Row> rows;
  for (std::uint64_t i = 0; i < 5; ++i) {
    rows.push_back(row_of(i << 50, (std::uint64_t{1} << 62)));
    rows.back()[4] = compression(1, std::uint64_t{1} << 50, 1);
  }

  expect_refused(rows, ErrorCode::kLimitExceeded, kRowAt - 1, "max_bytes");
}

TEST(BufferTable, HasAFormatInUtf8) {
  EXPECT_TRUE(opened({with(5, "<d")}));
  expect_refused({with(5, "\xff")}, ErrorCode::kMalformed, kRowAt + 15, "UTF-8");
  expect_refused({with(5, 1)}, ErrorCode::kMalformed, kRowAt + 15, "format");
}

TEST(BufferTable, HasUpTo64Dimensions) {
  EXPECT_EQ(opened({with(6, numbers(64))})->buffers[0].shape.size(), 64u);
  expect_refused({with(6, numbers(65))}, ErrorCode::kMalformed, kRowAt + 16,
                 "at most 64");
  expect_refused({with(6, 65)}, ErrorCode::kMalformed, kRowAt + 16, "shape");
  const Token negative = Tokens{array(1), -1};
  expect_refused({with(6, negative)}, ErrorCode::kMalformed, kRowAt + 17, "extent");
}

TEST(BufferTable, SaysWhichIndexVariesFastest) {
  EXPECT_TRUE(opened({with(7, true)})->buffers[0].is_fortran);
  expect_refused({with(7, 1)}, ErrorCode::kMalformed, kRowAt + 17, "Fortran");
}

TEST(BufferTable, TakesNoMemoryForRowsThatAreNotThere) {
  Bytes head = head_of({row_of(0, 10)});
  head.resize(kRowAt + 1000);
  head[kRowAt - 1] = 0xdd;  // An array of 2^24 rows.
  head[kRowAt] = 1;

  EXPECT_EQ(open_head(head).error().code, ErrorCode::kTruncated);
}

}  // namespace
}  // namespace waybill
