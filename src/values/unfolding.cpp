// Tested by tests/values/value_refusals_test.cpp.

#include "values/unfolding.h"

#include <algorithm>
#include <string>

namespace waybill::envelope {

Unfolding::Unfolding(const std::vector<std::uint64_t>& shared, const Limits& limits)
    : limits_(limits), targets_(shared.size()) {
  for (std::size_t i = 0; i < shared.size(); ++i) order_.push_back({shared[i], i});
  std::ranges::sort(order_, {}, &Place::position);
}

bool Unfolding::take(wire::Reader& reader, std::size_t offset, std::uint64_t values,
                     std::uint64_t memory) {
  if (values > limits_.max_unfolded - spent_.values) {
    return reader.fail(ErrorCode::kLimitExceeded, offset,
                       "more than the " + std::to_string(limits_.max_unfolded) +
                           " values, with what references mean counted each time, that "
                           "max_unfolded allows");
  }
  if (memory > limits_.max_memory - spent_.memory) {
    return reader.fail(ErrorCode::kLimitExceeded, offset,
                       "more than the " + std::to_string(limits_.max_memory) +
                           " bytes of memory that max_memory allows");
  }
  spent_.values += values;
  spent_.memory += memory;
  return true;
}

}  // namespace waybill::envelope
