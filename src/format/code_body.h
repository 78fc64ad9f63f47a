#pragma once

// The fields of a code body, for verify() and for reports.

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "waybill/envelope.h"
#include "wire/reader.h"

namespace waybill::envelope {

// The views point into the body. Text may hold lone surrogates.
struct CodeFields {
  std::uint32_t argument_count = 0;
  std::uint32_t positional_only_count = 0;
  std::uint32_t keyword_only_count = 0;
  std::uint32_t stack_size = 0;
  std::uint32_t flags = 0;
  std::string_view name;
  std::string_view qualified_name;
  BytesView instructions;  // co_code as bytecode::compact_code() gives it.
  // The array of constants, unread.
  Section constants;
  std::uint64_t constant_count = 0;
  std::vector<std::string_view> names;
  std::vector<std::string_view> local_names;
  BytesView local_kinds;
  BytesView exception_table;
};

// Names of the free variables, in the order of their cells.
std::vector<std::string_view> free_names_of(const CodeFields& fields);

// The number of named parameters, *args and **kwargs included.
std::uint64_t parameter_count_of(const CodeFields& fields);

// Reads the body into fields, whatever they held before. Returns false with an error in
// the reader: a field of the wrong type, or counts that contradict each other.
bool read_code_body(wire::Reader& reader, BytesView body, CodeFields& fields);

// Reads the body and reports no error; fields may be incomplete on failure.
inline bool read_code_body(const CodeBody& body, CodeFields& fields) {
  wire::Reader reader(body.bytes, Limits{}, body.offset);
  return read_code_body(reader, body.bytes, fields);
}

// Calls visit(reader, bytes) for each constant in order, up to the first unreadable
// one, with a reader at its start and its bytes.
template <typename Visit>
void each_constant(const Section& constants, Visit visit) {
  wire::Reader reader(constants.bytes, Limits{}, constants.offset);
  std::uint64_t count = 0;
  if (!reader.read_array(count, "the constants")) return;
  for (; count != 0; --count) {
    const wire::Reader constant = reader;
    if (!reader.skip()) return;
    visit(constant, constants.bytes.subspan(constant.offset() - constants.offset,
                                            reader.offset() - constant.offset()));
  }
}

// The hash of the nested code if the constant is nested code. Its length is unchecked.
std::optional<BytesView> nested_code(wire::Reader constant);

// read_unsigned() for 32-bit numbers.
inline bool read_number(wire::Reader& reader, std::uint32_t& number, std::uint64_t max,
                        std::string_view what) {
  std::uint64_t value = 0;
  if (!reader.read_unsigned(value, max, what)) return false;
  number = static_cast<std::uint32_t>(value);
  return true;
}

// Reads text, or an extension kText, and checks that it is UTF-8. `what` names it in
// the error.
bool read_any_text(wire::Reader& reader, std::string_view& text, std::string_view what);

// The version as opcode tables number it: 311 for Python 3.11; 0 if it is too large.
inline int version_of(const PythonVersion& python) {
  if (python.major > 9 || python.minor > 99) return 0;
  return static_cast<int>(python.major * 100 + python.minor);
}

}  // namespace waybill::envelope
