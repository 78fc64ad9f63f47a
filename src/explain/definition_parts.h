#pragma once

// Definitions stand before the value of a payload, but to who reads an explanation they
// are parts of what needs them.

#include <cstdint>
#include <vector>

#include "explain/part_tree.h"

namespace waybill::envelope {

// Puts each definition, with all that is in it, in the place of the first part that
// stands for it, and the value in the place of the root. `is_shared`: of each
// definition. The order is again one in which holders come before their parts.
// Cost: by the number of parts.
std::vector<TreePart> with_definitions_in_place(std::vector<TreePart> parts,
                                                const std::vector<bool>& is_shared);

}  // namespace waybill::envelope
