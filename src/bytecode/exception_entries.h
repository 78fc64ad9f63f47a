#pragma once

// co_exceptiontable: which instructions are covered by which handler.

#include <cstdint>
#include <vector>

#include "waybill/error.h"

namespace waybill::bytecode {

// Instructions from byte offset `start` up to `end` go to `target` when they raise.
struct ExceptionEntry {
  std::uint32_t start = 0;
  std::uint32_t end = 0;
  std::uint32_t target = 0;
  std::uint32_t depth = 0;   // Height to which the stack is cut first.
  bool pushes_last = false;  // The offset that raised is pushed, then the exception.
};

// Takes the table apart. Entries are in order of `start` and do not overlap.
//
// Errors: kMalformed, with `code_size` as offset: the table is no part of
// `instructions`, in which summarize() counts.
Result<std::vector<ExceptionEntry>> read_exception_entries(BytesView table,
                                                           std::size_t code_size);

}  // namespace waybill::bytecode
