#pragma once

// What the values of a payload come to when references are followed, each time anew;
// and the values that references mean.
// Tested by tests/values/value_refusals_test.cpp.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "format/value_view.h"
#include "waybill/limits.h"
#include "waybill/value.h"
#include "wire/reader.h"

namespace waybill::envelope {

// What a value comes to, without the place that it stands in.
struct Cost {
  std::uint64_t values = 0;  // As max_unfolded counts them.
  std::uint64_t memory = 0;
  std::size_t height = 0;  // Containers inside each other.
};

// Of a payload that is read from its start to its end.
class Unfolding {
 public:
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

  // What references mean.
  struct Target {
    const data::Value* value = nullptr;  // Null while it is not complete.
    Cost cost;
  };

  Unfolding(const Envelope& envelope, const Limits& limits)
      : limits_(limits), order_(shared_places(envelope)), targets_(order_.size()) {}

  // The number of the references that mean the value at `offset`; kNone if none do.
  std::size_t number_at(std::size_t offset) {
    const bool is_next = next_ != order_.size() && order_[next_].offset == offset;
    return is_next ? order_[next_++].number : kNone;
  }
  // What stands before `offset` is skipped: no reference means it.
  void skip_to(std::size_t offset) {
    while (next_ != order_.size() && order_[next_].offset < offset) ++next_;
  }

  // Counts what is made at `offset`. False when the reader has an error:
  // kLimitExceeded.
  bool take(wire::Reader& reader, std::size_t offset, std::uint64_t values,
            std::uint64_t memory) {
    if (values > limits_.max_unfolded - spent_.values) {
      return reader.fail(
          ErrorCode::kLimitExceeded, offset,
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
  // What was taken so far.
  const Cost& spent() const { return spent_; }

  // The value that references with this number mean, or none, is complete. `before`:
  // what was spent when it began. It stays where it is.
  void complete(std::size_t number, const data::Value& value, const Cost& before,
                std::size_t height) {
    if (number == kNone) return;
    targets_[number] = {
        &value, {spent_.values - before.values, spent_.memory - before.memory, height}};
  }
  const Target& target(std::size_t number) const { return targets_[number]; }

 private:
  const Limits& limits_;
  Cost spent_;
  std::vector<SharedPlace> order_;  // Passed one by one.
  std::size_t next_ = 0;
  std::vector<Target> targets_;  // By number.
};

}  // namespace waybill::envelope
