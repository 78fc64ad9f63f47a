#pragma once

// The summary of code that is too big to follow: everything escapes.

#include <cstdint>
#include <span>

#include "bytecode/instruction.h"
#include "waybill/bytecode.h"

namespace waybill::bytecode {

// Fills in all of `summary` but `globals` and `nested`, in one pass over the
// instructions. Every value that the code can get hold of is an escape, and every
// attribute name it uses is there as an attribute of kUnknown.
//
// Errors: kMalformed, for indices out of range.
Result<void> summarize_coarsely(const CodeView& code,
                                std::span<const Instruction> instructions,
                                CodeSummary& summary);

}  // namespace waybill::bytecode
