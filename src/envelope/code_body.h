#pragma once

// A code body taken apart, for verify() and for reports.

#include <cstdint>
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
  BytesView instructions;
  // The array of constants, not read.
  Section constants;
  std::uint64_t constant_count = 0;
  std::vector<std::string_view> names;
  std::vector<std::string_view> local_names;
  BytesView local_kinds;
  BytesView exception_table;
};

// Reads the body; false when the reader has an error: a field of the wrong type, or
// counts that contradict each other.
bool read_code_body(wire::Reader& reader, BytesView body, CodeFields& fields);

// Text, or an extension kText; checks that it is UTF-8. `what` names it in the error.
bool read_any_text(wire::Reader& reader, std::string_view& text, std::string_view what);

}  // namespace waybill::envelope
