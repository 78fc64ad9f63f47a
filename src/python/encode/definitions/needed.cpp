// Tested by tests/python/definitions.

#include "python/encode/definitions/needed.h"

#include <iterator>

#include "python/encode/definitions/definitions.h"

namespace waybill::py {

NeededDefinitions::NeededDefinitions(std::span<const TakenDefinition> taken,
                                     const std::vector<std::uint32_t>& direct)
    : taken_(taken),
      needed_(direct.begin(), direct.end()),
      expanded_(static_cast<std::uint32_t>(taken.size())) {}

bool NeededDefinitions::has(std::uint32_t definition) {
  while (!needed_.contains(definition)) {
    const auto next = needed_.lower_bound(expanded_);
    if (next == needed_.begin() || *std::prev(next) < definition) return false;
    expanded_ = *std::prev(next);
    for (const Place& need : taken_[expanded_].needs) needed_.insert(need.definition);
  }
  return true;
}

}  // namespace waybill::py
