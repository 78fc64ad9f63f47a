#pragma once

// Queries about the parts of an explanation, for all its views.

#include <cstddef>
#include <string_view>
#include <utility>
#include <vector>

#include "waybill/explanation.h"

namespace waybill {

// The largest parts, at most `count`, largest first. Leaves out the root, parts without
// bytes, and parts with one child that has nearly all of their bytes, since that child
// is more informative.
std::vector<std::size_t> largest_parts(const Explanation& explanation,
                                       std::size_t count);

// Finds the part that holds a blocker by the blocker's path.
class Holders {
 public:
  // The explanation must outlive this. Cost: sorts the parts.
  explicit Holders(const Explanation& explanation);

  struct Match {
    std::size_t part = 0;
    bool is_part = false;  // Whether `path` is exactly the path of that part.
  };
  // The part whose path is the longest prefix of `path`; the root if there is none.
  Match find(std::string_view path) const;

 private:
  // The child of `parent` whose step is the longest prefix of `path`; 0 if there is
  // none.
  std::size_t find_child(std::size_t parent, std::string_view path) const;

  const std::vector<ExplainedPart>& parts_;
  // All parts except the root, sorted by parent and step.
  std::vector<std::size_t> by_step_;
};

}  // namespace waybill
