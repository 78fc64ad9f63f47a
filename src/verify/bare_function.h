#pragma once

// The envelopes that hold a function which is nothing but one code object and the
// modules it names, as most are that are sent by themselves. They are read and checked
// in one pass.

#include <cstdint>
#include <string_view>
#include <vector>

#include "format/code_body.h"
#include "format/manifest_codec.h"
#include "waybill/envelope.h"

namespace waybill::envelope {

// All views point into the envelope. Text is UTF-8 without lone surrogates, but for
// names in the code.
struct BareFunction {
  struct Global {
    std::string_view name;
    std::size_t import;  // Into manifest.imports; one that is needed at load.
  };

  ManifestView manifest;
  Section body;                       // Of the code,
  CodeFields code;                    // and what it is made of.
  bool has_simple_constants = false;  // None, booleans, numbers, text and bytes alone.
  // Of the namespace; null if it has none.
  std::string_view module_name, package;
  bool is_package = false;
  std::vector<Global> globals;
  // Where the code stands.
  std::string_view file;
  BytesView location;  // All but the file.
  std::uint32_t line = 0;
  BytesView line_table;
};

// Reads an envelope of such a function. False if it holds something else, was made by
// another Python, or if anything about it is wrong: open(), check_python() and verify()
// tell. What is accepted here they accept too.
// Cost: one pass, a handful of allocations.
bool read_bare_function(BytesView bytes, const PythonVersion& python,
                        BareFunction& function);

}  // namespace waybill::envelope
