#pragma once

// Keys of maps and items of sets: what may be one, and which are equal.

#include <cstddef>
#include <functional>

#include "values/value_leaf.h"
#include "waybill/value.h"
#include "wire/writer.h"

namespace waybill::envelope {

// Of containers around what is in a key. Up to here waybill in Python sorts items of
// sets by their bytes too; and it bounds the recursion of what follows.
inline constexpr int kMaxKeyDepth = 15;

// Writes what may be a key. False, with `out` in disorder, if it may not.
bool write_key(const data::Value& key, wire::Writer& out, Objection& objection);

// Whether `count` values may be keys side by side, as Python has it: 1, 1.0 and True
// are equal. If not, `culprit` is the number of the first in the way.
// Cost: two copies of the keys, sorted.
bool are_keys(std::size_t count,
              const std::function<const data::Value&(std::size_t)>& key,
              std::size_t& culprit, Objection& objection);
bool are_keys(const data::Map& map, std::size_t& culprit, Objection& objection);
bool are_keys(const std::vector<data::Value>& items, std::size_t& culprit,
              Objection& objection);

}  // namespace waybill::envelope
