// Checks an opened envelope: code first, since payload and debug information refer to
// it, then payload, then debug information.
// Tested by tests/verify/verify_test.cpp and verify_code_test.cpp.

#include <array>
#include <cstddef>
#include <map>
#include <memory_resource>
#include <optional>
#include <utility>

#include "bytecode/line_table.h"
#include "bytecode/soundness.h"
#include "format/code_body.h"
#include "format/manifest_codec.h"
#include "format/source_locations.h"
#include "format/source_units.h"
#include "verify/payload_check.h"
#include "verify/resource_meter.h"
#include "waybill/envelope.h"

namespace waybill {
namespace {

using wire::Reader;

std::size_t offset_of(BytesView part, const Section& whole) {
  if (part.empty()) return whole.offset;
  return whole.offset + static_cast<std::size_t>(part.data() - whole.bytes.data());
}

// Checks instructions and exception table of a body, and gives the size of co_code.
// Code of a Python without an opcode table is not checked, because no Python that
// waybill supports can run it.
Result<std::size_t> check_instructions(const Section& body,
                                       const envelope::CodeFields& fields,
                                       int version) {
  bytecode::CodeShape code;
  code.version = version;
  code.instructions = fields.instructions;
  if (!bytecode::is_known_version(version)) return code.instructions.size();
  code.exception_table = fields.exception_table;
  code.local_kinds = fields.local_kinds;
  code.name_count = fields.names.size();
  code.constant_count = fields.constant_count;
  code.stack_size = fields.stack_size;
  code.instructions_offset = offset_of(fields.instructions, body);
  code.exceptions_offset = offset_of(fields.exception_table, body);
  return bytecode::check_soundness(code);
}

// Checks the line table of code with `code_size` bytes of instructions.
Result<void> check_lines(const Section& table, std::size_t code_size,
                         const PythonVersion& python) {
  if (!bytecode::is_known_version(envelope::version_of(python))) return {};
  Result<void> checked = bytecode::check_line_table(table.bytes, code_size / 2);
  if (!checked) checked.error().offset += table.offset;
  return checked;
}

// Checks the code section body by body, and records which code each nests and the size
// of its co_code.
class CodeCheck {
 public:
  CodeCheck(const Envelope& envelope, const Limits& limits,
            envelope::ResourceMeter* meter)
      : envelope_(envelope), limits_(limits), meter_(meter) {}

  Result<void> run() {
    nested_.reserve(envelope_.code.size());
    sizes_.reserve(envelope_.code.size());
    for (const CodeBody& body : envelope_.code) {
      Reader reader(body.bytes, limits_, body.offset);
      if (!check(reader, body)) return tl::unexpected(reader.error());
    }
    return {};
  }

  const std::vector<std::vector<std::uint32_t>>& nested() const { return nested_; }
  const std::vector<std::size_t>& sizes() const { return sizes_; }

 private:
  bool check(Reader& reader, const CodeBody& body) {
    if (!envelope::read_code_body(reader, body.bytes, fields_)) return false;
    const Section section{body.offset, body.bytes};
    const int version = envelope::version_of(envelope_.python);
    const auto size = check_instructions(section, fields_, version);
    if (!size) return reader.fail(size.error());
    sizes_.push_back(*size);
    Reader constants(fields_.constants.bytes, limits_, fields_.constants.offset);
    envelope::PayloadCheck values(envelope_, limits_, meter_);
    if (!values.check_constants(constants)) return reader.fail(constants.error());
    std::vector<std::uint32_t>& nested = nested_.emplace_back();
    for (const ContentHash& hash : values.nested()) {
      const auto found = index_of_.find(hash);
      if (found == index_of_.end()) {
        return reader.fail(ErrorCode::kUndeclared, fields_.constants.offset,
                           "nested code does not precede its enclosing code in the "
                           "code section");
      }
      nested.push_back(found->second);
    }
    const auto index = static_cast<std::uint32_t>(index_of_.size());
    return index_of_.emplace(body.hash, index).second ||
           reader.fail(ErrorCode::kMalformed, body.offset,
                       "the code section holds the same body twice");
  }

  const Envelope& envelope_;
  const Limits& limits_;
  envelope::ResourceMeter* meter_;
  envelope::CodeFields fields_;  // Of the current body; keeps its memory for the next.
  // A sorted map: an attacker can choose bodies whose hashes collide. The memory is for
  // the few bodies of most envelopes.
  alignas(std::max_align_t) std::array<std::byte, 1024> first_memory_;
  std::pmr::monotonic_buffer_resource memory_{first_memory_.data(),
                                              first_memory_.size()};
  std::pmr::map<ContentHash, std::uint32_t> index_of_{&memory_};
  std::vector<std::vector<std::uint32_t>> nested_;
  std::vector<std::size_t> sizes_;  // The size of co_code of each body.
};

bool check_sources(Reader& reader, const Envelope& envelope, const Section& section) {
  if (section.bytes.empty()) return true;
  Reader inside(section.bytes, Limits{}, section.offset);
  envelope::Sources sources;
  return envelope::read_sources(inside, envelope.code.size(), sources) ||
         reader.fail(inside.error());
}

// `sizes`: of co_code of each code body.
bool check_locations(Reader& reader, const Envelope& envelope,
                     const envelope::CodeTree& code,
                     const std::vector<std::size_t>& sizes) {
  envelope::SourceLocationReader locations(
      reader, envelope::first_file(envelope.manifest), &code);
  envelope::SourceLocation location;
  while (locations.next(location)) {
    if (location.is_repeat) continue;
    const Result<void> sound =
        check_lines(location.line_table, sizes[location.code], envelope.python);
    if (!sound) return reader.fail(sound.error());
  }
  return !reader.failed() && check_sources(reader, envelope, locations.sources());
}

}  // namespace

Result<VerifiedEnvelope> verify(Envelope envelope, const Limits& limits) {
  // Counts code and payload together.
  std::optional<envelope::ResourceMeter> meter;
  if (envelope::ResourceMeter::is_needed(limits)) {
    meter.emplace(limits, envelope.shared.size());
  }
  envelope::ResourceMeter* const meter_or_null = meter ? &*meter : nullptr;
  CodeCheck code(envelope, limits, meter_or_null);
  if (Result<void> result = code.run(); !result) {
    return tl::unexpected(std::move(result.error()));
  }

  Reader payload(envelope.payload.bytes, limits, envelope.payload.offset);
  envelope::PayloadCheck values(envelope, limits, meter_or_null);
  if (!values.check_payload(payload)) return tl::unexpected(payload.error());

  Reader debug_info(envelope.debug_info.bytes, limits, envelope.debug_info.offset);
  const envelope::CodeTree tree{values.code_uses(), code.nested()};
  if (!check_locations(debug_info, envelope, tree, code.sizes())) {
    return tl::unexpected(debug_info.error());
  }
  return VerifiedEnvelope(std::move(envelope));
}

}  // namespace waybill
