// summarize() against the golden files of chains/, and on broken and huge code.

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <sstream>

#include "base/fails.h"
#include "bytecode/opcode_table.h"
#include "code_file.h"

namespace waybill {
namespace {

using test::CodeText;

const char* const kVersions[] = {"3.11", "3.12", "3.13", "3.14", "3.15"};

std::vector<std::filesystem::path> golden_files() {
  std::vector<std::filesystem::path> files;
  for (const auto& entry :
       std::filesystem::directory_iterator(WAYBILL_TESTS_DIR "/bytecode/chains")) {
    files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

// Heading to text, without indentation.
std::map<std::string, std::string> read_sections(const std::filesystem::path& path) {
  std::map<std::string, std::string> sections;
  std::ifstream in(path);
  std::string line, heading;
  while (std::getline(in, line)) {
    if (!line.empty() && line[0] != ' ' && line[0] != '#') {
      heading = line;
    } else if (line.starts_with("  ")) {
      sections[heading] += line.substr(2) + "\n";
    }
  }
  return sections;
}

std::vector<std::unique_ptr<CodeText>> codes_of(const std::filesystem::path& path,
                                                const std::string& version) {
  std::istringstream in(read_sections(path)["Code " + version]);
  return test::read_codes(in);
}

class Chains : public testing::TestWithParam<std::filesystem::path> {};

TEST_P(Chains, AreAsExpectedInAllVersions) {
  auto sections = read_sections(GetParam());
  for (const std::string version : kVersions) {
    const std::string own = "Expected " + version;
    const std::string& expected = sections[sections.contains(own) ? own : "Expected"];

    std::string found;
    for (const auto& code : codes_of(GetParam(), version)) {
      const auto summary = summarize(code->view);
      ASSERT_TRUE(summary) << to_string(summary.error());
      for (const std::string& line : listing(*code, *summary)) found += line + "\n";
    }

    EXPECT_FALSE(found.empty());
    EXPECT_EQ(found, expected) << version;
  }
}

INSTANTIATE_TEST_SUITE_P(Golden, Chains, testing::ValuesIn(golden_files()),
                         [](const auto& golden) {
                           return golden.param.stem().string();
                         });

// Ids only point to what is there; and to what came before, but for unions.
void expect_sound(const CodeText& code, const CodeSummary& summary) {
  const auto is_value = [&](ValueId id) { return id < summary.values.size(); };
  for (ValueId id = 0; id < summary.values.size(); ++id) {
    const Value& value = summary.values[id];
    ASSERT_TRUE(is_value(value.parent));
    ASSERT_TRUE(value.parent < id || value.parent == 0);
    ASSERT_LE(value.offset, code.instructions.size());
    ASSERT_LE(std::size_t{value.first_operand} + value.operand_count,
              summary.operands.size());
    for (std::uint32_t i = 0; i < value.operand_count; ++i) {
      const ValueId operand = summary.operands[value.first_operand + i];
      ASSERT_TRUE(is_value(operand));
      ASSERT_TRUE(operand < id || value.kind == Value::Kind::kUnion);
    }
  }
  for (const ValueId id : summary.escapes) ASSERT_TRUE(is_value(id));
  for (const Store& store : summary.cell_stores) ASSERT_TRUE(is_value(store.value));
  for (const Binding& binding : summary.bindings) ASSERT_TRUE(is_value(binding.value));
  for (const std::uint32_t name : summary.globals) ASSERT_LT(name, code.names.size());
}

TEST(Summarize, ChangedBytesGiveAnErrorOrASoundSummary) {
  std::mt19937 random(20240501);
  for (const auto& path : golden_files()) {
    for (const char* version : kVersions) {
      for (const auto& code : codes_of(path, version)) {
        for (int round = 0; round < 60; ++round) {
          std::vector<std::uint8_t> bytes = code->instructions;
          std::vector<std::uint8_t> table = code->exceptions;
          for (auto change = random() % 3 + 1; change > 0; --change) {
            std::vector<std::uint8_t>& victim = random() % 4 == 0 ? table : bytes;
            if (victim.empty()) continue;
            victim[random() % victim.size()] = static_cast<std::uint8_t>(random());
          }
          CodeView view = code->view;
          view.instructions = bytes;
          view.exception_table = table;

          const auto summary = summarize(view);

          if (summary) {
            expect_sound(*code, *summary);
          } else {
            EXPECT_LE(summary.error().offset, bytes.size());
          }
        }
      }
    }
  }
}

TEST(Summarize, EachCutGivesAnErrorOrASoundSummary) {
  for (const auto& path : golden_files()) {
    for (const auto& code : codes_of(path, "3.13")) {
      for (std::size_t size = 0;
           size < std::min<std::size_t>(code->instructions.size(), 300); ++size) {
        CodeView view = code->view;
        view.instructions = view.instructions.first(size);
        const auto summary = summarize(view);
        if (summary) expect_sound(*code, *summary);
      }
    }
  }
}

// Hand-written 3.13 code with four names, locals and constants.
class HandWritten {
 public:
  HandWritten& add(std::string_view name, std::uint32_t argument = 0) {
    const auto& table = *bytecode::opcode_table(313);
    for (int shift = 24; shift > 0; shift -= 8) {
      if (argument >> shift != 0) put(table, "EXTENDED_ARG", argument >> shift & 0xff);
    }
    put(table, name, argument & 0xff);
    return *this;
  }

  Result<CodeSummary> summarize() {
    static constexpr std::string_view kNames[] = {"a", "b", "c", "d"};
    static constexpr std::uint8_t kKinds[] = {0x20, 0x20, 0x20, 0x20};
    static constexpr ConstantView kConstants[4];
    CodeView view;
    view.version = 313;
    view.instructions = bytes_;
    view.names = kNames;
    view.local_names = kNames;
    view.local_kinds = kKinds;
    view.constants = kConstants;
    view.argument_count = 2;
    return waybill::summarize(view);
  }

 private:
  void put(const bytecode::OpcodeTable& table, std::string_view name,
           std::uint32_t arg) {
    const auto row =
        std::find_if(table.begin(), table.end(),
                     [&](const auto& candidate) { return candidate.name == name; });
    ASSERT_NE(row, table.end());
    bytes_.push_back(static_cast<std::uint8_t>(row - table.begin()));
    bytes_.push_back(static_cast<std::uint8_t>(arg));
  }

  std::vector<std::uint8_t> bytes_;
};

TEST(Summarize, GlobalsOfUnreachableCodeCount) {
  const auto summary = HandWritten()
                           .add("LOAD_GLOBAL", 0)
                           .add("RETURN_VALUE")
                           .add("LOAD_GLOBAL", 2 << 1)
                           .add("RETURN_VALUE")
                           .summarize();

  ASSERT_TRUE(summary);
  EXPECT_EQ(summary->globals, (std::vector<std::uint32_t>{0, 2}));
  EXPECT_EQ(summary->escapes.size(), 1u);
}

TEST(Summarize, WhatNoCompilerWritesIsMalformed) {
  HandWritten cases[] = {
      HandWritten().add("POP_TOP").add("RETURN_CONST"),
      HandWritten().add("LOAD_GLOBAL", 99).add("RETURN_VALUE"),
      HandWritten().add("LOAD_FAST", 99).add("RETURN_VALUE"),
      HandWritten().add("LOAD_CONST", 99).add("RETURN_VALUE"),
      HandWritten().add("LOAD_FAST", 0),
      HandWritten().add("LOAD_FAST", 0).add("COPY", 2).add("RETURN_VALUE"),
      HandWritten().add("LOAD_FAST", 0).add("SWAP", 0).add("RETURN_VALUE"),
      HandWritten().add("LOAD_FAST", 0).add("JUMP_BACKWARD", 2),
      HandWritten(),
  };
  for (HandWritten& code : cases) {
    EXPECT_THAT(code.summarize(), Fails(ErrorCode::kMalformed));
  }
}

// A stack of 3000 values is carried over 3000 branches: too much to keep each.
TEST(Summarize, CodeTooBigToFollowLetsEverythingEscape) {
  HandWritten code;
  for (int i = 0; i < 3000; ++i) code.add("LOAD_GLOBAL", 0);
  for (int i = 0; i < 3000; ++i) code.add("LOAD_FAST", 0).add("POP_JUMP_IF_TRUE", 0);
  code.add("LOAD_GLOBAL", 2).add("LOAD_ATTR", 4).add("RETURN_VALUE");

  const auto summary = code.summarize();

  ASSERT_TRUE(summary);
  const auto escaped = [&](Value::Kind kind, std::uint32_t index) {
    return std::any_of(summary->escapes.begin(), summary->escapes.end(),
                       [&](ValueId id) {
                         const Value& value = summary->values[id];
                         return value.kind == kind && value.index == index;
                       });
  };
  EXPECT_TRUE(escaped(Value::Kind::kGlobal, 0));
  EXPECT_TRUE(escaped(Value::Kind::kGlobal, 1));
  EXPECT_TRUE(escaped(Value::Kind::kParameter, 1));
  EXPECT_TRUE(std::any_of(summary->values.begin(), summary->values.end(), [](auto& v) {
    return v.kind == Value::Kind::kAttribute && v.index == 2 && v.parent == 0;
  }));
}

TEST(Summarize, ValuesThatWanderThroughLocalsInALoopEndInUnions) {
  HandWritten code;
  code.add("LOAD_GLOBAL", 0).add("STORE_FAST", 2).add("LOAD_GLOBAL", 2);
  code.add("STORE_FAST", 3);
  // while a: a, b, c, d = b, c, d, a
  code.add("LOAD_FAST", 0).add("POP_JUMP_IF_FALSE", 9);
  for (const std::uint32_t local : {1, 2, 3, 0}) code.add("LOAD_FAST", local);
  for (const std::uint32_t local : {3, 2, 1, 0}) code.add("STORE_FAST", local);
  code.add("JUMP_BACKWARD", 11).add("LOAD_FAST", 0).add("RETURN_VALUE");

  const auto summary = code.summarize();

  ASSERT_TRUE(summary) << to_string(summary.error());
  ASSERT_EQ(summary->escapes.size(), 1u);
  EXPECT_EQ(summary->values[summary->escapes[0]].kind, Value::Kind::kUnion);
}

TEST(Summarize, IndependentOfWhatWasAnalysedBefore) {
  const auto codes = codes_of(golden_files().front(), "3.13");
  const auto first = listing(*codes[0], *summarize(codes[0]->view));
  const auto second = listing(*codes[0], *summarize(codes[0]->view));

  EXPECT_EQ(first, second);
}

}  // namespace
}  // namespace waybill
