#pragma once

// Where the code of an envelope comes from, by the places in its notes.

#include <cstdint>
#include <string_view>
#include <vector>

#include "waybill/envelope.h"

namespace waybill::envelope {

// The views point into the envelope.
struct CodePlace {
  bool is_known = false;
  std::string_view file;  // May hold lone surrogates.
  std::int64_t first_line = 0;
  BytesView lines;          // co_linetable
  std::uint64_t later = 0;  // A hash of the places of further uses of the same body.
};

// The first place of each code body, by its index in the code section. Works on
// envelopes that verify() would refuse: from where the notes cannot be read, or do not
// fit the code, no more places are known.
// Cost: one pass over payload, constants and notes; no recursion.
std::vector<CodePlace> places_of(const Envelope& envelope);

}  // namespace waybill::envelope
