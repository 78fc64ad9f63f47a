#pragma once

// The loop over the two-byte units of co_code, or of compact code. It collects
// EXTENDED_ARG, skips inline caches, and refuses opcodes that canonical code does not
// contain. A sink gets each instruction:
//
//   struct Sink {
//     // False for compact code. True: any number of CACHE units is skipped.
//     static constexpr bool kHasCaches;
//     // One instruction, from `start` (its first EXTENDED_ARG, if it has one) to where
//     // the `next` one starts. False to stop, with the error.
//     bool add(const OpcodeRow& row, std::uint32_t argument, std::size_t start,
//              std::size_t next, Error& error);
//   };

#include <cstddef>
#include <cstdint>
#include <utility>

#include "bytecode/opcode_table.h"
#include "waybill/error.h"

namespace waybill::bytecode {

// An instruction has at most three EXTENDED_ARG: 8 + 3 * 8 bits.
inline constexpr std::size_t kMaxExtensionBytes = 6;

// The error for a unit that does not start an instruction.
Error wrong_opcode(const OpcodeTable& table, BytesView code, std::size_t at);
Error wrong_length(BytesView code);
Error lone_extension(std::size_t at);
// The error for a version without a table: kPythonMismatch.
Error unknown_version(int version);

// Passes all instructions to the sink, in order. False at the first error: the sink's,
// kUnknownTag (an opcode that the version does not have, or one of running code),
// kMalformed (odd length, a truncated or too long EXTENDED_ARG, caches that are not
// zero or misplaced). Offsets are indices into `code`.
// Cost: one pass, no allocation.
template <typename Sink>
bool walk_units(const OpcodeTable& table, BytesView code, Sink& sink, Error& error) {
  const auto fail = [&error](Error why) {
    error = std::move(why);
    return false;
  };
  const std::size_t size = code.size();
  if (size % 2 != 0 || size > INT32_MAX) return fail(wrong_length(code));
  std::size_t at = 0;
  while (at < size) {
    const std::size_t start = at;
    const OpcodeRow* row = &table[code[at]];
    std::uint32_t argument = code[at + 1];
    at += 2;
    while (row->operation == Operation::kExtendedArg) {
      if (at - start > kMaxExtensionBytes || at >= size) {
        return fail(lone_extension(start));
      }
      row = &table[code[at]];
      argument = argument << 8 | code[at + 1];
      at += 2;
    }
    if (row->operation <= Operation::kCache) {
      return fail(wrong_opcode(table, code, at - 2));
    }
    if constexpr (Sink::kHasCaches) {
      for (; at < size && table[code[at]].operation == Operation::kCache; at += 2) {
        if (code[at + 1] != 0) {
          return fail({ErrorCode::kMalformed, at, "an inline cache is not zero"});
        }
      }
    }
    if (!sink.add(*row, argument, start, at, error)) return false;
  }
  return true;
}

}  // namespace waybill::bytecode
