// Tested by tests/verify/verify_code_test.cpp.

#include "verify/code_soundness.h"

#include "bytecode/line_table.h"
#include "bytecode/soundness.h"

namespace waybill::envelope {
namespace {

std::size_t offset_of(BytesView part, const Section& whole) {
  if (part.empty()) return whole.offset;
  return whole.offset + static_cast<std::size_t>(part.data() - whole.bytes.data());
}

}  // namespace

int version_of(const PythonVersion& python) {
  if (python.major > 9 || python.minor > 99) return 0;
  return static_cast<int>(python.major * 100 + python.minor);
}

Result<void> check_instructions(const Section& body, const CodeFields& fields,
                                const PythonVersion& python) {
  bytecode::CodeShape code;
  code.version = version_of(python);
  if (!bytecode::is_known_version(code.version)) return {};
  code.instructions = fields.instructions;
  code.exception_table = fields.exception_table;
  code.local_kinds = fields.local_kinds;
  code.name_count = fields.names.size();
  code.constant_count = fields.constant_count;
  code.stack_size = fields.stack_size;
  code.instructions_offset = offset_of(fields.instructions, body);
  code.exceptions_offset = offset_of(fields.exception_table, body);
  return bytecode::check_soundness(code);
}

Result<void> check_lines(const Section& table, std::size_t code_size,
                         const PythonVersion& python) {
  if (!bytecode::is_known_version(version_of(python))) return {};
  Result<void> checked = bytecode::check_line_table(table.bytes, code_size / 2);
  if (!checked) checked.error().offset += table.offset;
  return checked;
}

}  // namespace waybill::envelope
