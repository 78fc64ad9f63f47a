// Reads msgpack token by token. next() and skip() share the table of lead.h; skip()
// never examines the content of a scalar.
// Tested by tests/wire/reader_test.cpp; msgpack-c is its oracle.

#include "wire/reader.h"

#include <string>
#include <vector>

#include "wire/lead.h"

namespace waybill::wire {
namespace {

std::string_view describe(TokenType type) {
  constexpr std::string_view kNames[] = {
      "nil",      "a boolean", "an integer", "an integer beyond 63 bits",
      "a float",  "text",      "binary",     "an extension",
      "an array", "a map"};
  static_assert(std::size(kNames) == static_cast<std::size_t>(TokenType::kMap) + 1);
  return kNames[static_cast<std::size_t>(type)];
}

}  // namespace

Reader::Reader(BytesView bytes, const Limits& limits, std::size_t base)
    : bytes_(bytes),
      base_(base),
      values_left_(limits.max_values),
      max_depth_(limits.max_depth) {}

bool Reader::fail(Error error) {
  if (has_failed_) return false;
  has_failed_ = true;
  error_ = std::move(error);
  return false;
}

bool Reader::fail_truncated(std::uint64_t wanted, std::string_view what) {
  return fail(ErrorCode::kTruncated, offset(),
              std::to_string(wanted) + " " + std::string(what) +
                  " are announced, and " + std::to_string(left()) +
                  " bytes are left: the input is incomplete");
}

bool Reader::next(Token& token) {
  if (has_failed_) return false;
  if (at_end()) {
    return fail(ErrorCode::kTruncated, offset(),
                "the input ends where a value should start");
  }
  if (values_left_ == 0) {
    return fail(ErrorCode::kLimitExceeded, offset(),
                "the input has more values than max_values allows");
  }

  const std::uint8_t* at = bytes_.data() + position_;
  const Lead& lead = kLeads[*at];
  token.offset = offset();
  if (lead.head > left()) return fail_truncated(lead.head, "bytes");
  if (lead.counts == Counts::kNothing) {
    set_scalar(token, at);
  } else if (lead.counts == Counts::kBytes) {
    const std::uint64_t length = length_of(lead, at);
    if (length > left() - lead.head) return fail_truncated(length, "bytes");
    token.type = bytes_type(*at);
    token.ext_type = static_cast<std::int8_t>(at[lead.head - 1]);
    token.bytes = bytes_.subspan(position_ + lead.head, length);
    position_ += length;
  } else if (lead.counts == Counts::kInvalid) {
    return fail(ErrorCode::kMalformed, offset(), "0xc1 is not a msgpack value");
  } else {
    const bool is_map = lead.counts == Counts::kPairs;
    token.type = is_map ? TokenType::kMap : TokenType::kArray;
    token.count = length_of(lead, at);
    const std::uint64_t items = is_map ? token.count * 2 : token.count;
    if (items > left() - lead.head) return fail_truncated(items, "values");
  }
  position_ += lead.head;
  --values_left_;
  return true;
}

bool Reader::skip() {
  if (has_failed_) return false;
  // Values left at each level; small depths stay off the heap.
  constexpr std::size_t kInlineLevels = 32;
  std::uint64_t inline_levels[kInlineLevels];
  std::vector<std::uint64_t> heap_levels;
  std::size_t depth = 0;
  std::uint64_t pending = 1;

  for (;;) {
    while (pending == 0) {
      if (depth == 0) return true;
      --depth;
      if (depth < kInlineLevels) {
        pending = inline_levels[depth];
      } else {
        pending = heap_levels.back();
        heap_levels.pop_back();
      }
    }
    if (at_end() || values_left_ == 0) {
      Token token;
      return next(token);
    }
    const std::uint8_t* at = bytes_.data() + position_;
    const Lead& lead = kLeads[*at];
    if (lead.head > left()) return fail_truncated(lead.head, "bytes");
    std::uint64_t items = 0;
    if (lead.counts == Counts::kBytes) {
      const std::uint64_t length = length_of(lead, at);
      if (length > left() - lead.head) return fail_truncated(length, "bytes");
      position_ += length;
    } else if (lead.counts == Counts::kInvalid) {
      return fail(ErrorCode::kMalformed, offset(), "0xc1 is not a msgpack value");
    } else if (lead.counts != Counts::kNothing) {
      items = length_of(lead, at) << (lead.counts == Counts::kPairs ? 1 : 0);
      if (items > left() - lead.head) return fail_truncated(items, "values");
      if (items != 0 && depth == max_depth_) {
        return fail(ErrorCode::kLimitExceeded, offset(),
                    "containers are nested deeper than max_depth allows: " +
                        std::to_string(max_depth_));
      }
    }
    position_ += lead.head;
    --values_left_;
    --pending;
    if (items == 0) continue;
    if (depth < kInlineLevels) {
      inline_levels[depth] = pending;
    } else {
      heap_levels.push_back(pending);
    }
    ++depth;
    pending = items;
  }
}

std::uint64_t Reader::skip_plain(std::uint64_t count, std::size_t stop) {
  if (has_failed_ || values_left_ < left()) return count;
  const std::uint8_t* at = bytes_.data() + position_;
  const std::uint8_t* const end = bytes_.data() + bytes_.size();
  const std::uint8_t* const last =
      bytes_.data() + std::min(stop - base_, bytes_.size());
  std::size_t skipped = 0;
  for (; count != 0 && at < last; --count, ++skipped) {
    if ((*at & 0xe0) == 0xa0) {  // Most values are short text.
      const std::size_t length = *at & 0x1f;
      if (length >= static_cast<std::size_t>(end - at)) break;
      if (!is_utf8(as_text({at + 1, length}))) break;
      at += 1 + length;
      continue;
    }
    const Lead& lead = kLeads[*at];
    if (lead.head > end - at) break;
    if (lead.counts == Counts::kNothing) {
      at += lead.head;
      continue;
    }
    const auto after_head = static_cast<std::uint64_t>(end - at - lead.head);
    if (lead.counts == Counts::kBytes) {
      const std::uint64_t length = length_of(lead, at);
      const TokenType type = bytes_type(*at);
      if (length > after_head || type == TokenType::kExtension) break;
      if (type == TokenType::kText && !is_utf8(as_text({at + lead.head, length})))
        break;
      at += lead.head + length;
      continue;
    }
    if (lead.counts == Counts::kInvalid) break;
    const bool is_map = lead.counts == Counts::kPairs;
    const std::uint64_t items = length_of(lead, at) << (is_map ? 1 : 0);
    if (items > after_head || (!is_map && starts_node(at + lead.head, end))) break;
    at += lead.head;
    count += items;
  }
  position_ = static_cast<std::size_t>(at - bytes_.data());
  values_left_ -= skipped;
  return count;
}

bool Reader::take(BytesView& bytes, std::uint64_t count) {
  if (has_failed_) return false;
  if (count > left()) return fail_truncated(count, "bytes");
  bytes = bytes_.subspan(position_, count);
  position_ += count;
  return true;
}

bool Reader::fail_type(const Token& token, std::string_view wanted,
                       std::string_view what) {
  return fail(ErrorCode::kMalformed, token.offset,
              std::string(what) + " should be " + std::string(wanted) + " and is " +
                  std::string(describe(token.type)));
}

bool Reader::read_any_array(std::uint64_t& count, std::string_view what) {
  Token token;
  if (!next(token)) return false;
  if (token.type != TokenType::kArray) return fail_type(token, "an array", what);
  count = token.count;
  return true;
}

bool Reader::read_any_map(std::uint64_t& count, std::string_view what) {
  Token token;
  if (!next(token)) return false;
  if (token.type != TokenType::kMap) return fail_type(token, "a map", what);
  count = token.count;
  return true;
}

bool Reader::read_any_unsigned(std::uint64_t& value, std::uint64_t max,
                               std::string_view what) {
  Token token;
  if (!next(token)) return false;
  const bool is_integer = token.type == TokenType::kInteger && token.integer >= 0;
  if (!is_integer && token.type != TokenType::kUnsigned) {
    return fail_type(token, "an unsigned integer", what);
  }
  value =
      is_integer ? static_cast<std::uint64_t>(token.integer) : token.unsigned_integer;
  if (value > max) {
    return fail(ErrorCode::kMalformed, token.offset,
                std::string(what) + " is " + std::to_string(value) +
                    " and should be at most " + std::to_string(max));
  }
  return true;
}

bool Reader::read_any_text(std::string_view& value, std::string_view what) {
  Token token;
  if (!next(token)) return false;
  if (token.type != TokenType::kText) return fail_type(token, "text", what);
  value = token.text();
  return true;
}

bool Reader::read_any_binary(BytesView& value, std::string_view what) {
  Token token;
  if (!next(token)) return false;
  if (token.type != TokenType::kBinary) return fail_type(token, "binary", what);
  value = token.bytes;
  return true;
}

bool Reader::read_node_tag(std::uint8_t& tag) {
  if (has_failed_ || values_left_ == 0) return false;
  const std::uint8_t* at = bytes_.data() + position_;
  if (!starts_node(at, bytes_.data() + bytes_.size())) return false;
  tag = at[2];
  position_ += 3;
  --values_left_;
  return true;
}

}  // namespace waybill::wire
