#pragma once

// What a harness claims. Unlike assert() it is there in every build.

#include <cstdlib>

namespace waybill::fuzz {

inline void require(bool holds) {
  if (!holds) std::abort();
}

}  // namespace waybill::fuzz
