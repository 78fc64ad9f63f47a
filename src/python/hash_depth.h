#pragma once

#include <cstdint>

namespace waybill::py {

// How many tuples may be inside each other in a key of a dict or an item of a set:
// hash() goes through them on the C stack, which input must not exhaust. (A frozenset
// knows the hashes of its items.)
inline constexpr std::uint32_t kMaxHashDepth = 1000;

}  // namespace waybill::py
