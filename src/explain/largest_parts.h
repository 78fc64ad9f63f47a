#pragma once

// Where the bytes of an explanation are.

#include <cstddef>
#include <vector>

#include "waybill/explanation.h"

namespace waybill {

// The largest parts, at most `count`, largest first. The root is left out, and a part
// of which one that it holds is nearly all: that one tells more. So is what has no
// bytes.
std::vector<std::size_t> largest_parts(const Explanation& explanation,
                                       std::size_t count);

}  // namespace waybill
