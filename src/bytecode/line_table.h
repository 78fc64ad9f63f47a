#pragma once

// co_linetable: which lines and columns the instructions come from.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "waybill/error.h"

namespace waybill::bytecode {

// Whether the interpreter can walk the table: each entry is whole, bytes are marked as
// the first of an entry or a later one as they should be, and the entries cover no more
// than `units` units of two bytes. An empty table is fine, and so is one that ends
// early. Which lines and columns it tells is not looked at.
//
// Errors: kMalformed; the offset counts in `table`.
// Cost: one pass, no allocation. Thread-safe.
Result<void> check_line_table(BytesView table, std::size_t units);

// Reads the table entry by entry; columns are passed over.
class LineReader {
 public:
  // `first_line` is co_firstlineno. The table must outlive this.
  LineReader(BytesView table, std::int64_t first_line)
      : table_(table), line_(first_line) {}

  // The next entry: how many units it covers, and which line they come from, 0 for
  // none. False at the end, and at what check_line_table() refuses.
  bool next(std::size_t& units, std::int64_t& line);

 private:
  BytesView table_;
  std::size_t at_ = 0;
  std::int64_t line_;
};

// The lines of code by offset.
class CodeLines {
 public:
  CodeLines() = default;
  // Reads a table as LineReader does, to its end.
  CodeLines(BytesView table, std::int64_t first_line);

  // Of the instruction at an offset in co_code; 0 for none.
  std::int64_t at(std::size_t offset) const;

 private:
  struct Entry {
    std::size_t end;  // In co_code.
    std::int64_t line;
  };
  std::vector<Entry> entries_;
};

}  // namespace waybill::bytecode
