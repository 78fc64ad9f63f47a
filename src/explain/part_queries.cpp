// Tested by tests/explain/part_queries_test.cpp.

#include "explain/part_queries.h"

#include <algorithm>
#include <cstdint>
#include <tuple>

namespace waybill {
namespace {

using Place = std::pair<std::size_t, std::string_view>;

// Whether a part has few bytes besides those of its largest child.
bool is_wrapping(std::uint64_t bytes, std::uint64_t largest_held) {
  return largest_held >= bytes - bytes / 10;
}

// Whether a step may end at this length: "clients" is not a step of ".clients_by_name".
bool ends_step(std::string_view path, std::size_t length) {
  return length == path.size() || path[length] == '.' || path[length] == '[';
}

std::size_t common_length(std::string_view a, std::string_view b) {
  const auto ends = std::ranges::mismatch(a, b);
  return static_cast<std::size_t>(ends.in1 - a.begin());
}

}  // namespace

std::vector<std::size_t> largest_parts(const Explanation& explanation,
                                       std::size_t count) {
  const std::vector<ExplainedPart>& parts = explanation.parts;
  std::vector<std::uint64_t> largest_held(parts.size());
  for (std::size_t i = 1; i < parts.size(); ++i) {
    std::uint64_t& largest = largest_held[parts[i].parent];
    largest = std::max(largest, parts[i].bytes);
  }
  std::vector<std::size_t> found;
  for (std::size_t i = 1; i < parts.size(); ++i) {
    const bool is_informative = parts[i].bytes != 0 && !parts[i].step.empty() &&
                                !is_wrapping(parts[i].bytes, largest_held[i]);
    if (is_informative) found.push_back(i);
  }
  const std::size_t shown = std::min(count, found.size());
  std::ranges::partial_sort(found, found.begin() + static_cast<std::ptrdiff_t>(shown),
                            [&](std::size_t a, std::size_t b) {
                              return parts[a].bytes != parts[b].bytes
                                         ? parts[a].bytes > parts[b].bytes
                                         : a < b;
                            });
  found.resize(shown);
  return found;
}

Holders::Holders(const Explanation& explanation) : parts_(explanation.parts) {
  for (std::size_t i = 1; i < parts_.size(); ++i) by_step_.push_back(i);
  std::ranges::sort(by_step_, {}, [&](std::size_t part) {
    return std::tuple(parts_[part].parent, std::string_view(parts_[part].step), part);
  });
}

std::size_t Holders::find_child(std::size_t parent, std::string_view path) const {
  const auto place = [&](std::size_t part) {
    return Place(parts_[part].parent, parts_[part].step);
  };
  // The last step that does not sort after the text is either the longest step that is
  // a prefix of the text, or shares a shorter prefix with it. Then the search continues
  // with that prefix.
  std::string_view text = path;
  while (!text.empty()) {
    auto after = std::ranges::upper_bound(by_step_, Place(parent, text), {}, place);
    if (after == by_step_.begin()) return 0;
    const std::size_t part = *--after;
    const std::string_view step = parts_[part].step;
    if (parts_[part].parent != parent || step.empty()) return 0;
    std::size_t shared = common_length(step, text);
    if (shared == step.size()) {
      if (ends_step(path, shared)) return part;
      --shared;
    }
    text = text.substr(0, shared);
  }
  return 0;
}

Holders::Match Holders::find(std::string_view path) const {
  if (parts_.empty() || !path.starts_with(parts_[0].step)) return {};
  path.remove_prefix(parts_[0].step.size());
  std::size_t part = 0;
  while (!path.empty()) {
    const std::size_t held = find_child(part, path);
    if (held == 0) return {part, false};
    part = held;
    path.remove_prefix(parts_[part].step.size());
  }
  return {part, true};
}

}  // namespace waybill
