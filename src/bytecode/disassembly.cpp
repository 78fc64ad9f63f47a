// Tested by tests/bytecode/disassembly_test.cpp and tests/cli/test_inspect_code.py,
// which compares with `dis`.

#include "bytecode/disassembly.h"

#include <iterator>

#include "bytecode/unit_walk.h"

namespace waybill::bytecode {
namespace {

// dis.HAVE_ARGUMENT, in effect: opcodes below take none. 3.11 first.
constexpr std::uint8_t kFirstWithArgument[] = {90, 90, 45, 44, 42};

// The same numbers in each version; the last one is new in 3.14.
constexpr std::string_view kBinaryOperators[] = {
    "+",  "&",  "//", "<<",  "@",   "*",  "%",   "|",   "**",
    ">>", "-",  "/",  "^",   "+=",  "&=", "//=", "<<=", "@=",
    "*=", "%=", "|=", "**=", ">>=", "-=", "/=",  "^=",  "[]"};
constexpr std::string_view kComparisons[] = {"<", "<=", "==", "!=", ">", ">="};

class Lister {
 public:
  static constexpr bool kCountsCaches = true;

  Lister(const OpcodeTable& table, std::uint8_t first_with_argument,
         std::vector<ListedInstruction>& out)
      : table_(table), first_with_argument_(first_with_argument), out_(out) {}

  bool add(const OpcodeRow& row, std::uint32_t argument, std::size_t start,
           std::size_t next, Error&) {
    ListedInstruction& listed = out_.emplace_back();
    listed.opcode = row.name;
    listed.operand = row.operand;
    listed.has_argument = &row - table_.data() >= first_with_argument_;
    listed.is_jump = row.jump != Jump::kNone;
    listed.argument = argument;
    listed.index = argument >> row.flag_bits;
    listed.pushes_null = row.operand == Operand::kName && row.flag_bits != 0 &&
                         row.pushes.term == Term::kLowBit && (argument & 1) != 0;
    listed.offset = static_cast<std::uint32_t>(start);
    if (listed.is_jump) {
      const std::int64_t distance = std::int64_t{argument} * 2;
      const auto from = static_cast<std::int64_t>(next);
      listed.target = row.jump == Jump::kBackward ? from - distance : from + distance;
    }
    return true;
  }

 private:
  const OpcodeTable& table_;
  std::ptrdiff_t first_with_argument_;
  std::vector<ListedInstruction>& out_;
};

}  // namespace

Result<void> disassemble(int version, BytesView code,
                         std::vector<ListedInstruction>& out) {
  const OpcodeTable* table = opcode_table(version);
  if (table == nullptr) return tl::unexpected(unknown_version(version));
  Lister lister(*table, kFirstWithArgument[version - 311], out);
  Error error{};
  if (!walk_units(*table, code, lister, error)) {
    return tl::unexpected(std::move(error));
  }
  return {};
}

std::string_view choice_name(const ListedInstruction& instruction) {
  const auto pick = [&](const auto& names) -> std::string_view {
    return instruction.index < std::size(names) ? names[instruction.index] : "";
  };
  if (instruction.opcode == "BINARY_OP") return pick(kBinaryOperators);
  if (instruction.opcode == "COMPARE_OP") return pick(kComparisons);
  return {};
}

}  // namespace waybill::bytecode
