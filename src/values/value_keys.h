#pragma once

// Keys of maps and items of sets: what may be one, and which are equal.

#include <cstddef>
#include <vector>

#include "values/value_leaf.h"
#include "waybill/value.h"
#include "wire/writer.h"

namespace waybill::envelope {

// Of containers around what is in a key. Up to here waybill in Python sorts items of
// sets by their bytes too; and it bounds the recursion of what follows.
inline constexpr int kMaxKeyDepth = 15;

// Writes a set or frozenset with its items in the order of their bytes. False, with
// `out` in disorder, if they may not be in one.
bool write_set(const data::Value& set, wire::Writer& out, Objection& objection);

// Whether values may be keys side by side, as Python has it: 1, 1.0 and True are equal.
// If not, `culprit` is the number of the first in the way.
// Cost: two copies of the keys, sorted.
bool are_keys(const data::Map& map, std::size_t& culprit, Objection& objection);
bool are_keys(const std::vector<data::Value>& items, std::size_t& culprit,
              Objection& objection);

}  // namespace waybill::envelope
