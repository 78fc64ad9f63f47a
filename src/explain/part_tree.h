#pragma once

// The parts of a payload while it is walked, and afterwards those that are worth
// telling apart. Memory is bounded: where there are too many parts, the smallest closed
// ones, with all below them, become a part of what holds them.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "report/part_links.h"
#include "waybill/explanation.h"

namespace waybill::envelope {

struct TreePart {
  static constexpr std::uint32_t kNoDefinition = UINT32_MAX;

  std::uint32_t parent = 0;
  // Which definition of the payload it is, or is the first reference to.
  std::uint32_t definition = kNoDefinition;
  bool stands_for_it = false;  // A reference, with the bytes of the definition.
  bool is_open = true;
  bool is_shared = false;
  ExplainedPart::Kind kind = ExplainedPart::Kind::kValue;
  Link link;
  std::size_t offset = 0;   // Of the value that it is, behind what identifies it.
  std::uint64_t count = 0;  // Values in it, keys included.
  std::uint64_t bytes = 0;
  // Values that it holds, those included that it refers to: what looking at it costs.
  std::uint64_t cost = 0;
};

class PartTree {
 public:
  // So many parts are kept, and twice as many are there at a time; those that are open
  // do not count.
  static constexpr std::size_t kMost = 20'000;

  void open(TreePart part);
  // Ends the part that was opened last. `is_worth_it`: else it becomes a part of its
  // holder, whatever its size.
  void close(std::uint64_t bytes, std::uint64_t cost, bool is_worth_it = true);
  // The part that was opened last.
  TreePart& innermost() { return parts_[open_.back()]; }
  bool is_empty() const { return open_.empty(); }

  // A value that has no part of its own.
  void sum_up() { ++summed_up_; }
  std::uint64_t summed_up() const { return summed_up_; }

  // The parts that are kept, in the order of the payload. Once all are closed.
  std::vector<TreePart> take();

 private:
  void fold();

  std::vector<TreePart> parts_;
  std::vector<std::uint32_t> open_;
  std::uint64_t least_ = 0;  // Bytes of a part that is kept.
  std::size_t next_fold_ = 2 * kMost;
  std::uint64_t summed_up_ = 0;
};

// Puts each definition, with all that is in it, in the place of the first part that
// stands for it, and the value in the place of the root. `is_shared`: of each
// definition. The order is again one in which holders come before their parts.
// Cost: by the number of parts.
std::vector<TreePart> with_definitions_in_place(std::vector<TreePart> parts,
                                                const std::vector<bool>& is_shared);

}  // namespace waybill::envelope
