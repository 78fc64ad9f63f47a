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
  // The error that ended the instructions early, if any; its offset is one in co_code.
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
  Result<void> verdict_;
};

// Adds to the report of each readable body: "instructions" and "exception_entries";
// "file" and "first_line" if the debug information has them; "unreadable" if the
// instructions end early. `code` is the array of reports; each of its objects must have
// room for kListingKeys more keys.
void fill_listings(const Envelope& envelope, const ReportOptions& options, Json code);
inline constexpr std::size_t kListingKeys = 5;

// Adds to the report of each body that the payload uses: "source", null if there is
// none; "file" and "first_line" if the debug information has them. `code` is the array
// of reports. The source of nested code is part of that of the enclosing code.
// Damaged texts are replaced by "error". The texts shown are limited to the 16 MiB that
// an envelope may have in all; units beyond the limit have no "text".
void fill_sources(const Envelope& envelope, const ReportOptions& options, Json code);
inline constexpr std::size_t kSourceKeys = 1;  // In addition to kListingKeys.

}  // namespace waybill::envelope
