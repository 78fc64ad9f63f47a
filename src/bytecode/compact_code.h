#pragma once

// Payloads have instructions without their inline caches, which are zero in co_code and
// follow from the opcodes. They take a sixth of a typical payload of a function.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "waybill/bytes.h"

namespace waybill::bytecode {

// co_code, as PyCode_GetCode gives it, without its inline caches. `code` may be cut off
// anywhere. The same bytes for a version without an opcode table.
std::vector<std::uint8_t> compact_code(int version, BytesView code);

// The size of expand_code(); at most eleven times the size of `compact`.
std::size_t expanded_size(int version, BytesView compact);

// The reverse of compact_code().
std::vector<std::uint8_t> expand_code(int version, BytesView compact);

}  // namespace waybill::bytecode
