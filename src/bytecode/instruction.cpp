// Decodes instructions: one switch splits those that do several steps.
// Tested by tests/bytecode/instruction_test.cpp.

#include "bytecode/instruction.h"

#include <string>

#include "bytecode/unit_walk.h"

namespace waybill::bytecode {
namespace {

// Subscripting, as an operand of BINARY_OP (NB_SUBSCR), and the common constant -1.
constexpr std::uint32_t kSubscriptOperator = 26;
constexpr std::uint32_t kCommonMinusOne = 11;
// Operands of CALL_INTRINSIC_1 whose argument does not escape.
constexpr std::uint32_t kImportStarIntrinsic = 2;
constexpr std::uint32_t kStopIterationIntrinsic = 3;
constexpr std::uint32_t kUnaryPositiveIntrinsic = 5;
constexpr std::uint32_t kListToTupleIntrinsic = 6;

// Splits the instructions that walk_units() passes to it.
class Splitter {
 public:
  static constexpr bool kHasCaches = true;

  Splitter(std::size_t size, std::vector<Instruction>& all) : size_(size), all_(all) {}

  // `next` is the offset of the next instruction; jumps count from there.
  bool add(const OpcodeRow& row, std::uint32_t argument, std::size_t start,
           std::size_t next, Error& error) {
    const std::uint64_t pops = row.pops.of(argument);
    const std::uint64_t pushes = row.pushes.of(argument);
    // A valid count is bounded by the instructions that make or use the values.
    if (pops > size_ + 8 || pushes > size_ + 8) {
      error = {
          ErrorCode::kMalformed, start,
          std::string(row.name) + " pops or pushes more values than its code allows"};
      return false;
    }
    Instruction instruction;
    instruction.operation = row.operation;
    instruction.jump_pushes = row.jump_pushes;
    instruction.can_jump = row.jump != Jump::kNone;
    instruction.argument = argument;
    instruction.pops = static_cast<std::uint32_t>(pops);
    instruction.pushes = static_cast<std::uint32_t>(pushes);
    instruction.offset = static_cast<std::uint32_t>(start);
    if (instruction.can_jump) {
      const std::uint64_t distance = std::uint64_t{argument} * 2;
      const bool is_backward = row.jump == Jump::kBackward;
      // A target before the start wraps around to beyond the end: distances have 33
      // bits of 64.
      const std::uint64_t target = is_backward ? next - distance : next + distance;
      if (target >= size_) {
        error = {ErrorCode::kMalformed, start, "a jump leaves the code"};
        return false;
      }
      instruction.argument = static_cast<std::uint32_t>(target);
    }
    split(instruction, row.flag_bits);
    return true;
  }

 private:
  void push_back(Instruction instruction, Operation operation, std::uint32_t argument,
                 std::uint32_t pops, std::uint32_t pushes) {
    instruction.operation = operation;
    instruction.argument = argument;
    instruction.pops = pops;
    instruction.pushes = pushes;
    all_.push_back(instruction);
  }

  // Adds a load of names[argument >> flag_bits]. Bit 0 requests a NULL next to the
  // callable, below or above it.
  void push_load(const Instruction& from, Operation operation, std::uint8_t flag_bits,
                 bool null_is_below) {
    const bool null = flag_bits > 0 && (from.argument & 1) != 0;
    if (null && null_is_below) push_back(from, Operation::kPushNull, 0, 0, 1);
    push_back(from, operation, from.argument >> flag_bits, from.pops, 1);
    if (null && !null_is_below) push_back(from, Operation::kPushNull, 0, 0, 1);
  }

  void push_locals(const Instruction& from, Operation first, Operation second) {
    const bool stores_first = first == Operation::kStoreLocal;
    const bool stores_second = second == Operation::kStoreLocal;
    push_back(from, first, from.argument >> 4, stores_first, !stores_first);
    push_back(from, second, from.argument & 15, stores_second, !stores_second);
  }

  void split(const Instruction& from, std::uint8_t flag_bits) {
    switch (from.operation) {
      case Operation::kLoadGlobal:
        return push_load(from, from.operation, flag_bits, true);
      case Operation::kLoadGlobalThenNull:
        return push_load(from, Operation::kLoadGlobal, flag_bits, false);
      case Operation::kLoadAttribute:
      case Operation::kLoadSuperAttribute:
        return push_load(from, from.operation, flag_bits, false);
      case Operation::kLoadMethod:
        push_back(from, Operation::kLoadAttribute, from.argument, 1, 1);
        return push_back(from, Operation::kPushNull, 0, 0, 1);
      case Operation::kImportName:
        return push_back(from, from.operation, from.argument >> flag_bits, 2, 1);
      case Operation::kLoadLocalLoadLocal:
        return push_locals(from, Operation::kLoadLocal, Operation::kLoadLocal);
      case Operation::kStoreLocalLoadLocal:
        return push_locals(from, Operation::kStoreLocal, Operation::kLoadLocal);
      case Operation::kStoreLocalStoreLocal:
        return push_locals(from, Operation::kStoreLocal, Operation::kStoreLocal);
      case Operation::kLoadCommonConstant:
        if (from.argument == kCommonMinusOne) {
          return push_back(from, Operation::kLoadInteger, 0xffffffff, 0, 1);
        }
        return push_back(from, Operation::kConsume, 0, 0, 1);
      case Operation::kBinaryOperationOrSubscript:
        return push_back(from,
                         from.argument == kSubscriptOperator
                             ? Operation::kSubscript
                             : Operation::kBinaryOperation,
                         from.argument, 2, 1);
      case Operation::kGetIterator:
        // In 3.15 a nonzero argument serves `yield from` and async iteration.
        return push_back(from,
                         from.argument == 0 || from.pushes == 1
                             ? Operation::kGetIterator
                             : Operation::kEscape,
                         0, from.pops, from.pushes);
      case Operation::kMakeFunction:
        // From 3.13 on SET_FUNCTION_ATTRIBUTE sets the parts, and oparg is unused.
        return push_back(from, from.operation, from.pops == 1 ? 0 : from.argument,
                         from.pops, 1);
      case Operation::kIntrinsic:
        return split_intrinsic(from);
      default:
        all_.push_back(from);
    }
  }

  void split_intrinsic(const Instruction& from) {
    switch (from.argument) {
      case kListToTupleIntrinsic:
        return push_back(from, Operation::kConsume, 0, 0, 0);
      case kImportStarIntrinsic:
      case kStopIterationIntrinsic:
      case kUnaryPositiveIntrinsic:
        return push_back(from, Operation::kConsume, 0, 1, 1);
      default:
        return push_back(from, Operation::kEscape, 0, 1, 1);
    }
  }

  std::size_t size_;  // The size of the code.
  std::vector<Instruction>& all_;
};

}  // namespace

bool ends_block(Operation operation) {
  switch (operation) {
    case Operation::kJump:
    case Operation::kReturn:
    case Operation::kReturnConstant:
    case Operation::kRaise:
    case Operation::kReraise:
      return true;
    default:
      return false;
  }
}

Result<std::vector<Instruction>> read_instructions(int version, BytesView code) {
  const OpcodeTable* table = opcode_table(version);
  if (table == nullptr) return tl::unexpected(unknown_version(version));
  std::vector<Instruction> all;
  all.reserve(code.size() / 4 + 8);
  Splitter splitter(code.size(), all);
  Error error{};
  if (!walk_units(*table, code, splitter, error)) {
    return tl::unexpected(std::move(error));
  }
  return all;
}

}  // namespace waybill::bytecode
