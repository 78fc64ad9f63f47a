// The errors of walk_units(), out of line to keep it small.
// Tested by tests/bytecode/instruction_test.cpp and soundness_test.cpp.

#include "bytecode/unit_walk.h"

#include <string>

namespace waybill::bytecode {

Error wrong_opcode(const OpcodeTable& table, BytesView code, std::size_t at) {
  const OpcodeRow& row = table[code[at]];
  switch (row.operation) {
    case Operation::kCache:
      return {ErrorCode::kMalformed, at, "CACHE belongs to no instruction"};
    case Operation::kNotCanonical:
      return {ErrorCode::kUnknownTag, at,
              std::string(row.name) +
                  " occurs in running code only; read code by PyCode_GetCode"};
    default:
      return {ErrorCode::kUnknownTag, at,
              "opcode " + std::to_string(code[at]) +
                  " is not in this Python's canonical code; specialised code must be "
                  "read by PyCode_GetCode"};
  }
}

Error wrong_length(BytesView code) {
  return {ErrorCode::kMalformed, code.size(),
          "instructions should be units of 2 bytes, below 2 GiB in all"};
}

Error lone_extension(std::size_t at) {
  return {ErrorCode::kMalformed, at,
          "EXTENDED_ARG extends no instruction, or is the fourth in a row"};
}

Error unknown_version(int version) {
  return {ErrorCode::kPythonMismatch, 0,
          "code of Python " + std::to_string(version / 100) + "." +
              std::to_string(version % 100) + "; waybill knows 3.11 to 3.15"};
}

}  // namespace waybill::bytecode
