#pragma once

// co_linetable: the lines and columns of instructions.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "waybill/error.h"

namespace waybill::bytecode {

// Checks that the interpreter can walk the table: entries are complete, first and later
// bytes are marked as such, and the entries cover at most `units` units of two bytes.
// An empty or short table is valid. Lines and columns themselves are not checked.
//
// Errors: kMalformed; the offset is an index into `table`.
// Cost: one pass, no allocation. Thread-safe.
Result<void> check_line_table(BytesView table, std::size_t units);

// Reads the table entry by entry, without columns.
class LineReader {
 public:
  // `first_line` is co_firstlineno. The table must outlive this.
  LineReader(BytesView table, std::int64_t first_line)
      : table_(table), line_(first_line) {}

  // The next entry: the number of units that it covers, and their line, 0 for none.
  // False at the end, and at an entry that check_line_table() refuses.
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

  // The line of the instruction at an offset in co_code; 0 for none.
  std::int64_t at(std::size_t offset) const;

 private:
  struct Entry {
    std::size_t end;  // In co_code.
    std::int64_t line;
  };
  std::vector<Entry> entries_;
};

}  // namespace waybill::bytecode
