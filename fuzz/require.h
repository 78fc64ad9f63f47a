#pragma once

// The claims of a harness. Unlike assert(), require() is active in every build.

#include <cstdlib>

namespace waybill::fuzz {

inline void require(bool holds) {
  if (!holds) std::abort();
}

}  // namespace waybill::fuzz
