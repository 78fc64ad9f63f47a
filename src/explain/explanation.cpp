// Queries that all views of an explanation share: the paths of parts, and the parts
// that account for most of the size. Tested by tests/explain/part_queries_test.cpp and
// explanation_text_test.cpp.

#include "waybill/explanation.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

namespace waybill {
namespace {

using PartList = std::vector<ExplainedPart>;

// Whether a step begins with a private attribute: "._mgr", but not ".__func__".
bool is_private(std::string_view step) {
  return step.starts_with("._") && !step.starts_with(".__");
}

// Whether the author of the program would recognize the step to a part.
bool has_informative_step(const ExplainedPart& part, const ExplainedPart& holder) {
  const bool is_imported = holder.type.find('.') != std::string::npos;
  return part.evaluates && !(is_imported && is_private(part.step));
}

// For each part, the bytes of the largest variable among it and its descendants.
std::vector<std::uint64_t> largest_variables(const PartList& parts) {
  std::vector<std::uint64_t> largest(parts.size());
  for (std::size_t i = parts.size(); i-- > 1;) {
    if (!parts[i].variable.empty()) largest[i] = parts[i].bytes;
    std::uint64_t& above = largest[parts[i].parent];
    above = std::max(above, largest[i]);
  }
  return largest;
}

// The nearest ancestor that has a step, or the root. Paths skip parts without a step.
std::size_t holder_of(const PartList& parts, std::size_t part) {
  std::size_t holder = parts[part].parent;
  while (holder != 0 && parts[holder].step.empty()) holder = parts[holder].parent;
  return holder;
}

// The children of each part, without parts that have no step.
class Children {
 public:
  explicit Children(const PartList& parts)
      : held_(parts.size()), variables_(largest_variables(parts)) {
    for (std::size_t i = 1; i < parts.size(); ++i) {
      if (!parts[i].step.empty()) held_[holder_of(parts, i)].push_back(i);
    }
  }

  // The children of a part that have at least `min_bytes` and can explain its size.
  std::vector<std::size_t> of(const PartList& parts, std::size_t part,
                              std::uint64_t min_bytes) const {
    std::vector<std::size_t> found;
    for (const std::size_t i : held_[part]) {
      const ExplainedPart& held = parts[i];
      if (held.bytes < min_bytes || held.kind == ExplainedPart::Kind::kReference ||
          held.kind == ExplainedPart::Kind::kModule) {
        continue;
      }
      const bool leads_to_variable = variables_[i] >= held.bytes - held.bytes / 10;
      if (leads_to_variable || has_informative_step(held, parts[part])) {
        found.push_back(i);
      }
    }
    return found;
  }

 private:
  std::vector<std::vector<std::size_t>> held_;
  std::vector<std::uint64_t> variables_;
};

bool has_names(const ExplainedPart& part) {
  constexpr auto kTypes =
      std::to_array<std::string_view>({"function", "type", "module", "code", "method"});
  return std::ranges::find(kTypes, part.type) != kTypes.end();
}

std::uint64_t bytes_of(const PartList& parts, const std::vector<std::size_t>& some) {
  std::uint64_t bytes = 0;
  for (const std::size_t part : some) bytes += parts[part].bytes;
  return bytes;
}

// The quotient, rounded up, without overflow.
std::uint64_t divide_up(std::uint64_t number, std::uint64_t divisor) {
  return number / divisor + (number % divisor != 0 ? 1 : 0);
}

}  // namespace

std::string_view name_of(ExplainedPart::Kind kind) {
  constexpr std::string_view kNames[] = {"value", "reference", "module", "out of band"};
  return kNames[static_cast<std::size_t>(kind)];
}

void PartPath::add(const std::string& step, const std::string& variable,
                   bool step_evaluates) {
  full += step;
  if (variable.empty()) {
    short_path += step;
  } else {
    short_path = variable;
  }
  evaluates = evaluates && step_evaluates;
}

PartPath path_of(const Explanation& explanation, std::size_t part) {
  std::vector<const ExplainedPart*> steps;
  for (; part < explanation.parts.size(); part = explanation.parts[part].parent) {
    steps.push_back(&explanation.parts[part]);
    if (part == 0) break;
  }
  std::ranges::reverse(steps);
  PartPath path;
  for (const ExplainedPart* step : steps) {
    path.add(step->step, step->variable, step->evaluates);
  }
  return path;
}

std::vector<SignificantPart> significant_parts(const Explanation& explanation,
                                               std::size_t max_count) {
  const PartList& parts = explanation.parts;
  std::vector<SignificantPart> shown;
  if (parts.empty()) return shown;
  const Children children(parts);
  const std::uint64_t whole = parts[0].bytes;
  std::vector<std::size_t> todo{0};
  while (!todo.empty()) {
    const std::size_t index = todo.back();
    todo.pop_back();
    const ExplainedPart& part = parts[index];
    const bool is_named = has_names(part);
    const auto held =
        children.of(parts, index,
                    std::max<std::uint64_t>(1, is_named ? divide_up(whole, 100)
                                                        : divide_up(part.bytes, 10)));
    const std::uint64_t held_bytes = bytes_of(parts, held);
    const bool is_replaced =
        !held.empty() && (is_named || held_bytes >= part.bytes - part.bytes / 10);
    if (!is_replaced) {
      shown.push_back({index, part.bytes});
      continue;
    }
    todo.insert(todo.end(), held.rbegin(), held.rend());
    const std::uint64_t rest = part.bytes - std::min(held_bytes, part.bytes);
    if (is_named && rest >= divide_up(whole, 10)) shown.push_back({index, rest});
  }
  std::ranges::stable_sort(shown, std::ranges::greater(), &SignificantPart::bytes);
  if (shown.size() > max_count) shown.resize(max_count);
  return shown;
}

}  // namespace waybill
