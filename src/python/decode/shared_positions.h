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

  // Passes the objects before `end`.
  void pass_to(std::uint64_t end) {
    while (!are_none_before(end)) ++next_;
  }

  // Whether references mean none of the objects before this position.
  bool are_none_before(std::uint64_t position) const {
    return are_passed() || sorted_[next_].first >= position;
  }

  bool are_passed() const { return next_ == sorted_.size(); }
  std::size_t passed() const { return next_; }
  // That of the next object, unless all are passed.
  std::uint64_t next() const { return sorted_[next_].first; }

  // Passes none but those before this position; `forget` is told the numbers of the
  // others that were passed.
  template <typename Forget>
  void go_back_to(std::uint64_t position, Forget forget) {
    while (next_ != 0 && sorted_[next_ - 1].first >= position) {
      forget(sorted_[--next_].second);
    }
  }

 private:
  std::vector<std::pair<std::uint64_t, std::size_t>> sorted_;
  std::size_t next_ = 0;
};

}  // namespace waybill::py
