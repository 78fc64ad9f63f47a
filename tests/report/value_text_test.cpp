#include "report/value_text.h"

#include <gtest/gtest.h>

#include "wire/writer.h"

namespace waybill::envelope {
namespace {

using namespace samples;

std::string text_of(const Writer& writer, std::size_t max_text = 80) {
  const ValueNames names;
  return value_text(wire::Reader(writer.view()), names, max_text);
}

TEST(ValueText, WritesAsPythonDoes) {
  Writer out;
  put(out, {array(7), kNil, true, -5, "it's\n\x01 \xc3\xa4",
            binary(std::vector<std::uint8_t>{0, 'a', 0xff}), node(NodeTag::kTuple, 1),
            1, map(1), "k", array(0)});

  EXPECT_EQ(
      text_of(out),
      "[None, True, -5, 'it\\'s\\n\\x01 \xc3\xa4', b'\\x00a\\xff', (1,), {'k': []}]");
}

TEST(ValueText, TellsWhatIsStored) {
  Writer out;
  out.array(4);
  for (const std::uint64_t number : {0, 1, 2, 3}) put(out, {stored(number)});
  std::vector<StoredBuffer> buffers(3);
  buffers[0].length = 1;
  buffers[1].length = 32;
  buffers[1].format = "d";
  buffers[1].shape = {4};
  buffers[2].length = 12;
  buffers[2].format = "i";
  ValueNames names;
  names.buffers = buffers;

  EXPECT_EQ(value_text(wire::Reader(out.view()), names, 200),
            "[<stored buffer 0: 1 byte>, <stored buffer 1: 4 x 'd'>, "
            "<stored buffer 2: 12 bytes of 'i'>, <stored buffer 3>]");
}

TEST(ValueText, IsCutBetweenCharacters) {
  Writer out;
  out.text("ab\xc3\xa4");

  EXPECT_EQ(text_of(out, 3), "'ab…'");
}

TEST(ValueText, StartsAndEndsAreCutBetweenCharacters) {
  EXPECT_EQ(start_of("ab\xc3\xa4", 4), "ab\xc3\xa4");
  EXPECT_EQ(start_of("ab\xc3\xa4", 3), "ab…");
  EXPECT_EQ(end_of("\xc3\xa4"
                   "ab",
                   4),
            "\xc3\xa4"
            "ab");
  EXPECT_EQ(end_of("\xc3\xa4"
                   "ab",
                   3),
            "…ab");
}

TEST(ValueText, EndsWhereTheLineIsFull) {
  Writer out;
  out.array(1000);
  for (int i = 0; i < 1000; ++i) out.integer(i);

  EXPECT_EQ(text_of(out, 10), "[0, 1, 2, …");
}

TEST(ValueText, SurvivesDepthAndGarbage) {
  Writer deep;
  for (int i = 0; i < 1000000; ++i) deep.array(1);
  deep.nil();
  const std::vector<std::uint8_t> cut{0x93, 0x01, 0xc1};
  const ValueNames names;

  EXPECT_EQ(text_of(deep), std::string(32, '[') + "…");
  EXPECT_EQ(value_text(wire::Reader(cut), names, 80), "…");
}

}  // namespace
}  // namespace waybill::envelope
