#pragma once

// Keys of maps and items of sets: which values are hashable, and which are equal.

#include <vector>

#include "values/value_leaf.h"
#include "waybill/value.h"
#include "wire/writer.h"

namespace waybill::envelope {

// The deepest nesting of containers in a key, which bounds the recursion over keys. To
// this depth, waybill in Python sorts the items of sets by their bytes too.
inline constexpr int kMaxKeyDepth = 15;

// Writes a set or frozenset with its items sorted by their bytes. Returns false, and
// leaves `out` in an undefined state, if an item cannot be in a set.
bool write_set(const data::Value& set, wire::Writer& out, Failure& failure);

// Whether the values can be the keys of one dict: all hashable, and no two equal in
// Python, where 1, 1.0 and True are equal. Cost: encodes and sorts the keys.
bool are_keys(const data::Map& map, Failure& failure);
bool are_keys(const std::vector<data::Value>& items, Failure& failure);

}  // namespace waybill::envelope
