// Tested by tests/explain/largest_parts_test.cpp.

#include "explain/largest_parts.h"

#include <algorithm>
#include <cstdint>

namespace waybill {
namespace {

// Whether a part with that many bytes is little more than the largest that it holds.
bool is_wrapping(std::uint64_t bytes, std::uint64_t largest_held) {
  return largest_held >= bytes - bytes / 10;
}

}  // namespace

std::vector<std::size_t> largest_parts(const Explanation& explanation,
                                       std::size_t count) {
  const std::vector<ExplainedPart>& parts = explanation.parts;
  std::vector<std::uint64_t> largest_held(parts.size());
  for (std::size_t i = 1; i < parts.size(); ++i) {
    std::uint64_t& largest = largest_held[parts[i].parent];
    largest = std::max(largest, parts[i].bytes);
  }
  std::vector<std::size_t> found;
  for (std::size_t i = 1; i < parts.size(); ++i) {
    const bool tells = parts[i].bytes != 0 && !parts[i].step.empty() &&
                       !is_wrapping(parts[i].bytes, largest_held[i]);
    if (tells) found.push_back(i);
  }
  const std::size_t kept = std::min(count, found.size());
  std::ranges::partial_sort(found, found.begin() + static_cast<std::ptrdiff_t>(kept),
                            [&](std::size_t a, std::size_t b) {
                              return parts[a].bytes != parts[b].bytes
                                         ? parts[a].bytes > parts[b].bytes
                                         : a < b;
                            });
  found.resize(kept);
  return found;
}

}  // namespace waybill
