#pragma once

// Checks the notes: that every place belongs to a use of code, and has its form; line
// tables too.

#include <cstdint>
#include <vector>

#include "waybill/envelope.h"
#include "wire/reader.h"

namespace waybill::envelope {

// What the places have to agree with.
struct CodeUses {
  const PythonVersion& python;  // That the code is of.
  // Indices of code, in the order in which the payload uses it.
  const std::vector<std::uint32_t>& uses;
  // For each code body, the indices of the code nested in it, in order.
  const std::vector<std::vector<std::uint32_t>>& nested;
  // For each code body, the number of bytes of its instructions.
  const std::vector<std::size_t>& sizes;
  // Whether the manifest names a file, which the first place may mean.
  bool has_file;
};

// Reads the section; false when the reader has an error. Notes may be left out; where
// there are places, there is one for each use.
bool check_notes(wire::Reader& reader, const CodeUses& code);

}  // namespace waybill::envelope
