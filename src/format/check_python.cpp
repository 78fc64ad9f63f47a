// Whether code can run on a Python: as it is, or compiled from its source. Tested by
// tests/format/envelope_test.cpp and tests/format/source_units_test.cpp.

#include <string>

#include "format/code_body.h"
#include "format/source_locations.h"
#include "format/source_units.h"
#include "waybill/envelope.h"

namespace waybill {
namespace {

// "the function task (job.py:3)"
std::string describe(const Envelope& envelope, std::uint32_t code) {
  envelope::CodeFields fields;
  if (!envelope::read_code_body(envelope.code[code], fields)) return "code";
  std::string text = "the function ";
  text += fields.qualified_name;
  const envelope::FirstLocation location = envelope::first_locations(envelope)[code];
  if (!location.is_known || location.file.empty()) return text;
  text += " (";
  text += location.file;
  return text + ":" + std::to_string(location.first_line) + ")";
}

tl::unexpected<Error> mismatch(const Envelope& envelope, const PythonVersion& python,
                               std::size_t offset, const std::string& what) {
  return tl::unexpected(
      Error{ErrorCode::kPythonMismatch, offset,
            what + " was made by Python " + to_string(envelope.python) +
                ", without source, and this is Python " + to_string(python) +
                "; send it with source=\"auto\", or run the version that made it"});
}

}  // namespace

Result<void> check_python(const Envelope& envelope, const PythonVersion& python) {
  if (envelope.code.empty() || envelope.python == python) return {};
  const Section section = envelope::sources_section(envelope);
  if (section.bytes.empty()) {
    return mismatch(envelope, python, 0, "the code");
  }
  wire::Reader reader(section.bytes, Limits{}, section.offset);
  envelope::Sources sources;
  if (!envelope::read_sources(reader, envelope.code.size(), sources)) {
    return tl::unexpected(reader.error());
  }
  for (const std::uint32_t code : envelope::code_uses_of(envelope)) {
    if (code >= envelope.code.size() || sources.unit_of(code) != nullptr) continue;
    return mismatch(envelope, python, envelope.code[code].offset,
                    describe(envelope, code));
  }
  return {};
}

}  // namespace waybill
