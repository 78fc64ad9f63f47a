// Tested by tests/values/value_refusals_test.cpp.

#include "values/unfolding.h"

#include <string>

namespace waybill::envelope {

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
