#pragma once

// The claims of a harness. Unlike assert(), require() is active in every build.

#include <cstdio>
#include <cstdlib>

namespace waybill::fuzz {

// Unless `holds`, writes the place of the call and aborts.
inline void require(bool holds, const char* file = __builtin_FILE(),
                    int line = __builtin_LINE()) {
  if (holds) return;
  std::fprintf(stderr, "%s:%d: a claim of the harness does not hold\n", file, line);
  std::abort();
}

}  // namespace waybill::fuzz
