#pragma once

// One msgpack value without what it holds, and what its first bytes make of it.

#include <bit>
#include <cstdint>
#include <string_view>

#include "waybill/bytes.h"
#include "wire/format.h"
#include "wire/lead.h"

namespace waybill::wire {

enum class TokenType : std::uint8_t {
  kNil,
  kBoolean,    // integer: 0 or 1
  kInteger,    // integer: fits std::int64_t
  kUnsigned,   // unsigned_integer: beyond std::int64_t
  kReal,       // real
  kText,       // bytes: UTF-8, not checked
  kBinary,     // bytes
  kExtension,  // bytes, and its type in ext_type
  kArray,      // count items follow
  kMap,        // count pairs follow
};

struct Token {
  TokenType type;
  std::int8_t ext_type;
  std::size_t offset;  // Of the token's first byte, counted as Reader::offset().
  union {
    std::int64_t integer;
    std::uint64_t unsigned_integer;
    double real;
    std::uint64_t count;
  };
  BytesView bytes;  // kText, kBinary, kExtension; points into the input.

  bool is(ExtType extension) const {
    return type == TokenType::kExtension &&
           ext_type == static_cast<std::int8_t>(extension);
  }
  std::string_view text() const {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }
};

inline void set_signed(Token& token, std::int64_t value) {
  token.type = TokenType::kInteger;
  token.integer = value;
}

inline void set_unsigned(Token& token, std::uint64_t value) {
  if (value > INT64_MAX) {
    token.type = TokenType::kUnsigned;
    token.unsigned_integer = value;
  } else {
    set_signed(token, static_cast<std::int64_t>(value));
  }
}

// A value that counts nothing: all of it stands at `at`.
inline void set_scalar(Token& token, const std::uint8_t* at) {
  switch (*at) {
    case 0xc0:
      token.type = TokenType::kNil;
      return;
    case 0xc2:
    case 0xc3:
      token.type = TokenType::kBoolean;
      token.integer = *at & 1;
      return;
    case 0xca:
      token.type = TokenType::kReal;
      token.real =
          std::bit_cast<float>(static_cast<std::uint32_t>(big_endian(at + 1, 4)));
      return;
    case 0xcb:
      token.type = TokenType::kReal;
      token.real = std::bit_cast<double>(big_endian(at + 1, 8));
      return;
    case 0xcc:
      return set_unsigned(token, at[1]);
    case 0xcd:
      return set_unsigned(token, big_endian(at + 1, 2));
    case 0xce:
      return set_unsigned(token, big_endian(at + 1, 4));
    case 0xcf:
      return set_unsigned(token, big_endian(at + 1, 8));
    case 0xd0:
      return set_signed(token, static_cast<std::int8_t>(at[1]));
    case 0xd1:
      return set_signed(token, static_cast<std::int16_t>(big_endian(at + 1, 2)));
    case 0xd2:
      return set_signed(token, static_cast<std::int32_t>(big_endian(at + 1, 4)));
    case 0xd3:
      return set_signed(token, static_cast<std::int64_t>(big_endian(at + 1, 8)));
    default:
      return set_signed(token, static_cast<std::int8_t>(*at));  // fixint
  }
}

// What a value that counts bytes is.
inline TokenType bytes_type(std::uint8_t first) {
  if (first < 0xc0 || (first >= 0xd9 && first <= 0xdb)) return TokenType::kText;
  return first <= 0xc6 ? TokenType::kBinary : TokenType::kExtension;
}

}  // namespace waybill::wire
