// What verify() says of code that is unsound, and where. The rules themselves have
// their tests in tests/bytecode.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

#include "base/fails.h"
#include "format/samples.h"
#include "format/verdict.h"
#include "waybill/envelope.h"

namespace waybill {
namespace {

using namespace samples;

// The verdict on an envelope with this body alone, and where the part stands there.
std::pair<Result<void>, std::size_t> verdict_and_place(
    const BodyDraft& body, const Bytes& part, PythonVersion python = {3, 11, 3495}) {
  Draft draft;
  draft.python = python;
  draft.code.push_back(body.body());
  draft.payload.nil();
  const Bytes bytes = draft.sealed();
  const auto found = std::search(bytes.begin(), bytes.end(), part.begin(), part.end());
  return {verdict_on(draft), static_cast<std::size_t>(found - bytes.begin())};
}

TEST(VerifyCode, RefusesInstructionsThatAreUnsoundAndTellsWhere) {
  BodyDraft index, opcode;
  index.instructions = {0x97, 0, 0x74, 0, 0x64, 7, 0x53, 0};  // LOAD_CONST 7
  opcode.instructions = {0x97, 0, 0x53, 0, 0x03, 0};          // Of specialised code.

  const auto [of_index, index_at] = verdict_and_place(index, index.instructions);
  const auto [of_opcode, opcode_at] = verdict_and_place(opcode, opcode.instructions);

  ASSERT_FALSE(of_index);
  EXPECT_EQ(of_index.error().code, ErrorCode::kMalformed);
  EXPECT_EQ(of_index.error().offset, index_at + 4);  // LOAD_GLOBAL has no caches here.
  EXPECT_EQ(of_index.error().detail,
            "LOAD_CONST refers to index 7 of constants, which does not exist");
  ASSERT_FALSE(of_opcode);
  EXPECT_EQ(of_opcode.error().code, ErrorCode::kUnknownTag);
  EXPECT_EQ(of_opcode.error().offset, opcode_at + 4);
}

TEST(VerifyCode, TellsTheInstructionIntoWhoseCachesAJumpLeads) {
  BodyDraft body;
  // RESUME, JUMP_FORWARD by 2 units, LOAD_GLOBAL, which has five caches, RETURN_VALUE.
  body.instructions = {0x97, 0, 0x6e, 2, 0x74, 0, 0x53, 0};

  const auto [verdict, at] = verdict_and_place(body, body.instructions);

  ASSERT_FALSE(verdict);
  EXPECT_EQ(verdict.error().offset, at + 4);
}

TEST(VerifyCode, RefusesExceptionTablesThatAreUnsoundAndTellsWhere) {
  BodyDraft body;
  body.exception_table = {0x80, 1, 1, 0, 0x81, 1, 9, 0};

  const auto [verdict, at] = verdict_and_place(body, body.exception_table);

  ASSERT_FALSE(verdict);
  EXPECT_EQ(verdict.error().code, ErrorCode::kMalformed);
  EXPECT_EQ(verdict.error().offset, at + 4);
}

TEST(VerifyCode, RefusesConstantsNestedDeeperThanAnyCompilerWrites) {
  const auto nested = [](std::size_t depth) {
    BodyDraft body;
    body.write_constants =
        Tokens{array(1), times(depth, node(NodeTag::kTuple, 1)), kNil};
    body.instructions = {0x97, 0, 0x64, 0, 0x53, 0};
    return verdict_and_place(body, {}).first;
  };

  EXPECT_TRUE(nested(200));
  EXPECT_THAT(nested(201), Fails(ErrorCode::kLimitExceeded));
  EXPECT_FALSE(nested(100'000));
}

TEST(VerifyCode, ChecksOnlyCountsOfCodeOfUnknownPythons) {
  BodyDraft body;
  body.instructions = {0xff, 0xff};
  BodyDraft odd = body;
  odd.instructions = {0xff};

  for (const PythonVersion& python :
       {PythonVersion{3, 10, 3439}, {3, 99, 1}, {2, 111, 1}, {4294967, 295, 1}}) {
    EXPECT_TRUE(verdict_and_place(body, {}, python).first);
    EXPECT_FALSE(verdict_and_place(odd, {}, python).first);
  }
}

TEST(VerifyCode, RefusesLineTablesThatAreUnsoundAndTellsWhere) {
  // The code has two units.
  const auto verdict_on_table = [](const Bytes& table, bool is_nested = false) {
    Draft draft;
    BodyDraft outer;
    if (is_nested) {
      BodyDraft inner;
      inner.name = "inner";
      draft.code.push_back(inner.body());
      outer.nested_hash = hash_of(draft.code[0]);
    }
    draft.code.push_back(outer.body());
    put(draft.payload, {code_node(is_nested ? 1 : 0)});
    draft.source_locations.array(1);
    for (int depth = 0; depth <= is_nested; ++depth) {
      put(draft.source_locations,
          {location("a.py", 1, depth == is_nested ? table : Bytes{},
                    depth < is_nested ? 1 : 0)});
    }
    return std::pair(verdict_on(draft), draft.sealed());
  };
  const Bytes wrong{0xf8, 0xf9, 0x2a};

  EXPECT_TRUE(verdict_on_table({}).first);
  EXPECT_TRUE(verdict_on_table({0xf9}).first);
  EXPECT_FALSE(verdict_on_table({0xfa}).first);
  for (const bool is_nested : {false, true}) {
    const auto [verdict, bytes] = verdict_on_table(wrong, is_nested);
    const auto at = std::search(bytes.begin(), bytes.end(), wrong.begin(), wrong.end());
    ASSERT_FALSE(verdict);
    EXPECT_EQ(verdict.error().code, ErrorCode::kMalformed);
    EXPECT_EQ(verdict.error().offset, static_cast<std::size_t>(at - bytes.begin()) + 1);
    EXPECT_EQ(verdict.error().detail, "the line table covers more code than there is");
  }
}

// What verify() says of the source locations of code: files, first lines and line
// tables.

// `file`: that of an import in the manifest; empty: there is none.
std::string verdict_on_locations(const Tokens& locations,
                                 const std::string& file = "") {
  Draft draft({array(2), code_node(0), code_node(0)});
  if (!file.empty()) {
    draft.manifest.imports = {{"json", ImportTime::kLoad, "json", "f", file, 3}};
  }
  draft.code.push_back(BodyDraft().body());
  put(draft.source_locations, locations);
  return verdict_name(draft);
}

TEST(VerifyLocations, WantsOneForEachUseOfCode) {
  EXPECT_EQ(verdict_on_locations({}),
            "sound");  // Debug information may be left out.
  EXPECT_EQ(verdict_on_locations({array(2), location("a.py"), location("a.py")}),
            "sound");
  EXPECT_EQ(verdict_on_locations({array(1), location("a.py")}), "malformed");
}

TEST(VerifyLocations, LetsOneRepeatAnEarlierOne) {
  const auto repeat = [](std::uint64_t number) {
    return Tokens{array(2), location("a.py"), number};
  };
  EXPECT_EQ(verdict_on_locations(repeat(0)), "sound");
  EXPECT_EQ(verdict_on_locations(repeat(1)), "malformed");
}

TEST(VerifyLocations, LetsANestedOneRepeatAnEarlierOne) {
  const auto verdict_on_nested = [](std::uint64_t number) {
    BodyDraft outer;
    Draft draft({array(2), code_node(0), code_node(1)});
    draft.code.push_back(BodyDraft().body());
    outer.name = "outer";
    outer.nested_hash = hash_of(draft.code[0]);
    draft.code.push_back(outer.body());
    put(draft.source_locations,
        {array(2), location("a.py"), location("a.py", 1, {}, 1), number});
    return verdict_name(draft);
  };

  EXPECT_EQ(verdict_on_nested(0), "sound");
  EXPECT_EQ(verdict_on_nested(1), "malformed");  // The one around it.
}

TEST(VerifyLocations, LetsOneNameTheFileThatWasNamedLast) {
  const Tokens same = {array(4), wire::kSameFile, 1, binary({}), array(0)};
  EXPECT_EQ(verdict_on_locations({array(2), location("a.py"), same}), "sound");
  const Tokens first = {array(2), same, location("a.py")};
  EXPECT_EQ(verdict_on_locations(first), "malformed");  // Nothing is named.
  EXPECT_EQ(verdict_on_locations(first, "task.py"), "sound");
}

TEST(VerifyLocations, WantsAFirstLineThatPythonTakes) {
  const auto starts_at = [](std::int64_t line) {
    return verdict_on_locations(
        {array(2), location("a.py"), location("task.py", line)});
  };
  EXPECT_EQ(starts_at(0), "sound");
  EXPECT_EQ(starts_at(INT32_MAX), "sound");
  EXPECT_EQ(starts_at(-1), "malformed");
  EXPECT_EQ(starts_at(std::int64_t{INT32_MAX} + 1), "malformed");
}

TEST(VerifyLocations, WantsAFileForTheOutermostCode) {
  EXPECT_EQ(verdict_on_locations({array(2), location("a.py"), location(nullptr)}),
            "malformed");
}

}  // namespace
}  // namespace waybill
