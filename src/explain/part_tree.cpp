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

namespace {

constexpr std::uint32_t kNone = TreePart::kNoDefinition;

// Definitions stand before the value of a payload, but to who reads an explanation they
// are parts of what needs them.
class Placing {
 public:
  Placing(std::vector<TreePart> parts, const std::vector<bool>& is_shared)
      : parts_(std::move(parts)), stands_at_(parts_.size(), kNone) {
    find_places(is_shared);
    put_value_in_root();
    find_held();
  }

  // From the root down, each part followed by all that it holds.
  std::vector<TreePart> in_order() {
    std::vector<TreePart> ordered;
    std::vector<std::pair<std::uint32_t, std::uint32_t>> todo{{0, 0}};  // Its holder.
    while (!todo.empty()) {
      const auto [index, holder] = todo.back();
      todo.pop_back();
      const auto own = static_cast<std::uint32_t>(ordered.size());
      ordered.push_back(parts_[index]);
      ordered.back().parent = holder;
      for (std::uint32_t i = starts_[index + 1]; i-- != starts_[index];) {
        todo.emplace_back(held_[i], own);
      }
    }
    return ordered;
  }

 private:
  static constexpr std::uint32_t kNowhere = kNone;

  // Which part stands where: a definition in the place of what stands for it.
  void find_places(const std::vector<bool>& is_shared) {
    std::vector<std::uint32_t> definitions(is_shared.size(), kNone);
    for (std::uint32_t i = 0; i < parts_.size(); ++i) {
      stands_at_[i] = i;
      const TreePart& part = parts_[i];
      if (part.definition == kNone) continue;
      if (!part.stands_for_it) {
        definitions[part.definition] = i;
        continue;
      }
      const std::uint32_t placed = definitions[part.definition];
      stands_at_[i] = placed;
      if (placed == kNone) continue;
      stands_at_[placed] = kNowhere;
      parts_[placed].link = part.link;
      parts_[placed].is_shared = is_shared[part.definition];
    }
  }

  // Only the value has no step.
  void put_value_in_root() {
    for (std::uint32_t i = 1; i < parts_.size(); ++i) {
      const bool is_value = stands_at_[i] != kNowhere && parts_[i].parent == 0 &&
                            parts_[i].link.style == steps::Style::kNone;
      if (!is_value) continue;
      value_ = std::exchange(stands_at_[i], kNowhere);
      const TreePart& value = parts_[value_];
      TreePart& root = parts_[0];
      root.kind = value.kind;
      root.offset = value.offset;
      root.count = value.count;
      return;
    }
  }

  // Lists what each part holds, as ranges of one list.
  void find_held() {
    starts_.resize(parts_.size() + 1);
    const auto each = [&](auto act) {
      for (std::uint32_t i = 1; i < parts_.size(); ++i) {
        const std::uint32_t parent = parts_[i].parent;
        if (stands_at_[i] != kNowhere) {
          act(parent == value_ ? 0 : parent, stands_at_[i]);
        }
      }
    };
    each([&](std::uint32_t holder, std::uint32_t) { ++starts_[holder + 1]; });
    for (std::size_t i = 1; i < starts_.size(); ++i) starts_[i] += starts_[i - 1];
    held_.resize(starts_.back());
    std::vector<std::uint32_t> next(starts_.begin(), starts_.end() - 1);
    each([&](std::uint32_t holder, std::uint32_t part) {
      held_[next[holder]++] = part;
    });
  }

  std::vector<TreePart> parts_;
  std::vector<std::uint32_t> stands_at_;  // By place: the part there.
  std::uint32_t value_ = kNone;
  std::vector<std::uint32_t> starts_, held_;
};

}  // namespace

std::vector<TreePart> with_definitions_in_place(std::vector<TreePart> parts,
                                                const std::vector<bool>& is_shared) {
  return Placing(std::move(parts), is_shared).in_order();
}

}  // namespace waybill::envelope
