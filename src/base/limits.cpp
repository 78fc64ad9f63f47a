// Tested by tests/verify/limits_test.cpp.

#include "waybill/limits.h"

#include <algorithm>

namespace waybill {

Limits stricter(const Limits& a, const Limits& b) {
  Limits result;
  result.max_bytes = std::min(a.max_bytes, b.max_bytes);
  result.max_values = std::min(a.max_values, b.max_values);
  result.max_depth = std::min(a.max_depth, b.max_depth);
  result.max_text = std::min(a.max_text, b.max_text);
  result.max_integer = std::min(a.max_integer, b.max_integer);
  result.max_items = std::min(a.max_items, b.max_items);
  result.max_memory = std::min(a.max_memory, b.max_memory);
  result.max_unfolded = std::min(a.max_unfolded, b.max_unfolded);
  result.max_key_steps = std::min(a.max_key_steps, b.max_key_steps);
  return result;
}

}  // namespace waybill
