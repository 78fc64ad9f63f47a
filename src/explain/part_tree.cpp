// Tested by tests/explain/explain_payload_test.cpp.

#include "explain/part_tree.h"

#include <algorithm>
#include <utility>

namespace waybill::envelope {

void PartTree::open(TreePart part) {
  // Folding is linear, and comes again after as many parts as it left.
  if (parts_.size() >= next_fold_) {
    fold();
    next_fold_ = std::max(2 * kMost, 2 * parts_.size());
  }
  part.parent = open_.empty() ? 0 : open_.back();
  open_.push_back(static_cast<std::uint32_t>(parts_.size()));
  parts_.push_back(part);
}

void PartTree::close(std::uint64_t bytes, std::uint64_t cost, bool is_worth_it) {
  const std::uint32_t index = open_.back();
  open_.pop_back();
  TreePart& part = parts_[index];
  part.is_open = false;
  part.bytes = bytes;
  part.cost = cost;
  const bool is_kept = is_worth_it && bytes >= least_;
  // What is below it is smaller and was folded before, so it is the last.
  if (is_kept || open_.empty() || index + 1 != parts_.size()) return;
  parts_.pop_back();
  ++summed_up_;
}

// Keeps what is larger than the largest that is too much. What is below a part is not
// larger than that, so no part loses its holder.
void PartTree::fold() {
  std::vector<std::uint64_t> sizes;
  for (const TreePart& part : parts_) {
    if (!part.is_open) sizes.push_back(part.bytes);
  }
  if (sizes.size() <= kMost) return;
  const auto cut = sizes.begin() + kMost;
  std::ranges::nth_element(sizes, cut, std::ranges::greater());
  least_ = std::max(least_, *cut + 1);
  std::vector<std::uint32_t> moved(parts_.size());
  std::uint32_t kept = 0;
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    TreePart part = parts_[i];
    if (i != 0 && !part.is_open && part.bytes < least_) {
      ++summed_up_;
      continue;
    }
    moved[i] = kept;
    part.parent = moved[part.parent];
    parts_[kept++] = part;
  }
  parts_.resize(kept);
  for (std::uint32_t& index : open_) index = moved[index];
}

std::vector<TreePart> PartTree::take() {
  fold();
  return std::move(parts_);
}

}  // namespace waybill::envelope
