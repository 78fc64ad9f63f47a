#pragma once

// co_exceptiontable: the handlers of instructions.

#include <cstdint>
#include <vector>

#include "waybill/error.h"

namespace waybill::bytecode {

// Instructions from byte offset `start` up to `end` go to `target` when they raise.
struct ExceptionEntry {
  std::uint32_t start = 0;
  std::uint32_t end = 0;
  std::uint32_t target = 0;
  std::uint32_t depth = 0;   // The stack is popped to this height first.
  bool pushes_last = false;  // The offset that raised is pushed, then the exception.
};

// Reads the table entry by entry, without allocation.
class ExceptionReader {
 public:
  // The table must outlive this; `code_size` is the number of bytes of co_code.
  ExceptionReader(BytesView table, std::size_t code_size)
      : table_(table), code_size_(code_size) {}

  // The next entry, which may be empty; false at the end, and at the first entry that
  // is truncated, out of order or beyond the code, or has a wrong start bit.
  bool next(ExceptionEntry& entry);

  // The error that stopped next(); null at the end. Static storage.
  const char* error() const { return error_; }
  // The offset of the current entry in the table.
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

// Reads the whole table without empty entries. Entries are sorted by `start` and do not
// overlap.
//
// Errors: kMalformed, with `code_size` as offset: the table is not part of
// `instructions`, in which summarize() counts offsets.
Result<std::vector<ExceptionEntry>> read_exception_entries(BytesView table,
                                                           std::size_t code_size);

}  // namespace waybill::bytecode
