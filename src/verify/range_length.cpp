// Tested by tests/verify/limits_test.cpp.

#include "verify/range_length.h"

#include <algorithm>
#include <optional>

#include "format/definitions.h"

namespace waybill::envelope {
namespace {

using wire::ExtType;
using wire::Reader;
using wire::Token;
using wire::TokenType;

using Int = __int128;
using Size = unsigned __int128;

constexpr std::size_t kMostBytes = sizeof(Int);

// Reads an int, or a reference to one. False, with any token, for other values.
bool read_int(Reader& reader, const Envelope& envelope, Token& token) {
  if (!reader.next(token)) return false;
  std::uint64_t number = 0;
  if (is_reference(envelope, token, number) &&
      envelope.shared[number] < envelope.payload.bytes.size()) {
    Reader target(envelope.payload.bytes.subspan(envelope.shared[number]));
    if (!target.next(token)) return false;
  }
  return token.type == TokenType::kBoolean || token.type == TokenType::kInteger ||
         token.type == TokenType::kUnsigned || token.is(ExtType::kInteger);
}

// Nothing for an int of more than 128 bits.
std::optional<Int> value_of(const Token& token) {
  if (token.type == TokenType::kUnsigned) return token.unsigned_integer;
  if (token.type != TokenType::kExtension) return token.integer;
  if (token.bytes.size() > kMostBytes) return std::nullopt;
  Size value = token.bytes.empty() || token.bytes[0] < 0x80 ? 0 : ~Size{0};
  for (const std::uint8_t byte : token.bytes) value = value << 8 | byte;
  return static_cast<Int>(value);
}

std::uint64_t length_of(Int start, Int stop, Int step) {
  const bool ascends = step > 0;
  if (step == 0 || (ascends ? start >= stop : start <= stop)) return 0;
  const Size distance = ascends ? Size(stop) - Size(start) : Size(start) - Size(stop);
  const Size stride = ascends ? Size(step) : -Size(step);
  return static_cast<std::uint64_t>(
      std::min<Size>((distance - 1) / stride + 1, UINT64_MAX));
}

}  // namespace

std::uint64_t range_length(Reader reader, const Envelope& envelope) {
  Token start;
  Token stop;
  Token step;
  if (!read_int(reader, envelope, start) || !read_int(reader, envelope, stop) ||
      !read_int(reader, envelope, step)) {
    return 0;
  }
  const auto first = value_of(start);
  const auto last = value_of(stop);
  const auto stride = value_of(step);
  return first && last && stride ? length_of(*first, *last, *stride) : UINT64_MAX;
}

}  // namespace waybill::envelope
