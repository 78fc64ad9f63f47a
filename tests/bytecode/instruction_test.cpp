// Instructions, the opcode table and the exception table, on bytes written by hand.

#include "bytecode/instruction.h"

#include <gtest/gtest.h>

#include "base/fails.h"
#include "bytecode/exception_entries.h"

namespace waybill::bytecode {
namespace {

using Bytes = std::vector<std::uint8_t>;

std::uint8_t opcode(int version, std::string_view name) {
  const OpcodeTable& table = *opcode_table(version);
  for (std::size_t i = 0; i < table.size(); ++i) {
    if (table[i].name == name) return static_cast<std::uint8_t>(i);
  }
  ADD_FAILURE() << version << " has no " << name;
  return 0;
}

std::vector<Instruction> read(int version, const Bytes& bytes) {
  auto instructions = read_instructions(version, bytes);
  EXPECT_TRUE(instructions) << to_string(instructions.error());
  return instructions.value_or(std::vector<Instruction>{});
}

Error error_of(int version, const Bytes& bytes) {
  auto instructions = read_instructions(version, bytes);
  EXPECT_FALSE(instructions);
  return instructions ? Error{} : instructions.error();
}

TEST(OpcodeTable, KnowsFiveVersions) {
  for (int version = 311; version <= 315; ++version) {
    ASSERT_NE(opcode_table(version), nullptr);
    EXPECT_EQ((*opcode_table(version))[0].operation, Operation::kCache);
  }
  EXPECT_EQ(opcode_table(310), nullptr);
  EXPECT_EQ(opcode_table(316), nullptr);
}

TEST(OpcodeTable, NumbersAreThoseOfEachVersion) {
  const int load_attr[] = {106, 106, 82, 80, 79};
  const int load_global[] = {116, 116, 91, 92, 91};
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(opcode(311 + i, "LOAD_ATTR"), load_attr[i]);
    EXPECT_EQ(opcode(311 + i, "LOAD_GLOBAL"), load_global[i]);
  }
}

TEST(Instructions, CachesAreHidden) {
  const Bytes bytes{opcode(313, "LOAD_GLOBAL"),  0, 0, 0, 0, 0, 0, 0, 0, 0,
                    opcode(313, "RETURN_VALUE"), 0};

  const auto instructions = read(313, bytes);

  ASSERT_EQ(instructions.size(), 2u);
  EXPECT_EQ(instructions[1].operation, Operation::kReturn);
  EXPECT_EQ(instructions[1].offset, 10u);
}

TEST(Instructions, ExtendedArgIsFolded) {
  const Bytes bytes{opcode(314, "EXTENDED_ARG"), 1, opcode(314, "EXTENDED_ARG"), 2,
                    opcode(314, "LOAD_CONST"),   3};

  const auto instructions = read(314, bytes);

  ASSERT_EQ(instructions.size(), 1u);
  EXPECT_EQ(instructions[0].argument, 0x010203u);
  EXPECT_EQ(instructions[0].offset, 0u);
}

TEST(Instructions, NameIndicesLoseTheirFlags) {
  for (int version = 311; version <= 315; ++version) {
    const bool shifted = version > 311;
    const std::uint8_t oparg = shifted ? 6 : 3;
    EXPECT_EQ(read(version, {opcode(version, "LOAD_ATTR"), oparg})[0].argument, 3u);
    EXPECT_EQ(read(version, {opcode(version, "LOAD_GLOBAL"), 6})[0].argument, 3u);
    const std::uint8_t import = version == 315 ? 14 : 3;
    EXPECT_EQ(read(version, {opcode(version, "IMPORT_NAME"), import})[0].argument, 3u);
  }
}

TEST(Instructions, MethodLoadsPushANull) {
  const auto older = read(311, {opcode(311, "LOAD_METHOD"), 2});
  const auto newer = read(315, {opcode(315, "LOAD_ATTR"), 5});

  for (const auto& instructions : {older, newer}) {
    ASSERT_EQ(instructions.size(), 2u);
    EXPECT_EQ(instructions[0].operation, Operation::kLoadAttribute);
    EXPECT_EQ(instructions[0].argument, 2u);
    EXPECT_EQ(instructions[1].operation, Operation::kPushNull);
  }
}

TEST(Instructions, NullStandsBelowTheGlobalUntil312AndAboveItLater) {
  const auto older = read(312, {opcode(312, "LOAD_GLOBAL"), 1});
  const auto newer = read(313, {opcode(313, "LOAD_GLOBAL"), 1});

  ASSERT_EQ(older.size(), 2u);
  EXPECT_EQ(older[0].operation, Operation::kPushNull);
  ASSERT_EQ(newer.size(), 2u);
  EXPECT_EQ(newer[1].operation, Operation::kPushNull);
}

TEST(Instructions, SuperinstructionsAreSplitInOrder) {
  const auto stores = read(313, {opcode(313, "STORE_FAST_STORE_FAST"), 0x12});
  const auto loads =
      read(315, {opcode(315, "LOAD_FAST_BORROW_LOAD_FAST_BORROW"), 0x34});
  const auto both = read(314, {opcode(314, "STORE_FAST_LOAD_FAST"), 0x56});

  ASSERT_EQ(stores.size(), 2u);
  EXPECT_EQ(stores[0].operation, Operation::kStoreLocal);
  EXPECT_EQ(stores[0].argument, 1u);
  EXPECT_EQ(stores[1].argument, 2u);
  ASSERT_EQ(loads.size(), 2u);
  EXPECT_EQ(loads[1].operation, Operation::kLoadLocal);
  EXPECT_EQ(loads[1].argument, 4u);
  ASSERT_EQ(both.size(), 2u);
  EXPECT_EQ(both[0].operation, Operation::kStoreLocal);
  EXPECT_EQ(both[1].operation, Operation::kLoadLocal);
}

TEST(Instructions, JumpsTellTheirTarget) {
  // FOR_ITER of 3.12 has a cache unit, from behind which it jumps.
  const Bytes bytes{opcode(312, "FOR_ITER"), 1, 0, 0, opcode(312, "JUMP_BACKWARD"), 3,
                    opcode(312, "END_FOR"),  0};

  const auto instructions = read(312, bytes);

  ASSERT_EQ(instructions.size(), 3u);
  EXPECT_EQ(instructions[0].argument, 6u);
  EXPECT_EQ(instructions[1].argument, 0u);
}

// Found by fuzz_instructions: it counts back by nothing, from behind the last.
TEST(Instructions, BackwardJumpThatGoesNowhereLeavesTheCode) {
  const Bytes bytes{opcode(311, "JUMP_BACKWARD"), 0};

  const Error error = error_of(311, bytes);

  EXPECT_EQ(error.code, ErrorCode::kMalformed);
  EXPECT_EQ(error.offset, 0u);
}

TEST(Instructions, SubscriptIsABinaryOperationFrom314On) {
  EXPECT_EQ(read(313, {opcode(313, "BINARY_OP"), 26})[0].operation,
            Operation::kBinaryOperation);
  EXPECT_EQ(read(314, {opcode(314, "BINARY_OP"), 26})[0].operation,
            Operation::kSubscript);
}

TEST(Instructions, UnknownVersionIsAMismatch) {
  EXPECT_EQ(error_of(316, {}).code, ErrorCode::kPythonMismatch);
}

TEST(Instructions, SpecialisedOpcodeIsNamed) {
  const Error error = error_of(311, {3, 0});

  EXPECT_EQ(error.code, ErrorCode::kUnknownTag);
  EXPECT_NE(error.detail.find("opcode 3 "), std::string::npos);
}

TEST(Instructions, InstrumentedOpcodeIsNamed) {
  const Bytes bytes{opcode(313, "NOP"), 0, opcode(313, "INSTRUMENTED_LINE"), 0};

  const Error error = error_of(313, bytes);

  EXPECT_EQ(error.code, ErrorCode::kUnknownTag);
  EXPECT_EQ(error.offset, 2u);
  EXPECT_NE(error.detail.find("INSTRUMENTED_LINE"), std::string::npos);
}

TEST(Instructions, BrokenBytesAreMalformed) {
  const std::uint8_t extended = opcode(313, "EXTENDED_ARG");
  const std::uint8_t nop = opcode(313, "NOP");

  EXPECT_EQ(error_of(313, {nop}).code, ErrorCode::kMalformed);
  EXPECT_EQ(error_of(313, {extended, 1}).code, ErrorCode::kMalformed);
  EXPECT_EQ(
      error_of(313, {extended, 1, extended, 1, extended, 1, extended, 1, nop, 0}).code,
      ErrorCode::kMalformed);
  EXPECT_EQ(error_of(313, {0, 0, nop, 0}).code, ErrorCode::kMalformed);
  EXPECT_EQ(error_of(313, {nop, 0, 0, 7}).code, ErrorCode::kMalformed);
  EXPECT_EQ(error_of(313, {opcode(313, "JUMP_FORWARD"), 9}).code,
            ErrorCode::kMalformed);
  EXPECT_EQ(error_of(313, {opcode(313, "JUMP_BACKWARD"), 9}).code,
            ErrorCode::kMalformed);
  EXPECT_EQ(error_of(313, {extended, 9, opcode(313, "BUILD_TUPLE"), 0}).code,
            ErrorCode::kMalformed);
}

TEST(ExceptionEntries, NumbersOfSeveralGroupsAreRead) {
  // start 65 (1, 1), length 2, target 70 (1, 6), depth 3 with lasti.
  const Bytes table{0x80 | 0x40 | 1, 1, 2, 0x40 | 1, 6, 7};

  const auto entries = read_exception_entries(table, 200);

  ASSERT_TRUE(entries);
  ASSERT_EQ(entries->size(), 1u);
  EXPECT_EQ(entries->front().start, 130u);
  EXPECT_EQ(entries->front().end, 134u);
  EXPECT_EQ(entries->front().target, 140u);
  EXPECT_EQ(entries->front().depth, 3u);
  EXPECT_TRUE(entries->front().pushes_last);
}

TEST(ExceptionEntries, BrokenTablesAreMalformed) {
  const Bytes cut{0x81, 1};
  const Bytes endless{0xc1, 0x41, 0x41, 0x41, 0x41, 0x41, 0x41, 0x41};
  const Bytes outside{0x81, 9, 0, 0};
  const Bytes overlapping{0x80, 4, 0, 0, 0x82, 1, 0, 0};

  for (const Bytes& table : {cut, endless, outside, overlapping}) {
    EXPECT_THAT(read_exception_entries(table, 16),
                Fails(ErrorCode::kMalformed, testing::Le(16u)));
  }
}

}  // namespace
}  // namespace waybill::bytecode
