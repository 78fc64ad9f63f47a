// Any bytes, read as the instructions and the exception table of each known Python:
// what check_instructions() accepts read_instructions() accepts too, and refuses for
// the same reason; offsets ascend and lie inside, jumps and handlers lead inside.
//
// Input: a byte with the length of the exception table, that table, then instructions.

#include <algorithm>
#include <cstdint>

#include "bytecode/exception_entries.h"
#include "bytecode/instruction.h"
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

void check_code(int version, BytesView code) {
  const auto read = waybill::bytecode::read_instructions(version, code);
  const auto checked = waybill::bytecode::check_instructions(version, code);
  require(read.has_value() == checked.has_value());
  if (!read) {
    const Error& error = read.error();
    require(error.offset <= code.size());
    require(error.code == checked.error().code &&
            error.offset == checked.error().offset &&
            error.detail == checked.error().detail);
    return;
  }
  require(is_known(version));
  // A pair of locals, or a load and its NULL, are two for two bytes.
  require(read->size() <= code.size());
  require(*checked == (read->empty() ? Operation::kUnknown : read->back().operation));
  std::uint32_t previous = 0;
  for (const Instruction& instruction : *read) {
    require(instruction.offset >= previous);
    previous = instruction.offset;
    check_instruction(instruction, code.size());
  }
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
    check_code(version, code);
  }
  check_table(table, code.size());
  return 0;
}
