// Any bytes, read as the instructions, the exception table and the line table of each
// known Python: what check_soundness() accepts read_instructions() accepts too, but for
// instructions that take more values than there can be; then every index is within what
// it counts, jumps and handlers lead to where an instruction starts; offsets ascend and
// lie inside.
//
// Input: a byte with the length of the exception table, that table, then instructions;
// as a line table all of it.

#include <algorithm>
#include <cstdint>
#include <set>

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

// One before and one behind the known ones.
constexpr int kFirstVersion = 310;
constexpr int kLastVersion = 316;

bool is_known(int version) {
  return version != kFirstVersion && version != kLastVersion;
}

// What the reader splits up, or passes over.
bool is_for_readers_only(Operation operation) {
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
  require(!is_for_readers_only(instruction.operation));
  require(instruction.offset % 2 == 0 && instruction.offset < size);
  require(!instruction.can_jump ||
          (instruction.argument % 2 == 0 && instruction.argument < size));
  require(instruction.pops <= size + 8 && instruction.pushes <= size + 8);
}

// Few of each, so that most indices are wrong.
constexpr std::size_t kNames = 6;
constexpr std::size_t kConstants = 4;
constexpr std::uint8_t kKinds[] = {0x20, 0x20, 0x20, 0x40, 0x80};
constexpr std::uint32_t kStack = 10;

// Whether the index of a sound instruction is within what it counts.
bool is_within(const Instruction& instruction) {
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
    require(is_within(instruction));
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

void check_code(int version, BytesView table, BytesView code) {
  const auto read = waybill::bytecode::read_instructions(version, code);
  waybill::bytecode::CodeShape shape;
  shape.version = version;
  shape.instructions = code;
  shape.exception_table = table;
  shape.local_kinds = kKinds;
  shape.name_count = kNames;
  shape.constant_count = kConstants;
  shape.stack_size = kStack;
  shape.exceptions_offset = code.size();
  const auto sound = waybill::bytecode::check_soundness(shape);
  require(sound || sound.error().offset <= code.size() + table.size());
  require(!sound || is_known(version));
  if (!read) {
    const Error& error = read.error();
    require(error.offset <= code.size());
    // Heights of the stack are looked at where code is followed, and only there.
    const bool is_about_heights = error.detail.find("more values") != std::string::npos;
    return require(!sound || is_about_heights);
  }
  require(is_known(version));
  // A pair of locals, or a load and its NULL, are two for two bytes.
  require(read->size() <= code.size());
  std::uint32_t previous = 0;
  for (const Instruction& instruction : *read) {
    require(instruction.offset >= previous);
    previous = instruction.offset;
    check_instruction(instruction, code.size());
  }
  if (sound) check_sound(*read, table, code.size());
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
