#pragma once

// New values, made by the table of shapes (format/shapes.h).

#include <random>

#include "embedded/value_tree.h"
#include "format/shapes.h"

namespace waybill::fuzz {

using Random = std::minstd_rand;

// Below `limit`, which is not 0.
inline std::size_t below(Random& random, std::size_t limit) { return random() % limit; }

// One that an array or a map may hold without being changed itself.
Value random_leaf(Random& random);

// What a rule asks for; of objects any kind of node, each with what its shape asks for.
Value random_value(Random& random, envelope::Rule rule, int depth = 3);

}  // namespace waybill::fuzz
