#pragma once

// Reads msgpack one token at a time, with the offset of each.
//
// msgpack-c's parser pushes values into a visitor and gives no offsets. The decoder has
// to pull, because it keeps its own stack, and every error names its byte. So tokens
// are read here, and msgpack-c is the oracle of the tests.

#include <algorithm>
#include <bit>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "waybill/error.h"
#include "waybill/limits.h"
#include "wire/format.h"
#include "wire/lead.h"
#include "wire/utf8.h"

namespace waybill::wire {

enum class TokenType : std::uint8_t {
  kNil,
  kBoolean,    // integer: 0 or 1
  kInteger,    // integer: fits std::int64_t
  kUnsigned,   // unsigned_integer: beyond std::int64_t
  kReal,       // real
  kText,       // bytes; whether they are UTF-8 is not checked
  kBinary,     // bytes
  kExtension,  // bytes, and its type in ext_type
  kArray,      // count items follow
  kMap,        // count pairs follow
};

struct Token {
  TokenType type;
  std::int8_t ext_type;
  std::size_t offset;  // The offset of its first byte; see Reader::offset().
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
  std::string_view text() const { return as_text(bytes); }
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

// Sets the token to the scalar at `at`, all of whose bytes must be readable.
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
          std::bit_cast<float>(static_cast<std::uint32_t>(read_big_endian(at + 1, 4)));
      return;
    case 0xcb:
      token.type = TokenType::kReal;
      token.real = std::bit_cast<double>(read_big_endian(at + 1, 8));
      return;
    case 0xcc:
      return set_unsigned(token, at[1]);
    case 0xcd:
      return set_unsigned(token, read_big_endian(at + 1, 2));
    case 0xce:
      return set_unsigned(token, read_big_endian(at + 1, 4));
    case 0xcf:
      return set_unsigned(token, read_big_endian(at + 1, 8));
    case 0xd0:
      return set_signed(token, static_cast<std::int8_t>(at[1]));
    case 0xd1:
      return set_signed(token, static_cast<std::int16_t>(read_big_endian(at + 1, 2)));
    case 0xd2:
      return set_signed(token, static_cast<std::int32_t>(read_big_endian(at + 1, 4)));
    case 0xd3:
      return set_signed(token, static_cast<std::int64_t>(read_big_endian(at + 1, 8)));
    default:
      return set_signed(token, static_cast<std::int8_t>(*at));  // fixint
  }
}

// The type of a value that has a length in bytes, by its lead byte.
inline TokenType bytes_type(std::uint8_t first) {
  if (first < 0xc0 || (first >= 0xd9 && first <= 0xdb)) return TokenType::kText;
  return first <= 0xc6 ? TokenType::kBinary : TokenType::kExtension;
}

// The lead byte of an extension of one byte; those of 2, 4 and 8 bytes are the next
// numbers.
inline constexpr std::uint8_t kFixedExtension = 0xd4;

// Whether the bytes at `at` are the extension that starts a node; its tag is the third
// byte.
inline bool starts_node(const std::uint8_t* at, const std::uint8_t* end) {
  return end - at >= 3 && at[0] == kFixedExtension &&
         at[1] == static_cast<std::uint8_t>(ExtType::kNode);
}

// Errors are sticky: after the first one every call returns false, and error() holds
// it. Users report their own errors by fail(), so a reader has one error. Not
// thread-safe; the input must outlive the reader and its tokens.
class Reader {
 public:
  // `base` is added to every offset: the position of `bytes` in a larger input.
  explicit Reader(BytesView bytes, const Limits& limits = {}, std::size_t base = 0);

  // Reads one token. Refuses an array of n items or a map of n pairs unless n or 2n
  // bytes are left, and text, binary and extensions unless all their bytes are. Counts
  // the value against limits.max_values.
  // Errors: kTruncated, kMalformed (0xc1), kLimitExceeded.
  bool next(Token& token);

  // Skips one value with everything in it, and enforces max_depth.
  bool skip();
  // Skips `count` values.
  bool skip_values(std::uint64_t count) {
    while (count-- != 0) {
      if (!skip()) return false;
    }
    return true;
  }

  // next(), which refuses a value of another type (or range) with kMalformed; `what`
  // names the value in the error, e.g. "the manifest". A length in the lead byte, by
  // far the most frequent case, is read inline.
  bool read_array(std::uint64_t& count, std::string_view what) {
    return read_short(0x90, 0x0f, 1, count) || read_any_array(count, what);
  }
  // Reads an array into `list`: each value by `read`, which returns false with an error
  // in this reader. The count may be hostile, so memory is reserved for no more values
  // of `min_size` bytes than the input can hold.
  template <typename Value, typename Read>
  bool read_list(std::vector<Value>& list, std::string_view what, Read read,
                 std::size_t min_size = 1) {
    std::uint64_t count = 0;
    if (!read_array(count, what)) return false;
    list.reserve(std::min<std::uint64_t>(count, left() / min_size));
    for (; count != 0; --count) {
      if (!read(list.emplace_back())) return false;
    }
    return true;
  }
  // Reads the start of an array of at least `min_count` values. `more` is the number of
  // further values, which a later format may append; the caller skips them with
  // skip_values(). `if_short` is the error for a shorter array.
  bool read_row(std::uint64_t min_count, std::uint64_t& more, std::string_view what,
                const char* if_short) {
    const std::size_t start = offset();
    std::uint64_t count = 0;
    if (!read_array(count, what)) return false;
    more = count - min_count;
    return count >= min_count || fail(ErrorCode::kMalformed, start, if_short);
  }
  bool read_map(std::uint64_t& count, std::string_view what) {
    return read_short(0x80, 0x0f, 2, count) || read_any_map(count, what);
  }
  bool read_unsigned(std::uint64_t& value, std::uint64_t max, std::string_view what) {
    if (starts_below(0x80) && bytes_[position_] <= max) {
      return read_short(0x00, 0x7f, 0, value);
    }
    return read_any_unsigned(value, max, what);
  }
  bool read_text(std::string_view& value, std::string_view what) {
    value = short_text();
    return value.data() != nullptr ? skip_short_text(value)
                                   : read_any_text(value, what);
  }
  bool read_binary(BytesView& value, std::string_view what) {
    constexpr std::uint8_t kShortBinary = 0xc4;
    const std::size_t size = left();
    if (has_failed_ || size < 2 || bytes_[position_] != kShortBinary ||
        bytes_[position_ + 1] > size - 2 || values_left_ == 0) {
      return read_any_binary(value, what);
    }
    value = bytes_.subspan(position_ + 2, bytes_[position_ + 1]);
    position_ += 2 + value.size();
    --values_left_;
    return true;
  }
  // The next value if it is text of less than 32 bytes, else null.
  std::string_view short_text() const {
    if (has_failed_ || at_end() || values_left_ == 0) return {};
    const std::uint8_t* at = bytes_.data() + position_;
    const std::size_t length = *at & 0x1f;
    if ((*at & ~0x1f) != 0xa0 || length > left() - 1) return {};
    return {reinterpret_cast<const char*>(at) + 1, length};
  }
  // Skips the text that short_text() returned.
  bool skip_short_text(std::string_view text) {
    position_ += 1 + text.size();
    --values_left_;
    return true;
  }
  // Skips a nil. Returns false, and reads nothing, if the next value is not nil.
  bool read_nil() { return skip_byte(kNilByte); }

  // Skips a nil, boolean or number. Returns false, and reads nothing, if the next value
  // is of another type.
  bool skip_scalar() {
    if (has_failed_ || at_end() || values_left_ == 0) return false;
    const Lead& lead = kLeads[bytes_[position_]];
    if (lead.counts != Counts::kNothing || lead.head > left()) return false;
    position_ += lead.head;
    --values_left_;
    return true;
  }

  // Skips plain data: nil, booleans, numbers, binary, text in UTF-8, and arrays and
  // maps of these that are no nodes. Reads `count` values with all that they contain,
  // up to the first that is something else or starts at the offset `stop`. Returns how
  // many values are left, those in open containers included. Reads nothing if the input
  // could exceed max_values; does not count the depth.
  std::uint64_t skip_plain(std::uint64_t count, std::size_t stop);

  // Whether a node in an array of up to 15 values is next, as most nodes are.
  bool is_short_node_next() const {
    const std::uint8_t* at = bytes_.data() + position_;
    return !at_end() && (*at & 0xf0) == 0x90 &&
           starts_node(at + 1, bytes_.data() + bytes_.size());
  }

  // Skips this one-byte value. Returns false, and reads nothing, if the next value is
  // another.
  bool skip_byte(std::uint8_t byte) {
    std::uint64_t nothing = 0;
    return read_short(byte, 0x00, 0, nothing);
  }

  // All bytes left, for lookahead.
  BytesView rest() const { return bytes_.subspan(position_); }

  // The next `count` bytes, whatever they are. Error: kTruncated.
  bool take(BytesView& bytes, std::uint64_t count);

  // Continues at this offset, which must not be before the present one. Skipped values
  // are not counted. Error: kTruncated.
  bool skip_to(std::size_t offset) {
    BytesView skipped;
    return take(skipped, offset - this->offset());
  }

  // Skips `size` bytes that hold `values` values. Returns false, and reads nothing, if
  // that exceeds the input or max_values.
  bool skip_bytes(std::size_t size, std::size_t values) {
    if (has_failed_ || size > left() || values > values_left_) return false;
    position_ += size;
    values_left_ -= values;
    return true;
  }

  // Consumes the extension that starts a node, if it is next; callers ask right after
  // an array token. `tag` is not checked.
  bool read_node_tag(std::uint8_t& tag);

  // Sets the error unless there is one. Returns false, for `return reader.fail(…)`.
  bool fail(ErrorCode code, std::size_t offset, std::string detail) {
    return fail({code, offset, std::move(detail)});
  }
  bool fail(Error error);

  // Replaces a kMalformed error by a more specific one; other errors stay. Returns
  // false.
  bool fail_as(ErrorCode code, std::size_t offset, std::string detail) {
    if (has_failed_ && error_.code == ErrorCode::kMalformed) has_failed_ = false;
    return fail(code, offset, std::move(detail));
  }

  bool failed() const { return has_failed_; }
  const Error& error() const { return error_; }
  std::size_t offset() const { return base_ + position_; }
  std::size_t left() const { return bytes_.size() - position_; }
  bool at_end() const { return position_ == bytes_.size(); }

 private:
  // Reads a value whose lead byte is `lead` with a number in the bits of `mask`; each
  // unit of it takes at least `width` bytes. Returns false, and reads nothing, if the
  // next value is another.
  [[gnu::always_inline]] bool read_short(std::uint8_t lead, std::uint8_t mask,
                                         std::size_t width, std::uint64_t& number) {
    if (has_failed_ || at_end() || values_left_ == 0) return false;
    const std::uint8_t first = bytes_[position_];
    if ((first & ~mask) != lead) return false;
    const std::uint64_t count = first & mask;
    if (count * width > left() - 1) return false;
    number = count;
    ++position_;
    --values_left_;
    return true;
  }

  // Whether the lead byte of the next value is less than `byte`.
  bool starts_below(std::uint8_t byte) const {
    return !has_failed_ && !at_end() && values_left_ != 0 && bytes_[position_] < byte;
  }

  bool read_any_array(std::uint64_t& count, std::string_view what);
  bool read_any_map(std::uint64_t& count, std::string_view what);
  bool read_any_unsigned(std::uint64_t& value, std::uint64_t max,
                         std::string_view what);
  bool read_any_text(std::string_view& value, std::string_view what);
  bool read_any_binary(BytesView& value, std::string_view what);
  bool fail_truncated(std::uint64_t wanted, std::string_view what);
  bool fail_type(const Token& token, std::string_view wanted, std::string_view what);

  BytesView bytes_;
  std::size_t position_ = 0;
  std::size_t base_;
  std::size_t values_left_;
  std::size_t max_depth_;
  bool has_failed_ = false;
  Error error_{};
};

// Reads the number of an extension that holds an index (kReference, kModule): 1, 2, 4
// or 8 bytes, big-endian. False for another length.
inline bool index_of(BytesView bytes, std::uint64_t& value) {
  const std::size_t size = bytes.size();
  if (size == 0 || size > 8 || (size & (size - 1)) != 0) return false;
  value = read_big_endian(bytes.data(), size);
  return true;
}

// Reads the number of a reference; false if the token is not one.
inline bool is_reference(const Token& token, std::uint64_t& number) {
  return token.is(ExtType::kReference) && index_of(token.bytes, number);
}

// The size of a reference at the start of `bytes`, in the writer's form; 0 if there is
// none or it is cut off. Its number follows the first two bytes.
inline std::size_t size_of_reference(BytesView bytes) {
  if (bytes.size() < 2 || (bytes[0] & ~3) != kFixedExtension ||
      bytes[1] != static_cast<std::uint8_t>(ExtType::kReference)) {
    return 0;
  }
  const std::size_t size = 2 + (std::size_t{1} << (bytes[0] & 3));
  return size <= bytes.size() ? size : 0;
}

}  // namespace waybill::wire
