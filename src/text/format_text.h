#pragma once

// fmt::format, compiled in one file. Header-only, it would be made anew in each file
// that formats: seconds of the compiler for each, more with sanitizers.

#include <string>

#include <fmt/format.h>

namespace waybill {

std::string format_arguments(fmt::string_view text, fmt::format_args arguments);

// `text` with its fields replaced, which are checked when this is compiled. Throws
// std::bad_alloc only.
template <typename... T>
std::string format_text(fmt::format_string<T...> text, T&&... values) {
  return format_arguments(text, fmt::make_format_args(values...));
}

}  // namespace waybill
