// Each rule that code must keep, broken once. What real compilers write is checked by
// summarize_codes and tests/python/functions/test_stdlib_soundness.py.

#include "bytecode/soundness.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "base/fails.h"
#include "bytecode/compact_code.h"
#include "bytecode/opcode_table.h"

namespace waybill::bytecode {
namespace {

using Bytes = std::vector<std::uint8_t>;
using testing::HasSubstr;

// A code object with two names, one constant, and four locals: a plain one, a cell, a
// parameter that is a cell, and a free variable.
struct Draft {
  explicit Draft(int python) : version(python) {}

  // An instruction; `argument` as far as three EXTENDED_ARG go.
  Draft& op(std::string_view name, std::uint32_t argument = 0) {
    for (int shift = 24; shift > 0; shift -= 8) {
      if (argument >> shift != 0) raw("EXTENDED_ARG", argument >> shift & 0xff);
    }
    return raw(name, argument & 0xff);
  }

  // One unit.
  Draft& raw(std::string_view name, std::uint32_t argument) {
    const OpcodeTable& table = *opcode_table(version);
    std::size_t number = 0;
    while (number < table.size() && table[number].name != name) ++number;
    EXPECT_LT(number, table.size()) << version << " has no " << name;
    return unit(static_cast<std::uint8_t>(number), static_cast<std::uint8_t>(argument));
  }

  Draft& unit(std::uint8_t opcode, std::uint8_t argument) {
    instructions.push_back(opcode);
    instructions.push_back(argument);
    return *this;
  }

  Result<std::size_t> verdict() const {
    CodeShape code;
    code.version = version;
    code.instructions = instructions;
    code.exception_table = exceptions;
    code.local_kinds = kinds;
    code.name_count = 2;
    code.constant_count = 1;
    code.stack_size = 3;
    code.instructions_offset = 100;
    code.exceptions_offset = 5000;
    return check_soundness(code);
  }

  int version;
  Bytes instructions;
  Bytes exceptions;
  Bytes kinds{0x20, 0x40, 0x60, 0x80};
};

void expect_sound(const Draft& draft) {
  const Result<std::size_t> verdict = draft.verdict();
  ASSERT_TRUE(verdict) << to_string(verdict.error());
  EXPECT_EQ(*verdict, expanded_size(draft.version, draft.instructions));
}

// `offset` counts in the instructions.
void expect_malformed(const Draft& draft, std::size_t offset, const char* words,
                      ErrorCode code = ErrorCode::kMalformed) {
  EXPECT_THAT(draft.verdict(), Fails(code, 100 + offset, HasSubstr(words))) << words;
}

Draft ended(Draft draft) { return draft.op("RETURN_VALUE"); }

TEST(Soundness, KnowsFiveVersions) {
  for (int version = 311; version <= 315; ++version) {
    EXPECT_TRUE(is_known_version(version));
    expect_sound(Draft(version).op("RESUME").op("RETURN_VALUE"));
  }
  for (const int version : {0, 310, 316}) EXPECT_FALSE(is_known_version(version));
  EXPECT_THAT(Draft(316).verdict(), Fails(ErrorCode::kPythonMismatch));
}

TEST(Soundness, RefusesOpcodesThatAreNotThereOrNotForCode) {
  expect_malformed(ended(Draft(311).unit(3, 0)), 0, "opcode 3 ",
                   ErrorCode::kUnknownTag);
  expect_malformed(ended(Draft(313).op("NOP").op("INSTRUMENTED_LINE")), 2,
                   "INSTRUMENTED_LINE", ErrorCode::kUnknownTag);
  expect_malformed(ended(Draft(312).op("INTERPRETER_EXIT")), 0, "INTERPRETER_EXIT",
                   ErrorCode::kUnknownTag);
}

TEST(Soundness, RefusesHalfAUnit) {
  Draft draft = ended(Draft(313));
  draft.instructions.push_back(0);

  expect_malformed(draft, 3, "units of 2 bytes");
}

TEST(Soundness, RefusesExtensionsOfNothing) {
  Draft last = ended(Draft(313)), many(313);
  last.raw("EXTENDED_ARG", 1);
  for (int i = 0; i < 4; ++i) many.raw("EXTENDED_ARG", 1);
  Draft extended_cache(313);
  extended_cache.raw("EXTENDED_ARG", 1);

  expect_malformed(last, 2, "extends no instruction");
  expect_malformed(ended(many.op("NOP")), 0, "the fourth in a row");
  expect_malformed(ended(extended_cache.unit(0, 0)), 2, "CACHE belongs to no");
}

TEST(Soundness, TakesCodeWithoutItsInlineCaches) {
  for (int version = 311; version <= 315; ++version) {
    expect_malformed(ended(Draft(version).op("LOAD_ATTR", 0).unit(0, 0)), 2,
                     "CACHE belongs to no instruction");
  }
}

TEST(Soundness, RefusesCodeThatIsTooLargeWithItsInlineCaches) {
  Draft draft(313);
  draft.op("LOAD_ATTR", 0);
  // A tenth of 2 GiB, with nine caches for each instruction.
  draft.instructions.resize(std::size_t{INT32_MAX} / 20 * 2 + 2);
  for (std::size_t i = 2; i < draft.instructions.size(); i += 2) {
    draft.instructions[i] = draft.instructions[0];
  }

  expect_malformed(draft, draft.instructions.size(), "below 2 GiB in all");
}

TEST(Soundness, CountsNamesAndConstants) {
  for (int version = 311; version <= 315; ++version) {
    const unsigned attribute = version > 311 ? 1 : 0;
    const unsigned import = version > 314 ? 2 : 0;
    expect_sound(ended(Draft(version)
                           .op("LOAD_GLOBAL", 3)
                           .op("LOAD_ATTR", 1u << attribute)
                           .op("IMPORT_NAME", 1u << import)
                           .op("STORE_NAME", 1)
                           .op("LOAD_CONST", 0)));
    expect_malformed(ended(Draft(version).op("NOP").op("LOAD_GLOBAL", 4)), 2,
                     "LOAD_GLOBAL refers to index 2 of names, which does not exist");
    expect_malformed(ended(Draft(version).op("LOAD_ATTR", 2u << attribute)), 0,
                     "LOAD_ATTR refers to index 2 of names");
    expect_malformed(ended(Draft(version).op("IMPORT_NAME", 2u << import)), 0,
                     "IMPORT_NAME refers to index 2 of names");
    expect_malformed(ended(Draft(version).op("STORE_NAME", 0x1000000)), 0,
                     "STORE_NAME refers to index 16777216 of names");
    expect_malformed(ended(Draft(version).op("LOAD_CONST", 1)), 0,
                     "LOAD_CONST refers to index 1 of constants");
  }
  expect_malformed(ended(Draft(312).op("LOAD_SUPER_ATTR", 8)), 0, "index 2 of names");
  expect_malformed(Draft(313).op("RETURN_CONST", 1), 0, "index 1 of constants");
  expect_malformed(ended(Draft(311).op("KW_NAMES", 1)), 0, "index 1 of constants");
}

TEST(Soundness, CountsLocals) {
  expect_sound(ended(Draft(313).op("LOAD_FAST", 3).op("STORE_FAST_STORE_FAST", 0x33)));
  expect_malformed(ended(Draft(313).op("LOAD_FAST", 4)), 0, "index 4 of locals");
  expect_malformed(ended(Draft(313).op("LOAD_FAST_LOAD_FAST", 0x40)), 0,
                   "LOAD_FAST_LOAD_FAST refers to");
  expect_malformed(ended(Draft(313).op("STORE_FAST_LOAD_FAST", 0x04)), 0,
                   "STORE_FAST_LOAD_FAST refers to");
  expect_malformed(ended(Draft(315).op("LOAD_FAST_BORROW_LOAD_FAST_BORROW", 0x100)), 0,
                   "locals");
}

TEST(Soundness, AsksCellsOfCellsAndFreeVariables) {
  for (int version = 311; version <= 315; ++version) {
    expect_sound(ended(
        Draft(version).op("MAKE_CELL", 1).op("LOAD_DEREF", 2).op("STORE_DEREF", 3)));
    expect_malformed(ended(Draft(version).op("LOAD_DEREF", 0)), 0,
                     "LOAD_DEREF takes local 0, which is neither a cell nor a free");
    expect_malformed(ended(Draft(version).op("DELETE_DEREF", 4)), 0,
                     "DELETE_DEREF refers to index 4 of locals");
    expect_malformed(ended(Draft(version).op("MAKE_CELL", 0x100)), 0,
                     "MAKE_CELL refers to");
  }
  expect_malformed(ended(Draft(311).op("LOAD_CLOSURE", 0)), 0, "neither a cell");
}

TEST(Soundness, CopiesAsManyFreeVariablesAsThereAre) {
  expect_sound(ended(Draft(314).op("COPY_FREE_VARS", 1)));
  for (const unsigned count : {0u, 2u, 0x101u}) {
    expect_malformed(ended(Draft(314).op("COPY_FREE_VARS", count)), 0,
                     "the number of free variables");
  }
}

TEST(Soundness, KnowsWhatANumberMayStandFor) {
  expect_sound(ended(Draft(314).op("BINARY_OP", 26).op("LOAD_SMALL_INT", 255)));
  expect_malformed(ended(Draft(313).op("BINARY_OP", 26)), 0,
                   "BINARY_OP refers to index 26");
  expect_malformed(ended(Draft(314).op("LOAD_SMALL_INT", 256)), 0, "LOAD_SMALL_INT");
  expect_malformed(ended(Draft(311).op("COMPARE_OP", 6)), 0,
                   "COMPARE_OP refers to index 6");
  expect_sound(ended(Draft(313).op("COMPARE_OP", 5 << 5 | 18)));
  expect_malformed(ended(Draft(313).op("COMPARE_OP", 6 << 5)), 0,
                   "COMPARE_OP refers to");
  expect_malformed(ended(Draft(312).op("CALL_INTRINSIC_1", 12)), 0, "index 12");
  expect_malformed(ended(Draft(314).op("SET_FUNCTION_ATTRIBUTE", 3)), 0, "index 3");
  expect_malformed(ended(Draft(313).op("CONVERT_VALUE", 0)), 0, "index 0");
  expect_malformed(ended(Draft(314).op("LOAD_COMMON_CONSTANT", 64)), 0, "index 64");
}

TEST(Soundness, WantsACallBehindItsPreparation) {
  expect_sound(ended(Draft(311).op("PRECALL", 1).op("CALL", 1)));
  expect_sound(ended(Draft(311).op("PRECALL", 0x101).op("CALL", 0x101)));
  expect_malformed(ended(Draft(311).op("PRECALL", 1)), 0, "followed by a call");
}

TEST(Soundness, JumpsLeadToInstructions) {
  expect_malformed(ended(Draft(313).op("JUMP_FORWARD", 1)), 0,
                   "a jump leaves the code");
  expect_malformed(ended(Draft(313).op("JUMP_BACKWARD", 3)), 0,
                   "a jump leaves the code");
  expect_malformed(ended(Draft(313).op("JUMP_BACKWARD", 0x80000000)), 0, "leaves");
  expect_malformed(ended(Draft(313).op("JUMP_FORWARD", 0xffffffff)), 0, "leaves");
  expect_sound(ended(Draft(313).op("JUMP_FORWARD", 5).op("LOAD_GLOBAL", 0)));
  expect_malformed(ended(Draft(313).op("JUMP_FORWARD", 4).op("LOAD_GLOBAL", 0)), 2,
                   "a jump leads into this instruction, past its start");
  // Behind an EXTENDED_ARG the instruction would have another operand.
  expect_malformed(ended(Draft(313).op("JUMP_FORWARD", 1).op("BUILD_TUPLE", 0x101)), 4,
                   "past its start");
  expect_sound(ended(Draft(313).op("JUMP_FORWARD", 0).op("BUILD_TUPLE", 0x101)));
}

TEST(Soundness, LoopsEndBehindTheirTarget) {
  // An iterator that is exhausted goes on behind END_FOR, and in 3.13 POP_TOP too.
  const auto loop = [](int version, int behind) {
    Draft draft(version);
    draft.op("FOR_ITER", 2 + (version > 312)).op("NOP");
    draft.op("JUMP_BACKWARD", 4 + (version > 312));
    for (; behind > 0; --behind) draft.op("NOP");
    return draft.op("RETURN_VALUE");
  };
  const int skipped[] = {0, 1, 2, 1, 1};
  for (int version = 312; version <= 315; ++version) {
    const int skips = skipped[version - 311];
    expect_sound(loop(version, skips));
    expect_malformed(loop(version, skips - 1), 0, "a jump leaves the code");
  }
  Draft into(314);
  into.op("FOR_ITER", 0).op("LOAD_GLOBAL", 0);
  expect_malformed(ended(into), 2, "past its start");
}

TEST(Soundness, FindsJumpsAstrayInLongCode) {
  Draft draft(313);
  for (int i = 0; i < 3000; ++i) draft.op("NOP");
  draft.op("JUMP_BACKWARD", 3002).op("LOAD_GLOBAL", 0);
  expect_sound(ended(draft));

  draft.op("JUMP_BACKWARD", 3).op("RETURN_VALUE");

  expect_malformed(draft, 6004, "past its start");
}

TEST(Soundness, ControlNeverRunsOffTheEnd) {
  for (const int version : {311, 313, 315}) {
    expect_malformed(Draft(version), 0, "runs off the end");
    expect_malformed(Draft(version).op("NOP"), 2, "runs off the end");
    expect_malformed(Draft(version).op("LOAD_CONST", 0).op("YIELD_VALUE"), 4,
                     "runs off");
    expect_sound(Draft(version).op("NOP").op("RAISE_VARARGS", 0));
    expect_sound(Draft(version).op("NOP").op("RERAISE", 0));
  }
  expect_sound(Draft(311).op("JUMP_BACKWARD", 1));
  expect_sound(Draft(313).op("JUMP_BACKWARD", 2));
  expect_malformed(Draft(311).op("POP_JUMP_BACKWARD_IF_NONE", 1), 2,
                   "runs off the end");
}

// In co_code: NOP, LOAD_GLOBAL with its caches at 2, a handler at 12, the end at 16.
Draft guarded(Bytes exceptions) {
  Draft draft(313);
  draft.op("NOP").op("LOAD_GLOBAL", 0).op("PUSH_EXC_INFO").op("RETURN_VALUE");
  draft.exceptions = std::move(exceptions);
  return draft;
}

void expect_bad_entry(const Bytes& exceptions, std::size_t offset, const char* words) {
  EXPECT_THAT(guarded(exceptions).verdict(),
              Fails(ErrorCode::kMalformed, 5000 + offset, HasSubstr(words)))
      << words;
}

TEST(Soundness, HandlersBeginAtInstructions) {
  expect_sound(guarded({0x80, 1, 6, 0, 0x81, 5, 6, 0}));
  expect_sound(guarded({0x81, 7, 6, 0}));  // Up to the end.
  expect_bad_entry({0x80, 1, 6, 0, 0x82, 4, 6, 0}, 4, "into an instruction");
  expect_bad_entry({0x80, 2, 6, 0}, 0, "into an instruction");
  expect_bad_entry({0x80, 1, 5, 0}, 0, "into an instruction");
  expect_bad_entry({0x80, 1, 8, 0}, 0, "leaves the code");
  expect_bad_entry({0x80, 9, 6, 0}, 0, "leaves the code");
  expect_bad_entry({0x81, 5, 6, 0, 0x80, 1, 6, 0}, 4, "overlaps another");
}

TEST(Soundness, HandlersHaveRoomOnTheStack) {
  // Depth 2 and an exception are three; with the instruction that raised, four.
  expect_sound(guarded({0x80, 1, 6, 2 << 1}));
  expect_bad_entry({0x80, 1, 6, 2 << 1 | 1}, 0, "more stack");
  expect_bad_entry({0x80, 1, 6, 3 << 1}, 0, "more stack");
}

TEST(Soundness, ExceptionEntriesAreWholeAndMarked) {
  expect_bad_entry({0x80, 1, 6}, 0, "ends inside an entry");
  expect_bad_entry({0x80, 1, 6, 0, 0x81}, 4, "ends inside an entry");
  expect_bad_entry({0x00, 1, 6, 0}, 0, "a start bit is wrong");
  expect_bad_entry({0x80, 1, 0x86, 0}, 0, "a start bit is wrong");
}

}  // namespace
}  // namespace waybill::bytecode
