#pragma once

// What the programs say on stderr: a line each.

#include <string>
#include <string_view>

namespace example {

// Text that somebody else has a hand in, such as the name of a module: without what
// would begin another line or steer a terminal, and without its middle if it is long.
std::string printable(std::string_view text);

// "PROGRAM: CODE: DETAIL", both made printable.
void say(const char* program, std::string_view code, std::string_view detail);

}  // namespace example
