// Ints beyond 64 bits, from bytes and as decimal digits.
// Tested by tests/values/value_test.cpp.

#include <algorithm>

#include "waybill/value.h"

namespace waybill::data {
namespace {

// The least number of bytes: without those that only repeat the sign.
BytesView without_padding(BytesView bytes) {
  const auto is_padded = [](BytesView view) {
    return view.size() > 1 && ((view[0] == 0x00 && view[1] < 0x80) ||
                               (view[0] == 0xff && view[1] >= 0x80));
  };
  while (is_padded(bytes)) bytes = bytes.subspan(1);
  return bytes;
}

// The absolute value in base 2^32, the lowest digit first.
std::vector<std::uint32_t> magnitude_of(BytesView bytes, bool is_negative) {
  std::vector<std::uint32_t> digits((bytes.size() + 3) / 4);
  std::uint32_t carry = is_negative ? 1 : 0;
  for (std::size_t i = 0; i < digits.size() * 4; ++i) {
    std::uint32_t byte = 0;
    if (i < bytes.size()) byte = bytes[bytes.size() - 1 - i];
    if (is_negative) {
      byte = (i < bytes.size() ? ~byte & 0xff : 0) + carry;
      carry = byte >> 8;
    }
    digits[i / 4] |= (byte & 0xff) << (8 * (i % 4));
  }
  return digits;
}

}  // namespace

Value Value::integer(BytesView twos_complement) {
  const BytesView bytes = without_padding(twos_complement);
  if (bytes.empty()) return 0;
  const bool is_unsigned = bytes.size() == 9 && bytes[0] == 0;
  if (bytes.size() > 8 && !is_unsigned) {
    return BigInteger(Binary(bytes.begin(), bytes.end()));
  }
  std::uint64_t word = bytes[0] >= 0x80 ? UINT64_MAX : 0;
  for (const std::uint8_t byte : bytes) word = word << 8 | byte;
  if (is_unsigned) return word;
  return static_cast<std::int64_t>(word);
}

std::string BigInteger::decimal() const {
  constexpr std::uint32_t kBase = 1'000'000'000;
  constexpr int kDigits = 9;
  const bool is_negative = bytes_[0] >= 0x80;
  std::vector<std::uint32_t> rest = magnitude_of(bytes_, is_negative);
  std::string text;  // Backwards.
  while (!rest.empty()) {
    std::uint64_t remainder = 0;
    for (auto digit = rest.rbegin(); digit != rest.rend(); ++digit) {
      remainder = remainder << 32 | *digit;
      *digit = static_cast<std::uint32_t>(remainder / kBase);
      remainder %= kBase;
    }
    while (!rest.empty() && rest.back() == 0) rest.pop_back();
    for (int i = 0; i < kDigits; ++i, remainder /= 10) {
      text += static_cast<char>('0' + remainder % 10);
    }
  }
  text.erase(text.find_last_not_of('0') + 1);
  if (is_negative) text += '-';
  std::ranges::reverse(text);
  return text;
}

}  // namespace waybill::data
