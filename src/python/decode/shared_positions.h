#pragma once

// Where objects stand that references mean, for a reader that passes them in order.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace waybill::py {

class SharedPositions {
 public:
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

  // `shared`: the positions by the numbers that references have.
  explicit SharedPositions(const std::vector<std::uint64_t>& shared) {
    sorted_.reserve(shared.size());
    for (std::size_t i = 0; i < shared.size(); ++i) sorted_.emplace_back(shared[i], i);
    std::sort(sorted_.begin(), sorted_.end());
  }

  // The number of the object at this position, which is passed; kNone if no reference
  // means it. To be asked for each value in order.
  std::size_t slot_at(std::uint64_t position) {
    if (are_passed() || sorted_[next_].first != position) return kNone;
    return sorted_[next_++].second;
  }

  // Passes all objects before this position.
  void pass_to(std::uint64_t position) {
    while (!are_none_before(position)) ++next_;
  }

  // Passes an object that ends at `end`, if inside of it references mean just these, by
  // number and offset from `start`, in order. Its own position has been passed.
  template <typename Targets>
  bool pass_inside(std::uint64_t start, std::uint64_t end, const Targets& targets) {
    for (const auto& target : targets) {
      if (slot_at(start + target.offset) != target.number) return false;
    }
    return are_none_before(end);
  }

  // Whether references mean none of the objects before this position.
  bool are_none_before(std::uint64_t position) const {
    return are_passed() || sorted_[next_].first >= position;
  }

  bool are_passed() const { return next_ == sorted_.size(); }

 private:
  std::vector<std::pair<std::uint64_t, std::size_t>> sorted_;
  std::size_t next_ = 0;
};

}  // namespace waybill::py
