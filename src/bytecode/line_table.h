#pragma once

// co_linetable: which lines and columns the instructions come from.

#include <cstddef>

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

}  // namespace waybill::bytecode
