// One walk checks each instruction against its row in the opcode table, and records as
// bits where instructions start and where jumps lead. Jumps that lead elsewhere are
// found when all starts are known. Starts and targets are units of co_code, offsets of
// errors those of the compact code.
// Tested by tests/bytecode/soundness_test.cpp, and on the code of the standard library
// by tests/python/functions/test_stdlib_soundness.py.

#include "bytecode/soundness.h"

#include <algorithm>
#include <array>
#include <bit>
#include <optional>
#include <string>
#include <vector>

#include "bytecode/compact_code.h"
#include "bytecode/exception_entries.h"
#include "bytecode/instruction.h"
#include "bytecode/unit_walk.h"

namespace waybill::bytecode {
namespace {

// Bits of co_localspluskinds.
constexpr std::uint8_t kCellKind = 0x40;
constexpr std::uint8_t kFreeKind = 0x80;

// A set of units of the code; on the heap only for long code.
class UnitSet {
 public:
  explicit UnitSet(std::size_t count) : word_count_(count / 64 + 1) {
    if (word_count_ > kInlineWords) {
      heap_words_.resize(word_count_);
      words_ = heap_words_.data();
    } else {
      std::fill_n(words_, word_count_, 0);
    }
  }
  UnitSet(const UnitSet&) = delete;
  UnitSet& operator=(const UnitSet&) = delete;

  void add(std::size_t unit) { words_[unit / 64] |= std::uint64_t{1} << (unit % 64); }
  bool has(std::size_t unit) const {
    return (words_[unit / 64] >> (unit % 64) & 1) != 0;
  }

  // The first unit that `others` does not have; -1 if there is none.
  std::ptrdiff_t first_not_in(const UnitSet& others) const {
    for (std::size_t i = 0; i < word_count_; ++i) {
      const std::uint64_t rest = words_[i] & ~others.words_[i];
      if (rest == 0) continue;
      return static_cast<std::ptrdiff_t>(i) * 64 + std::countr_zero(rest);
    }
    return -1;
  }

 private:
  static constexpr std::size_t kInlineWords = 16;

  std::size_t word_count_;
  std::uint64_t inline_words_[kInlineWords];
  std::vector<std::uint64_t> heap_words_;
  std::uint64_t* words_ = inline_words_;
};

std::string_view name_of(Operand operand) {
  switch (operand) {
    case Operand::kConstant:
      return "constants";
    case Operand::kName:
      return "names";
    case Operand::kLocal:
    case Operand::kTwoLocals:
    case Operand::kCell:
      return "locals";
    default:
      return "choices";
  }
}

class Check {
 public:
  static constexpr bool kHasCaches = false;

  // `size`: of co_code.
  Check(const OpcodeTable& table, const CodeShape& code, std::size_t size)
      : table_(table), code_(code), size_(size), starts_(size / 2), targets_(size / 2) {
    // From kTwoLocals on the bound is 0, so that fits() checks these operands.
    const std::uint64_t any = UINT64_MAX;
    counts_ = {any, code.constant_count, code.name_count, code.local_kinds.size(), 256};
  }

  bool add(const OpcodeRow& row, std::uint32_t argument, std::size_t start,
           std::size_t next, Error& error) {
    starts_.add(unit_);
    unit_ += (next - start) / 2 + row.caches;
    last_ = row.operation;
    if (argument >> row.flag_bits >= counts_[static_cast<std::size_t>(row.operand)] &&
        !fits(row, argument, next)) {
      error = bad_operand(row, argument >> row.flag_bits, start);
      return false;
    }
    return row.jump == Jump::kNone || add_jump(row, argument, start, error);
  }

  // Makes the checks that follow the last instruction.
  bool finish(Error& error) const {
    if (!ends_block(last_)) {
      error = {ErrorCode::kMalformed, code_.instructions.size(),
               "control runs off the end of the instructions"};
      return false;
    }
    const std::ptrdiff_t unaligned = targets_.first_not_in(starts_);
    if (unaligned < 0) return true;
    error = {ErrorCode::kMalformed, offset_of(static_cast<std::size_t>(unaligned)),
             "a jump leads into this instruction, past its start"};
    return false;
  }

  bool check_exceptions(Error& error) const {
    ExceptionReader entries(code_.exception_table, size_);
    ExceptionEntry entry;
    while (entries.next(entry)) {
      const char* wrong = nullptr;
      if (!starts_.has(entry.start / 2) || !starts_.has(entry.target / 2) ||
          (entry.end != size_ && !starts_.has(entry.end / 2))) {
        wrong = "an exception table entry points into an instruction";
      } else if (std::uint64_t{entry.depth} + entry.pushes_last + 1 >
                 code_.stack_size) {
        wrong = "an exception handler needs more stack than co_stacksize";
      }
      if (wrong == nullptr) continue;
      error = {ErrorCode::kMalformed, entries.start(), wrong};
      return false;
    }
    if (entries.error() == nullptr) return true;
    error = {ErrorCode::kMalformed, entries.start(), entries.error()};
    return false;
  }

 private:
  // The offset of the compact code that becomes this unit, or caches with this unit.
  std::size_t offset_of(std::size_t unit) const {
    std::size_t offset = 0;
    for (std::size_t next = 0;; offset += 2) {
      next += 1U + table_[code_.instructions[offset]].caches;
      if (next > unit) return offset;
    }
  }

  bool is_cell(std::uint32_t local) const {
    return local < code_.local_kinds.size() &&
           (code_.local_kinds[local] & (kCellKind | kFreeKind)) != 0;
  }

  // Counted on first use, because most code does not need the number.
  std::uint64_t free_count() {
    if (free_count_) return *free_count_;
    const auto count = std::ranges::count_if(
        code_.local_kinds, [](std::uint8_t kind) { return (kind & kFreeKind) != 0; });
    return free_count_.emplace(static_cast<std::uint64_t>(count));
  }

  // Checks operands without a simple bound.
  bool fits(const OpcodeRow& row, std::uint32_t argument, std::size_t next) {
    const std::size_t locals = code_.local_kinds.size();
    switch (row.operand) {
      case Operand::kTwoLocals:
        return argument >> 4 < locals && (argument & 15) < locals;
      case Operand::kCell:
        return is_cell(argument);
      case Operand::kFreeCount:
        return argument == free_count();
      case Operand::kChoice: {
        const std::uint32_t choice = argument >> row.flag_bits;
        return choice < 64 && (row.choices >> choice & 1) != 0;
      }
      case Operand::kCallFollows:
        return call_follows(next);
      default:
        return false;
    }
  }

  bool call_follows(std::size_t next) const {
    const BytesView code = code_.instructions;
    while (next < code.size() &&
           table_[code[next]].operation == Operation::kExtendedArg) {
      next += 2;
    }
    return next < code.size() && table_[code[next]].operation == Operation::kCall;
  }

  Error bad_operand(const OpcodeRow& row, std::uint32_t index,
                    std::size_t start) const {
    std::string detail(row.name);
    switch (row.operand) {
      case Operand::kFreeCount:
        detail += " should have the number of free variables, and has " +
                  std::to_string(index);
        break;
      case Operand::kCallFollows:
        detail += " should be followed by a call";
        break;
      case Operand::kCell:
        if (index < code_.local_kinds.size()) {
          detail += " takes local " + std::to_string(index) +
                    ", which is neither a cell nor a free variable";
          break;
        }
        [[fallthrough]];
      default:
        detail += " refers to index " + std::to_string(index) + " of " +
                  std::string(name_of(row.operand)) + ", which does not exist";
    }
    return {ErrorCode::kMalformed, start, std::move(detail)};
  }

  bool add_jump(const OpcodeRow& row, std::uint32_t argument, std::size_t start,
                Error& error) {
    const std::uint64_t units = size_ / 2;
    const std::uint64_t from = unit_;
    const bool is_backward = row.jump == Jump::kBackward;
    const std::uint64_t target = is_backward ? from - argument : from + argument;
    if ((is_backward && argument > from) || target + row.jump_skips >= units) {
      error = {ErrorCode::kMalformed, start, "a jump leaves the code"};
      return false;
    }
    targets_.add(target);
    targets_.add(target + row.jump_skips);
    return true;
  }

  const OpcodeTable& table_;
  const CodeShape& code_;
  const std::size_t size_;  // Of co_code.
  std::size_t unit_ = 0;    // Of co_code; where the next instruction starts.
  std::array<std::uint64_t, 10> counts_;  // Bounds, indexed by Operand.
  Operation last_ = Operation::kUnknown;
  std::optional<std::uint64_t> free_count_;
  UnitSet starts_;
  UnitSet targets_;
};

tl::unexpected<Error> counted_from(std::size_t offset, Error error) {
  error.offset += offset;
  return tl::unexpected(std::move(error));
}

}  // namespace

bool is_known_version(int version) { return opcode_table(version) != nullptr; }

Result<std::size_t> check_soundness(const CodeShape& code) {
  const OpcodeTable* table = opcode_table(code.version);
  if (table == nullptr) return tl::unexpected(unknown_version(code.version));
  const std::size_t size = expanded_size(code.version, code.instructions);
  if (size > INT32_MAX) {
    return counted_from(code.instructions_offset, wrong_length(code.instructions));
  }
  Error error{};
  Check check(*table, code, size);
  if (!walk_units(*table, code.instructions, check, error) || !check.finish(error)) {
    return counted_from(code.instructions_offset, std::move(error));
  }
  if (!check.check_exceptions(error)) {
    return counted_from(code.exceptions_offset, std::move(error));
  }
  return size;
}

}  // namespace waybill::bytecode
