#pragma once

// Which parts of an explanation a page shows.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "waybill/explanation.h"

namespace waybill::envelope {

struct TellingPart {
  std::size_t part = 0;
  std::uint64_t bytes = 0;  // Those of its own where what it holds is shown beside it.
};

// At most `most` parts, the largest first; no byte is in two of them.
//
// The root gives way to what it holds, and so on. A part that has code, or a module,
// gives way to all that it holds which is a hundredth of the whole or more; it stays
// beside them where its own bytes are a tenth of the whole. Any other part gives way to
// those that have a tenth of its bytes or more, if these together have nine tenths of
// it: a dict of a thousand rows stays a dict, and a model with one large array becomes
// that array. Nothing gives way to what has no expression, such as an element of a set
// and the memory of an array, nor an object of an imported class to its private
// attributes, unless nine tenths of that are a variable's: a task of an engine becomes
// the table that its function names. What travels by its name has no bytes to tell of.
std::vector<TellingPart> telling_parts(const Explanation& explanation,
                                       std::size_t most);

}  // namespace waybill::envelope
