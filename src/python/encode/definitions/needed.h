#pragma once

// Which definitions of a payload some functions and classes need, directly or not.

#include <cstdint>
#include <set>
#include <span>
#include <vector>

namespace waybill::py {

struct TakenDefinition;

// Each definition stands behind those that it needs, so they are looked at from the
// last to the first, and no further than to the one that is asked for.
class NeededDefinitions {
 public:
  // `direct`: those that are needed directly. `taken` outlives this.
  NeededDefinitions(std::span<const TakenDefinition> taken,
                    const std::vector<std::uint32_t>& direct);

  bool has(std::uint32_t definition);

 private:
  std::span<const TakenDefinition> taken_;
  std::set<std::uint32_t> needed_;
  std::uint32_t expanded_;  // What those from here on need has been added.
};

}  // namespace waybill::py
