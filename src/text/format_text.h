#pragma once

// fmt::format, compiled in one source. The header-only form costs seconds of compile
// time in each source that formats, more with sanitizers.

#include <string>

#include <fmt/format.h>

namespace waybill {

std::string format_arguments(fmt::string_view text, fmt::format_args arguments);

// `text` with its fields replaced. The fields are checked at compile time. Throws only
// std::bad_alloc.
template <typename... T>
std::string format_text(fmt::format_string<T...> text, T&&... values) {
  return format_arguments(text, fmt::make_format_args(values...));
}

}  // namespace waybill
