// Tested by tests/explain/part_path_test.cpp.

#include <algorithm>
#include <vector>

#include "waybill/explanation.h"

namespace waybill {

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

}  // namespace waybill
