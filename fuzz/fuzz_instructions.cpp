// Arbitrary bytes as co_code, exception table and line table of each supported Python.
// read_instructions() accepts code that check_soundness() accepts, except for
// instructions that pop or push more values than their code allows. In sound code every
// index is in range, and jumps and handlers lead to the start of an instruction.
// Offsets ascend and lie in the input.
//
// Input: the length of the exception table in one byte, that table, then co_code.
// All of the input is the line table.

#include <algorithm>
#include <cstdint>
#include <set>

#include "bytecode/compact_code.h"
#include "bytecode/exception_entries.h"
#include "bytecode/instruction.h"
#include "bytecode/line_table.h"
#include "bytecode/soundness.h"
#include "require.h"

namespace {

using waybill::BytesView;
using waybill::Error;
using waybill::bytecode::Instruction;
using waybill::bytecode::Operation;
using waybill::fuzz::require;

// The supported versions, one before them and one after.
constexpr int kFirstVersion = 310;
constexpr int kLastVersion = 316;

bool is_supported(int version) {
  return version != kFirstVersion && version != kLastVersion;
}

// Operations that read_instructions() splits or skips.
bool is_internal(Operation operation) {
  switch (operation) {
    case Operation::kUnknown:
    case Operation::kNotCanonical:
    case Operation::kCache:
    case Operation::kExtendedArg:
    case Operation::kIntrinsic:
    case Operation::kLoadCommonConstant:
    case Operation::kLoadGlobalThenNull:
    case Operation::kLoadMethod:
    case Operation::kLoadLocalLoadLocal:
    case Operation::kStoreLocalLoadLocal:
    case Operation::kStoreLocalStoreLocal:
    case Operation::kBinaryOperationOrSubscript:
      return true;
    default:
      return false;
  }
}

void check_instruction(const Instruction& instruction, std::size_t size) {
  require(!is_internal(instruction.operation));
  require(instruction.offset % 2 == 0 && instruction.offset < size);
  require(!instruction.can_jump ||
          (instruction.argument % 2 == 0 && instruction.argument < size));
  require(instruction.pops <= size + 8 && instruction.pushes <= size + 8);
}

// Small numbers, so that most indices are out of range.
constexpr std::size_t kNames = 6;
constexpr std::size_t kConstants = 4;
constexpr std::uint8_t kKinds[] = {0x20, 0x20, 0x20, 0x40, 0x80};
constexpr std::uint32_t kStack = 10;

// Whether the index of an instruction is in range.
bool is_in_range(const Instruction& instruction) {
  switch (instruction.operation) {
    case Operation::kLoadConstant:
      return instruction.argument < kConstants;
    case Operation::kLoadGlobal:
    case Operation::kLoadName:
    case Operation::kLoadAttribute:
    case Operation::kImportName:
    case Operation::kImportFrom:
    case Operation::kStoreName:
    case Operation::kStoreAttribute:
    case Operation::kStoreGlobal:
      return instruction.argument < kNames;
    case Operation::kLoadLocal:
    case Operation::kStoreLocal:
    case Operation::kDeleteLocal:
      return instruction.argument < std::size(kKinds);
    case Operation::kMakeCell:
    case Operation::kLoadCell:
    case Operation::kStoreCell:
      return instruction.argument < std::size(kKinds) &&
             kKinds[instruction.argument] != 0x20;
    default:
      return true;
  }
}

void check_sound(const std::vector<Instruction>& read, BytesView table,
                 std::size_t size) {
  std::set<std::uint32_t> starts;
  for (const Instruction& instruction : read) starts.insert(instruction.offset);
  for (const Instruction& instruction : read) {
    require(is_in_range(instruction));
    require(!instruction.can_jump || starts.contains(instruction.argument));
  }
  const auto entries = waybill::bytecode::read_exception_entries(table, size);
  require(entries.has_value());
  for (const auto& entry : *entries) {
    require(starts.contains(entry.start) && starts.contains(entry.target));
    require(entry.depth < kStack);
  }
  require(!read.empty() && waybill::bytecode::ends_block(read.back().operation));
}

waybill::Result<std::vector<Instruction>> checked_read(int version, BytesView code) {
  auto read = waybill::bytecode::read_instructions(version, code);
  if (!read) {
    require(read.error().offset <= code.size());
    return read;
  }
  require(is_supported(version));
  // Two bytes make at most two instructions: a pair of locals, or a load and its NULL.
  require(read->size() <= code.size());
  std::uint32_t previous = 0;
  for (const Instruction& instruction : *read) {
    require(instruction.offset >= previous);
    previous = instruction.offset;
    check_instruction(instruction, code.size());
  }
  return read;
}

void check_code(int version, BytesView table, BytesView input) {
  checked_read(version, input);
  const auto compact = waybill::bytecode::compact_code(version, input);
  const auto code = waybill::bytecode::expand_code(version, compact);
  const auto read = checked_read(version, code);
  waybill::bytecode::CodeShape shape;
  shape.version = version;
  shape.instructions = compact;
  shape.exception_table = table;
  shape.local_kinds = kKinds;
  shape.name_count = kNames;
  shape.constant_count = kConstants;
  shape.stack_size = kStack;
  shape.exceptions_offset = compact.size();
  const auto sound = waybill::bytecode::check_soundness(shape);
  if (!sound) return require(sound.error().offset <= compact.size() + table.size());
  require(is_supported(version) && *sound == code.size());
  if (read) return check_sound(*read, table, code.size());
  // Only read_instructions() checks the height of the stack.
  require(read.error().detail.find("more values") != std::string::npos);
}

void check_table(BytesView table, std::size_t code_size) {
  const auto entries = waybill::bytecode::read_exception_entries(table, code_size);
  if (!entries) return require(entries.error().offset == code_size);
  std::uint32_t previous_end = 0;
  for (const auto& entry : *entries) {
    require(entry.start >= previous_end && entry.start < entry.end);
    require(entry.end <= code_size && entry.target < code_size);
    previous_end = entry.end;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 1) return 0;
  const BytesView input(data, size);
  const std::size_t length = std::min<std::size_t>(input[0], size - 1);
  const BytesView table = input.subspan(1, length);
  const BytesView code = input.subspan(1 + length);
  for (int version = kFirstVersion; version <= kLastVersion; ++version) {
    check_code(version, table, code);
  }
  check_table(table, code.size());
  const auto lines = waybill::bytecode::check_line_table(input, code.size() / 2);
  require(lines || lines.error().offset <= size);
  return 0;
}
