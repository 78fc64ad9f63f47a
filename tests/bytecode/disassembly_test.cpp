#include "bytecode/disassembly.h"

#include <gtest/gtest.h>

#include "bytecode/line_table.h"

namespace waybill::bytecode {
namespace {

using Bytes = std::vector<std::uint8_t>;

// 3.13
constexpr std::uint8_t kReturnValue = 36;
constexpr std::uint8_t kExtendedArg = 71;
constexpr std::uint8_t kForIter = 72;
constexpr std::uint8_t kJumpBackward = 77;
constexpr std::uint8_t kLoadGlobal = 91;
constexpr std::uint8_t kCompareOp = 58;

std::vector<ListedInstruction> listed(const Bytes& code, int version = 313) {
  std::vector<ListedInstruction> out;
  const Result<void> done = disassemble(version, code, out);
  EXPECT_TRUE(done) << to_string(done.error());
  return out;
}

TEST(Disassembly, GathersExtendedArgumentsIntoOneInstruction) {
  const auto found = listed({kExtendedArg, 1, kLoadGlobal, 3});

  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].opcode, "LOAD_GLOBAL");
  EXPECT_EQ(found[0].offset, 0u);
  EXPECT_EQ(found[0].argument, 0x103u);
  EXPECT_EQ(found[0].index, 0x81u);
  EXPECT_TRUE(found[0].pushes_null);
}

TEST(Disassembly, TellsWhichOpcodesTakeAnArgument) {
  for (const auto& [version, without, with] : {std::tuple{311, 83, 100},
                                               {312, 83, 100},
                                               {313, 36, 83},
                                               {314, 35, 82},
                                               {315, 33, 81}}) {
    const auto opcode = [](int number) { return static_cast<std::uint8_t>(number); };
    const auto found = listed({opcode(without), 0, opcode(with), 0}, version);

    EXPECT_EQ(found[0].opcode, "RETURN_VALUE");
    EXPECT_FALSE(found[0].has_argument) << version;
    EXPECT_EQ(found[1].opcode, "LOAD_CONST");
    EXPECT_TRUE(found[1].has_argument) << version;
  }
}

TEST(Disassembly, CountsJumpsFromBehindTheCaches) {
  const auto found = listed({kForIter, 2, kJumpBackward, 3});

  EXPECT_EQ(found[0].target, 8);
  EXPECT_EQ(found[1].offset, 4u);
  EXPECT_EQ(found[1].target, 2);
}

TEST(Disassembly, NamesOperators) {
  const auto found = listed({kCompareOp, 2 << 5});

  EXPECT_EQ(choice_text(found[0]), "==");
}

TEST(Disassembly, NamesFlagsAndChoicesOfEachVersion) {
  struct Case {
    int version;
    Bytes code;
    std::string_view words;
  };
  for (const Case& each : {
           Case{311, {132, 9}, "defaults, closure"},  // MAKE_FUNCTION
           Case{312, {155, 6}, "repr, with format"},  // FORMAT_VALUE
           Case{312, {173, 1}, "INTRINSIC_PRINT"},    // CALL_INTRINSIC_1
           Case{313, {106, 16}, "annotate"},          // SET_FUNCTION_ATTRIBUTE
           Case{313, {56, 5}, "INTRINSIC_SET_TYPEPARAM_DEFAULT"},  // CALL_INTRINSIC_2
           Case{313, {60, 2}, "repr"},                             // CONVERT_VALUE
           Case{314, {95, 1}, "__exit__"},                         // LOAD_SPECIAL
           Case{314, {74, 1}, "is not"},                           // IS_OP
           Case{315, {80, 11}, "-1"},  // LOAD_COMMON_CONSTANT
       }) {
    const auto found = listed(each.code, each.version);

    EXPECT_EQ(choice_text(found.at(0)), each.words) << each.version;
  }
}

TEST(Disassembly, HasNoWordsForFlagsThatNobodyKnows) {
  const auto found = listed({132, 0x21}, 311);

  EXPECT_EQ(choice_text(found[0]), "");
}

TEST(Disassembly, KeepsWhatStandsBeforeAnError) {
  std::vector<ListedInstruction> out;

  const Result<void> done = disassemble(313, Bytes{kReturnValue, 0, 255, 0}, out);

  EXPECT_EQ(done.error().code, ErrorCode::kUnknownTag);
  EXPECT_EQ(done.error().offset, 2u);
  EXPECT_EQ(out.size(), 1u);
  EXPECT_EQ(disassemble(310, {}, out).error().code, ErrorCode::kPythonMismatch);
}

TEST(Disassembly, StopsAtACacheThatTheCodeBrings) {
  std::vector<ListedInstruction> out;

  const Result<void> done = disassemble(313, Bytes{kCompareOp, 0, 0, 0}, out);

  EXPECT_EQ(done.error().code, ErrorCode::kMalformed);
  EXPECT_EQ(done.error().offset, 4u);  // In co_code, after the cache of COMPARE_OP.
  EXPECT_EQ(out.size(), 1u);
}

TEST(LineReader, TellsTheLineOfEachEntry) {
  const auto entry = [](int form, int units) {
    return static_cast<std::uint8_t>(0x80 | form << 3 | (units - 1));
  };
  const Bytes table{entry(13, 1), 0x02,              // One line on,
                    entry(11, 2), 0,    0,           // one more,
                    entry(15, 1),                    // none,
                    entry(14, 1), 0x05, 0,    0, 0,  // two back,
                    entry(3, 8),  0,                 // the same,
                    entry(13, 1), 0x40, 0x02, 0};    // 64 on; then no entry.
  LineReader reader(table, 10);
  std::size_t units = 0;
  std::int64_t line = 0;
  std::vector<std::pair<std::size_t, std::int64_t>> found;

  while (reader.next(units, line)) found.emplace_back(units, line);

  const std::vector<std::pair<std::size_t, std::int64_t>> expected{
      {1, 11}, {2, 12}, {1, 0}, {1, 10}, {8, 10}, {1, 74}};
  EXPECT_EQ(found, expected);
}

}  // namespace
}  // namespace waybill::bytecode
