#include "log.h"

#include <algorithm>
#include <cstdio>

namespace example {

std::string printable(std::string_view text) {
  constexpr std::size_t kHalf = 150;
  std::string made(text);
  if (made.size() > 2 * kHalf) {
    made.replace(kHalf, made.size() - 2 * kHalf, " ... ");
  }
  std::replace_if(
      made.begin(), made.end(), [](char c) { return c < ' ' || c > '~'; }, '?');
  return made;
}

void say(const char* program, std::string_view code, std::string_view detail) {
  std::fprintf(stderr, "%s: %s: %s\n", program, printable(code).c_str(),
               printable(detail).c_str());
}

}  // namespace example
