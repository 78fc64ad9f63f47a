// Line tables written by hand: of each form one entry, and each way to be wrong.

#include "bytecode/line_table.h"

#include "base/fails.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace waybill::bytecode {
namespace {

using Bytes = std::vector<std::uint8_t>;

// The first byte of an entry.
constexpr std::uint8_t entry(unsigned form, unsigned units) {
  return static_cast<std::uint8_t>(0x80 | form << 3 | (units - 1));
}

void expect_malformed(const Bytes& table, std::size_t offset, const char* words) {
  EXPECT_THAT(check_line_table(table, 8),
              Fails(ErrorCode::kMalformed, offset, testing::HasSubstr(words)))
      << words;
}

TEST(LineTable, MayBeEmptyOrEndEarly) {
  EXPECT_TRUE(check_line_table({}, 8));
  EXPECT_TRUE(check_line_table({}, 0));
  EXPECT_TRUE(check_line_table(Bytes{entry(15, 8)}, 8));
  EXPECT_TRUE(check_line_table(Bytes{entry(15, 1)}, 8));
}

TEST(LineTable, HasEntriesOfFiveForms) {
  const Bytes table{entry(9, 1),  0x7f,                            //
                    entry(12, 1), 0x7f, 0x7f,                      //
                    entry(13, 1), 0x7f, 0x01,                      //
                    entry(14, 1), 0x41, 0x42, 0x01, 0, 0x3f, 0x3,  //
                    entry(15, 4)};

  const Result<void> checked = check_line_table(table, 8);

  EXPECT_TRUE(checked) << to_string(checked.error());
}

TEST(LineTable, CoversNoMoreThanThereIs) {
  expect_malformed({entry(15, 8), entry(15, 1)}, 1, "more code than there is");
  EXPECT_FALSE(check_line_table(Bytes{entry(15, 1)}, 0));
}

TEST(LineTable, IsNeverReadBeyondItsBytes) {
  for (const Bytes& cut :
       {Bytes{entry(0, 1)}, Bytes{entry(10, 1), 1}, Bytes{entry(13, 1)},
        Bytes{entry(13, 1), 0x40}, Bytes{entry(14, 1), 1, 1, 1}}) {
    Bytes table{entry(15, 1)};
    table.insert(table.end(), cut.begin(), cut.end());
    expect_malformed(table, 1, "cut, or too long");
  }
}

TEST(LineTable, MarksTheFirstByteOfEachEntryAndNoOther) {
  expect_malformed({0x01}, 0, "should begin here");
  expect_malformed({entry(15, 1), 0x01}, 1, "should begin here");
  expect_malformed({entry(0, 1), 0x80, 0x80}, 0, "cut, or too long");
  expect_malformed({entry(13, 1), 0xc1, 0x01}, 0, "cut, or too long");
}

TEST(LineTable, NumbersHaveAnEnd) {
  const Bytes longest{entry(13, 1), 0x41, 0x41, 0x41, 0x41, 0x41, 1};
  const Bytes endless{entry(13, 1), 0x41, 0x41, 0x41, 0x41, 0x41, 0x41, 1};

  EXPECT_TRUE(check_line_table(longest, 8));
  expect_malformed(endless, 0, "cut, or too long");
}

}  // namespace
}  // namespace waybill::bytecode
