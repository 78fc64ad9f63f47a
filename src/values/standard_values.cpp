// One row for each callable that reducers of the standard library name. The arguments
// are those of Python 3.11 to 3.15; docs/cli.md describes the text.
// Tested by tests/cli/test_cat_standard.py.

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "text/format_text.h"
#include "values/value_leaf.h"

namespace waybill::envelope {
namespace {

using data::Binary;
using data::Standard;
using data::Value;
using Arguments = std::vector<Value>;
using Text = std::optional<std::string>;

constexpr std::int64_t kMicrosPerSecond = 1'000'000;
constexpr std::int64_t kSecondsPerDay = 86'400;

const Binary* bytes_at(const Arguments& arguments, std::size_t at, std::size_t size) {
  const Binary* bytes =
      at < arguments.size() ? arguments[at].get_if<Binary>() : nullptr;
  return bytes != nullptr && bytes->size() == size ? bytes : nullptr;
}

// The UTC offset in the second argument, a timezone; "" if there is none.
Text zone_of(const Arguments& arguments) {
  if (arguments.size() == 1) return "";
  const auto* zone = arguments[1].get_if<Standard>();
  if (arguments.size() != 2 || zone == nullptr || zone->type != "timezone") return {};
  return zone->text;
}

Text date_text(const std::uint8_t* bytes) {
  const int month = bytes[2];
  if (month < 1 || month > 12 || bytes[3] < 1 || bytes[3] > 31) return {};
  return format_text("{:04}-{:02}-{:02}", bytes[0] * 256 + bytes[1], month, bytes[3]);
}

Text time_text(const std::uint8_t* bytes) {
  if (bytes[0] > 23 || bytes[1] > 59 || bytes[2] > 59) return {};
  std::string text = format_text("{:02}:{:02}:{:02}", bytes[0], bytes[1], bytes[2]);
  const int micro = bytes[3] << 16 | bytes[4] << 8 | bytes[5];
  if (micro >= kMicrosPerSecond) return {};
  return micro == 0 ? text : text + format_text(".{:06}", micro);
}

Text date(const Arguments& arguments) {
  const Binary* bytes = bytes_at(arguments, 0, 4);
  return bytes == nullptr || arguments.size() != 1 ? Text() : date_text(bytes->data());
}

// Marks a fold, the second pass through an hour that a clock repeats: in the first byte
// of a time, in the month of a datetime.
constexpr std::uint8_t kFold = 0x80;
constexpr const char* kFoldText = " fold=1";

// The text of a time in `size` bytes, followed by its zone and fold. The fold bit is in
// the byte `fold_byte`.
Text zoned_text(const Arguments& arguments, std::size_t size, std::size_t fold_byte,
                Text (*text_of)(const std::uint8_t*)) {
  const Binary* bytes = bytes_at(arguments, 0, size);
  const Text zone = bytes == nullptr ? Text() : zone_of(arguments);
  if (!zone) return {};
  Binary plain = *bytes;
  plain[fold_byte] &= static_cast<std::uint8_t>(~kFold);
  const Text text = text_of(plain.data());
  if (!text) return {};
  return *text + *zone + ((*bytes)[fold_byte] == plain[fold_byte] ? "" : kFoldText);
}

Text datetime_text(const std::uint8_t* bytes) {
  const Text day = date_text(bytes);
  const Text hour = time_text(bytes + 4);
  return day && hour ? *day + "T" + *hour : Text();
}

Text time(const Arguments& arguments) { return zoned_text(arguments, 6, 0, time_text); }

Text datetime(const Arguments& arguments) {
  return zoned_text(arguments, 10, 2, datetime_text);
}

// Microseconds as seconds: "-0.5".
std::string seconds_text(std::int64_t micro) {
  const std::int64_t magnitude = std::abs(micro);
  std::string text =
      format_text("{}{}", micro < 0 ? "-" : "", magnitude / kMicrosPerSecond);
  if (magnitude % kMicrosPerSecond == 0) return text;
  text += format_text(".{:06}", magnitude % kMicrosPerSecond);
  return text.substr(0, text.find_last_not_of('0') + 1);
}

Text timedelta(const Arguments& arguments) {
  constexpr std::int64_t kMaxDays = 999'999'999;
  if (arguments.size() != 3) return {};
  std::int64_t parts[3];
  for (std::size_t i = 0; i < 3; ++i) {
    const auto* part = arguments[i].get_if<std::int64_t>();
    if (part == nullptr) return {};
    parts[i] = *part;
  }
  const auto& [days, seconds, micro] = parts;
  if (days < -kMaxDays || days > kMaxDays || seconds < 0 || seconds >= kSecondsPerDay ||
      micro < 0 || micro >= kMicrosPerSecond) {
    return {};
  }
  // 10^9 days in microseconds exceed 64 bits, so the microseconds stay apart.
  const std::int64_t whole = days * kSecondsPerDay + seconds;
  if (whole < 0 && micro != 0) {
    const std::string rest = seconds_text(kMicrosPerSecond - micro).substr(1);
    return format_text("-{}{}", -(whole + 1), rest);
  }
  return format_text("{}", whole) + seconds_text(micro).substr(1);
}

Text timezone(const Arguments& arguments) {
  if (arguments.empty() || arguments.size() > 2) return {};
  const auto* offset = arguments[0].get_if<Standard>();
  if (offset == nullptr || offset->type != "timedelta") return {};
  // The offset is less than a day, and seldom has a fraction.
  const bool is_behind = offset->text.starts_with('-');
  const std::string digits = offset->text.substr(is_behind ? 1 : 0);
  const std::size_t point = std::min(digits.find('.'), digits.size());
  const long seconds = std::strtol(digits.c_str(), nullptr, 10);
  if (seconds >= kSecondsPerDay) return {};
  std::string text = format_text("{}{:02}:{:02}", is_behind ? '-' : '+', seconds / 3600,
                                 seconds / 60 % 60);
  if (seconds % 60 != 0 || point != digits.size()) {
    text += format_text(":{:02}", seconds % 60) + digits.substr(point);
  }
  return text;
}

Text decimal(const Arguments& arguments) {
  const auto* text =
      arguments.size() == 1 ? arguments[0].get_if<std::string>() : nullptr;
  return text == nullptr ? Text() : *text;
}

// Joins parts as pathlib does: an absolute part replaces the ones before it.
Text joined(const Arguments& arguments, char separator) {
  std::string path;
  for (const Value& argument : arguments) {
    const auto* part = argument.get_if<std::string>();
    if (part == nullptr) return {};
    if (part->starts_with(separator)) path.clear();
    if (!path.empty() && !path.ends_with(separator)) path += separator;
    path += *part;
  }
  return path.empty() ? "." : path;
}

Text posix_path(const Arguments& arguments) { return joined(arguments, '/'); }
Text windows_path(const Arguments& arguments) { return joined(arguments, '\\'); }

struct Row {
  std::string_view callable;
  const char* type;
  Text (*text)(const Arguments& arguments);
};

constexpr Row kRows[] = {
    {"datetime.date", "date", date},
    {"datetime.time", "time", time},
    {"datetime.datetime", "datetime", datetime},
    {"datetime.timedelta", "timedelta", timedelta},
    {"datetime.timezone", "timezone", timezone},
    {"decimal.Decimal", "decimal", decimal},
    {"pathlib.PosixPath", "path", posix_path},
    {"pathlib.PurePosixPath", "path", posix_path},
    {"pathlib.WindowsPath", "path", windows_path},
    {"pathlib.PureWindowsPath", "path", windows_path},
    // In Python 3.13.
    {"pathlib._local.PosixPath", "path", posix_path},
    {"pathlib._local.PurePosixPath", "path", posix_path},
    {"pathlib._local.WindowsPath", "path", windows_path},
    {"pathlib._local.PureWindowsPath", "path", windows_path},
};

}  // namespace

std::optional<Standard> standard_value(std::string_view callable,
                                       const Arguments& arguments) {
  const auto* const row = std::ranges::find(kRows, callable, &Row::callable);
  if (row == std::end(kRows)) return {};
  Text text = row->text(arguments);
  if (!text) return {};
  return Standard{row->type, std::move(*text)};
}

}  // namespace waybill::envelope
