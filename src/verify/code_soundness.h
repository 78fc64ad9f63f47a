#pragma once

// What bytecode/ knows of code, asked of the code in an envelope.

#include "format/code_body.h"
#include "waybill/envelope.h"

namespace waybill::envelope {

// As the opcode tables count versions; 0 for one beyond them.
int version_of(const PythonVersion& python);

// Whether instructions and exception table of a body, which read_code_body() has read,
// are sound: bytecode::check_soundness(). Of a Python without an opcode table here
// nothing is checked, and such code cannot be run by one that waybill supports.
// Errors: kUnknownTag, kMalformed, with an offset in the envelope.
Result<void> check_instructions(const Section& body, const CodeFields& fields,
                                const PythonVersion& python);

// The same for the line table of code with `code_size` bytes of instructions:
// bytecode::check_line_table().
Result<void> check_lines(const Section& table, std::size_t code_size,
                         const PythonVersion& python);

}  // namespace waybill::envelope
