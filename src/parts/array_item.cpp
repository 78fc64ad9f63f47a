// Tested by tests/values/array_value_test.cpp and tests/values/array_test.cpp.

#include "parts/array_item.h"

#include <algorithm>
#include <bit>
#include <charconv>

namespace waybill::envelope {
namespace {

bool read_size(std::string_view digits, std::size_t& size) {
  const char* end = digits.data() + digits.size();
  const auto [stopped, error] = std::from_chars(digits.data(), end, size);
  return error == std::errc() && stopped == end;
}

}  // namespace

std::optional<ArrayItem> array_item(std::string_view name) {
  ArrayItem item;
  if (name == "bool") return ArrayItem{'b', 1, false};
  const bool has_order = name.starts_with('<') || name.starts_with('>');
  if (has_order) {
    constexpr char kNative = std::endian::native == std::endian::little ? '<' : '>';
    item.is_swapped = name[0] != kNative;
    item.kind = name.size() > 1 ? name[1] : '\0';
    if (!read_size(name.substr(std::min<std::size_t>(2, name.size())), item.size)) {
      return std::nullopt;
    }
    item.is_swapped = item.is_swapped && item.size > 1;
  } else {
    const std::size_t digits = std::min(name.find_first_of("0123456789"), name.size());
    const std::string_view word = name.substr(0, digits);
    item.kind = word == "float"     ? 'f'
                : word == "int"     ? 'i'
                : word == "uint"    ? 'u'
                : word == "complex" ? 'c'
                                    : '\0';
    if (!read_size(name.substr(digits), item.size) || item.size % 8 != 0) {
      return std::nullopt;
    }
    item.size /= 8;
  }
  const bool is_integer = item.kind == 'i' || item.kind == 'u';
  const bool is_power = std::has_single_bit(item.size) && item.size <= 8;
  if (is_integer && is_power) return item;
  if (item.kind == 'f' && is_power && item.size >= 2) return item;
  if (item.kind == 'c' && (item.size == 8 || item.size == 16)) return item;
  return std::nullopt;
}

}  // namespace waybill::envelope
