#pragma once

// Disassembled code bodies: instructions with the meaning of their arguments, lines,
// and the exception table. Also the source that travels with code, unit by unit.

#include <cstdint>
#include <string>
#include <vector>

#include "bytecode/disassembly.h"
#include "format/code_body.h"
#include "format/source_locations.h"
#include "report/value_text.h"
#include "text/json.h"
#include "waybill/report.h"

namespace waybill::envelope {

// The instructions and constants of one body. `fields`, and the bytes it points into,
// must outlive this.
class CodeListing {
 public:
  CodeListing(const CodeFields& fields, const PythonVersion& python,
              const ValueNames& names, std::size_t max_text);

  const std::vector<bytecode::ListedInstruction>& instructions() const {
    return instructions_;
  }
  // Bytes of co_code.
  std::size_t code_size() const { return code_size_; }
  // The error that ended the instructions early, if any; its offset is in co_code.
  const Result<void>& verdict() const { return verdict_; }

  // What the argument stands for: a name, a constant, an operator, "to 24"; empty if it
  // is not known.
  std::string meaning(const bytecode::ListedInstruction& instruction) const;

  // The constants, each as one line of at most `max_text` bytes.
  const std::vector<std::string>& constants() const { return constants_; }

 private:
  std::string name_at(const std::vector<std::string_view>& names,
                      std::uint32_t index) const;

  const CodeFields& fields_;
  std::size_t max_text_;
  std::vector<std::string> constants_;
  std::vector<bytecode::ListedInstruction> instructions_;
  std::size_t code_size_;
  Result<void> verdict_;
};

// Makes the array of reports on the code bodies. With options.instructions, a readable
// body has "instructions" and "exception_entries", and "unreadable" if the instructions
// end early; with options.source, one that the payload uses has "source", null if there
// is none. With either, "file" and "first_line" if the debug information has them.
//
// Damaged texts are replaced by "error". The texts shown are limited to the 16 MiB that
// an envelope may have in all; units beyond the limit have no "text".
void fill_code(const Envelope& envelope, const ValueNames& names,
               const ReportOptions& options, Json code);

}  // namespace waybill::envelope
