#pragma once

// Generates values from the table of shapes (format/shapes.h).

#include <random>

#include "embedded/value_tree.h"
#include "format/shapes.h"

namespace waybill::fuzz {

using Random = std::minstd_rand;

// A number below `limit`, which is not 0.
inline std::size_t below(Random& random, std::size_t limit) { return random() % limit; }

// A leaf that an array or a map may hold.
Value random_leaf(Random& random);

// A value that a rule allows; for objects any kind of node, with parts as in its shape.
Value random_value(Random& random, envelope::Rule rule, int depth = 3);

}  // namespace waybill::fuzz
