#pragma once

// Code bodies disassembled: instructions with what their arguments mean, lines, and the
// exception table. And the source that travels beside code, unit by unit.

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

// The instructions of one body, and what can be told of them. `fields`, and what it
// points into, must outlive this.
class CodeListing {
 public:
  CodeListing(const CodeFields& fields, const PythonVersion& python,
              const ValueNames& names, std::size_t max_text);

  const std::vector<bytecode::ListedInstruction>& instructions() const {
    return instructions_;
  }
  // Why there are no more instructions; the offset counts in co_code.
  const Result<void>& verdict() const { return verdict_; }

  // What the argument stands for: a name, a constant, an operator, "to 24"; empty where
  // nothing is known.
  std::string meaning(const bytecode::ListedInstruction& instruction) const;

  // The constants, each as one line; no longer than `max_text` each.
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

// Adds to the report of each body that can be read: "instructions",
// "exception_entries"; "file" and "first_line" where the debug information tells them;
// "unreadable" where the instructions end early. `code` is the array of reports, whose
// objects have room for so many keys more.
void fill_listings(const Envelope& envelope, const ReportOptions& options, Json code);
inline constexpr std::size_t kListingKeys = 5;

// Adds to the report of each body that the payload uses: "source", null where it has
// none; "file" and "first_line" where the debug information tells them. `code` is the
// array of reports. Nested code comes with that around it, and has none of its own.
// Where texts are damaged, "error" stands in the place of "text". All texts together
// are no more than the 16 MiB that an envelope may have: what is beyond has no "text".
void fill_sources(const Envelope& envelope, const ReportOptions& options, Json code);
inline constexpr std::size_t kSourceKeys = 1;  // Besides those of listings.

}  // namespace waybill::envelope
