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

// Reads the table entry by entry, and allocates nothing.
class ExceptionReader {
 public:
  // The table must outlive this; `code_size` is the number of bytes of co_code.
  ExceptionReader(BytesView table, std::size_t code_size)
      : table_(table), code_size_(code_size) {}

  // The next entry, which may cover nothing; false at the end, and at the first entry
  // that is cut, not marked as it should be, out of order, or leaves the code.
  bool next(ExceptionEntry& entry);

  // Why next() gave no more; null at the end. Static storage.
  const char* error() const { return error_; }
  // Where the entry at hand starts, in the table.
  std::size_t start() const { return start_; }

 private:
  bool read_number(std::uint32_t& number);

  BytesView table_;
  std::size_t code_size_;
  std::size_t at_ = 0;
  std::size_t start_ = 0;
  std::uint64_t previous_end_ = 0;
  const char* error_ = nullptr;
};

// Takes the table apart, without entries that cover nothing. Entries are in order of
// `start` and do not overlap.
//
// Errors: kMalformed, with `code_size` as offset: the table is no part of
// `instructions`, in which summarize() counts.
Result<std::vector<ExceptionEntry>> read_exception_entries(BytesView table,
                                                           std::size_t code_size);

}  // namespace waybill::bytecode
