#include "bytecode/compact_code.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "bytecode/opcode_table.h"

namespace waybill::bytecode {
namespace {

using Bytes = std::vector<std::uint8_t>;

// RESUME, LOAD_GLOBAL, EXTENDED_ARG, LOAD_ATTR, RETURN_VALUE of Python 3.11.
const Bytes kCode = {151, 0, 116, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,  0,
                     144, 1, 106, 1, 0, 0, 0, 0, 0, 0, 0, 0, 83, 0};
const Bytes kInstructions = {151, 0, 116, 0, 144, 1, 106, 1, 83, 0};

TEST(InlineCaches, AreLeftOutAndPutBack) {
  EXPECT_EQ(compact_code(311, kCode), kInstructions);
  EXPECT_EQ(expand_code(311, kInstructions), kCode);
}

TEST(InlineCaches, OfEachOpcodeAreThoseOfItsVersion) {
  for (int version = kOldestPython; version <= kNewestPython; ++version) {
    for (int opcode = 0; opcode < 256; ++opcode) {
      const Bytes instructions = {static_cast<std::uint8_t>(opcode), 7};
      const Bytes code = expand_code(version, instructions);

      const OpcodeRow& row = (*opcode_table(version))[static_cast<std::size_t>(opcode)];
      EXPECT_EQ(code.size(), 2u + 2u * row.caches);
      EXPECT_EQ(expanded_size(version, instructions), code.size());
      EXPECT_LE(code.size(), 11 * instructions.size());
      EXPECT_EQ(std::ranges::count(code, 0), 2 * row.caches + (opcode == 0));
      EXPECT_EQ(compact_code(version, code), instructions);
    }
  }
}

TEST(InlineCaches, MayBeCutOff) {
  for (std::size_t size = 0; size <= kCode.size(); ++size) {
    const Bytes found = compact_code(311, BytesView(kCode).first(size));
    EXPECT_TRUE(
        std::ranges::equal(found, BytesView(kInstructions).first(found.size())));
  }
  EXPECT_EQ(compact_code(311, BytesView(kCode).first(9)).size(), 4u);
  EXPECT_EQ(expand_code(311, BytesView(kInstructions).first(3)).size(), 13u);
}

TEST(InlineCaches, OfUnknownVersionsAreUnknown) {
  for (const int version : {0, 310, 316}) {
    EXPECT_EQ(compact_code(version, kCode), kCode);
    EXPECT_EQ(expand_code(version, kInstructions), kInstructions);
    EXPECT_EQ(expanded_size(version, kInstructions), kInstructions.size());
  }
}

}  // namespace
}  // namespace waybill::bytecode
