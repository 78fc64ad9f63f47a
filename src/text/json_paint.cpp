// Walks JSON that nlohmann-json wrote: only strings have quotes, and only they hold
// anything but ASCII.
// Tested by tests/values/value_json_test.cpp.

#include "text/json_paint.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "text/control_characters.h"
#include "text/format_text.h"

namespace waybill::envelope {
namespace {

constexpr const char* kName = "36";
constexpr const char* kText = "32";
constexpr const char* kOther = "33";

// The length of the control character that starts there, and its number; 0 if it is
// none. Those below space are escaped already, but for the ends of lines.
std::size_t control_at(std::string_view text, char32_t& point) {
  std::size_t length = 0;
  point = first_character(text, length);
  return point >= 0x20 && is_control(point) ? length : 0;
}

bool has_control(std::string_view text) {
  char32_t point = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (control_at(text.substr(at), point) != 0) return true;
  }
  return false;
}

std::string escaped(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    char32_t point = 0;
    const std::size_t length = control_at(text, point);
    if (length == 0) {
      out += text.front();
    } else {
      out += json_escape(point);
    }
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return out;
}

// The length of the string that starts there, with its quotes.
std::size_t string_length(std::string_view json) {
  std::size_t end = 1;
  while (json[end] != '"') end += json[end] == '\\' ? 2 : 1;
  return end + 1;
}

}  // namespace

std::string json_escape(char32_t point) {
  constexpr char32_t kBeyond = 0x10000;
  const auto number = static_cast<std::uint32_t>(point);
  if (point < kBeyond) return format_text("\\u{:04x}", number);
  const std::uint32_t rest = number - kBeyond;
  return format_text("\\u{:04x}\\u{:04x}", 0xd800 + (rest >> 10),
                     0xdc00 + (rest & 0x3ff));
}

std::string painted(std::string text, bool colours) {
  if (!colours) return has_control(text) ? escaped(text) : std::move(text);
  std::string_view json = text;
  constexpr std::string_view kBetween = "{}[],: \n\"";
  std::string out;
  const auto put = [&](const char* colour, std::string_view word) {
    out += format_text("\x1b[{}m{}\x1b[0m", colour, word);
  };
  while (!json.empty()) {
    std::size_t length = 1;
    if (json.front() == '"') {
      length = string_length(json);
      const bool is_name = json.substr(length).starts_with(':');
      put(is_name ? kName : kText, escaped(json.substr(0, length)));
    } else if (kBetween.find(json.front()) != kBetween.npos) {
      out += json.front();
    } else {
      length = std::min(json.find_first_of(kBetween), json.size());
      put(kOther, json.substr(0, length));
    }
    json.remove_prefix(length);
  }
  return out;
}

}  // namespace waybill::envelope
