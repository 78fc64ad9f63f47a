// Tested by tests/bytecode/disassembly_test.cpp and tests/cli/test_inspect_code.py,
// which compares with `dis`.

#include "bytecode/disassembly.h"

#include <span>
#include <string>

#include "bytecode/compact_code.h"
#include "bytecode/unit_walk.h"

namespace waybill::bytecode {
namespace {

// The first opcode with an argument (dis.HAVE_ARGUMENT), by version from 3.11.
constexpr std::uint8_t kFirstWithArgument[] = {90, 90, 45, 44, 42};
static_assert(std::size(kFirstWithArgument) == kVersionCount);

// A number has the same meaning in each version that has it: new ones are appended.
constexpr std::string_view kBinaryOperators[] = {
    "+",  "&",  "//", "<<",  "@",   "*",  "%",   "|",   "**",
    ">>", "-",  "/",  "^",   "+=",  "&=", "//=", "<<=", "@=",
    "*=", "%=", "|=", "**=", ">>=", "-=", "/=",  "^=",  "[]"};
constexpr std::string_view kComparisons[] = {"<", "<=", "==", "!=", ">", ">="};
constexpr std::string_view kIdentity[] = {"is", "is not"};
constexpr std::string_view kMembership[] = {"in", "not in"};
constexpr std::string_view kIntrinsics1[] = {
    "INTRINSIC_1_INVALID",         "INTRINSIC_PRINT",
    "INTRINSIC_IMPORT_STAR",       "INTRINSIC_STOPITERATION_ERROR",
    "INTRINSIC_ASYNC_GEN_WRAP",    "INTRINSIC_UNARY_POSITIVE",
    "INTRINSIC_LIST_TO_TUPLE",     "INTRINSIC_TYPEVAR",
    "INTRINSIC_PARAMSPEC",         "INTRINSIC_TYPEVARTUPLE",
    "INTRINSIC_SUBSCRIPT_GENERIC", "INTRINSIC_TYPEALIAS"};
constexpr std::string_view kIntrinsics2[] = {"INTRINSIC_2_INVALID",
                                             "INTRINSIC_PREP_RERAISE_STAR",
                                             "INTRINSIC_TYPEVAR_WITH_BOUND",
                                             "INTRINSIC_TYPEVAR_WITH_CONSTRAINTS",
                                             "INTRINSIC_SET_FUNCTION_TYPE_PARAMS",
                                             "INTRINSIC_SET_TYPEPARAM_DEFAULT"};
constexpr std::string_view kCommonConstants[] = {"AssertionError",
                                                 "NotImplementedError",
                                                 "tuple",
                                                 "all",
                                                 "any",
                                                 "list",
                                                 "set",
                                                 "None",
                                                 "''",
                                                 "True",
                                                 "False",
                                                 "-1"};
constexpr std::string_view kSpecialMethods[] = {"__enter__", "__exit__", "__aenter__",
                                                "__aexit__"};
constexpr std::string_view kConversions[] = {"", "str", "repr", "ascii"};
constexpr std::string_view kFormats[] = {"",
                                         "str",
                                         "repr",
                                         "ascii",
                                         "with format",
                                         "str, with format",
                                         "repr, with format",
                                         "ascii, with format"};
constexpr std::string_view kFunctionParts[] = {"defaults", "kwdefaults", "annotations",
                                               "closure", "annotate"};

// The names that an opcode's argument selects: one by value, or several by its bits.
struct ChoiceNames {
  std::string_view opcode;
  std::span<const std::string_view> names;
  bool are_flags = false;
};
constexpr ChoiceNames kChoices[] = {
    {"BINARY_OP", kBinaryOperators},
    {"COMPARE_OP", kComparisons},
    {"IS_OP", kIdentity},
    {"CONTAINS_OP", kMembership},
    {"CALL_INTRINSIC_1", kIntrinsics1},
    {"CALL_INTRINSIC_2", kIntrinsics2},
    {"LOAD_COMMON_CONSTANT", kCommonConstants},
    {"LOAD_SPECIAL", kSpecialMethods},
    {"CONVERT_VALUE", kConversions},
    {"FORMAT_VALUE", kFormats},
    {"MAKE_FUNCTION", kFunctionParts, true},
    {"SET_FUNCTION_ATTRIBUTE", kFunctionParts, true},
};

// "defaults, closure".
std::string joined(std::span<const std::string_view> names, std::uint32_t bits) {
  std::string out;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if ((bits >> i & 1) == 0) continue;
    if (!out.empty()) out += ", ";
    out += names[i];
  }
  return out;
}

class Lister {
 public:
  static constexpr bool kHasCaches = false;

  Lister(const OpcodeTable& table, std::uint8_t first_with_argument,
         std::vector<ListedInstruction>& out)
      : table_(table), first_with_argument_(first_with_argument), out_(out) {}

  bool add(const OpcodeRow& row, std::uint32_t argument, std::size_t start,
           std::size_t next, Error&) {
    const std::size_t own_start = start + cache_bytes_;
    cache_bytes_ += std::size_t{2} * row.caches;
    ListedInstruction& listed = out_.emplace_back();
    listed.opcode = row.name;
    listed.operand = row.operand;
    listed.has_argument = &row - table_.data() >= first_with_argument_;
    listed.is_jump = row.jump != Jump::kNone;
    listed.argument = argument;
    listed.index = argument >> row.flag_bits;
    listed.pushes_null = row.operand == Operand::kName && row.flag_bits != 0 &&
                         row.pushes.term == Term::kLowBit && (argument & 1) != 0;
    listed.offset = static_cast<std::uint32_t>(own_start);
    if (listed.is_jump) {
      const std::int64_t distance = std::int64_t{argument} * 2;
      const auto from = static_cast<std::int64_t>(next + cache_bytes_);
      listed.target = row.jump == Jump::kBackward ? from - distance : from + distance;
    }
    return true;
  }

  // The size of the caches in co_code of the instructions so far.
  std::size_t cache_bytes() const { return cache_bytes_; }

 private:
  const OpcodeTable& table_;
  std::ptrdiff_t first_with_argument_;
  std::vector<ListedInstruction>& out_;
  std::size_t cache_bytes_ = 0;
};

}  // namespace

Result<void> disassemble(int version, BytesView code,
                         std::vector<ListedInstruction>& out) {
  const OpcodeTable* table = opcode_table(version);
  if (table == nullptr) return tl::unexpected(unknown_version(version));
  if (expanded_size(version, code) > INT32_MAX) {
    return tl::unexpected(wrong_length(code));
  }
  Lister lister(*table, kFirstWithArgument[version - kOldestPython], out);
  Error error{};
  if (!walk_units(*table, code, lister, error)) {
    error.offset += lister.cache_bytes();
    return tl::unexpected(std::move(error));
  }
  return {};
}

std::string choice_text(const ListedInstruction& instruction) {
  const std::uint32_t index = instruction.index;
  for (const ChoiceNames& row : kChoices) {
    if (row.opcode != instruction.opcode) continue;
    if (row.are_flags) {
      return index >> row.names.size() == 0 ? joined(row.names, index) : "";
    }
    return std::string(index < row.names.size() ? row.names[index] : "");
  }
  return {};
}

}  // namespace waybill::bytecode
