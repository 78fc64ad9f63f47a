#pragma once

// What those who show an explanation ask of its parts.

#include <cstddef>
#include <string_view>
#include <utility>
#include <vector>

#include "waybill/explanation.h"

namespace waybill {

// The largest parts, at most `count`, largest first. The root is left out, and a part
// of which one that it holds is nearly all: that one tells more. So is what has no
// bytes.
std::vector<std::size_t> largest_parts(const Explanation& explanation,
                                       std::size_t count);

// Which part of the tree holds what cannot travel: blockers have only paths.
class Holders {
 public:
  // Refers to the explanation, which has to stay. Cost: sorts the parts.
  explicit Holders(const Explanation& explanation);

  struct Found {
    std::size_t part = 0;
    bool is_part = false;  // The path is that part's own.
  };
  // The part with the longest path that `path` begins with; the root if there is none.
  Found find(std::string_view path) const;

 private:
  // The part that `parent` holds and whose step is the longest that `path` begins with;
  // 0 if there is none.
  std::size_t next(std::size_t parent, std::string_view path) const;

  const std::vector<ExplainedPart>& parts_;
  std::vector<std::size_t> by_step_;  // Parts but the root, by parent and step.
};

}  // namespace waybill
