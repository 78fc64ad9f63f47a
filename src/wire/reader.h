#pragma once

// Reads msgpack one token at a time, and says where each one stands.
//
// msgpack-c's parser pushes values into a visitor and tells no positions; the decoder
// has to pull, because it keeps its own stack, and every error names its byte. So the
// tokens are taken apart here, and msgpack-c is the oracle of the tests.

#include <cstdint>
#include <string>
#include <string_view>

#include "waybill/error.h"
#include "waybill/limits.h"
#include "wire/format.h"
#include "wire/token.h"

namespace waybill::wire {

// Errors stick: after the first one every call returns false and error() tells it. A
// failure of the reader's user is put there by fail(), so there is one error per
// reader. Not thread-safe; the input must outlive the reader and its tokens.
class Reader {
 public:
  // `base` is added to every offset: the position of `bytes` in a larger input.
  explicit Reader(BytesView bytes, const Limits& limits = {}, std::size_t base = 0);

  // Reads one token. An array or map of n is refused unless n (2n) bytes are left;
  // text, binary and extension unless their bytes are there. Counts the value against
  // limits.max_values. Errors: kTruncated, kMalformed (0xc1), kLimitExceeded.
  bool next(Token& token);

  // Reads one value whole, containers with all they hold; keeps count of depth.
  bool skip();

  // next(), refusing with kMalformed what is not of the type (or range) asked for;
  // `what` names the value in the error, e.g. "the manifest".
  bool read_array(std::uint64_t& count, std::string_view what);
  bool read_map(std::uint64_t& count, std::string_view what);
  bool read_unsigned(std::uint64_t& value, std::uint64_t max, std::string_view what);
  bool read_text(std::string_view& value, std::string_view what);
  bool read_binary(BytesView& value, std::string_view what);

  // Whether the next byte is there and is this one.
  bool starts_with(std::uint8_t byte) const {
    return !failed_ && !at_end() && bytes_[position_] == byte;
  }

  // The next `count` bytes, whatever they are. Error: kTruncated.
  bool take(BytesView& bytes, std::uint64_t count);

  // True, and consumed, if the next bytes are the extension that starts a node; so
  // callers can ask right after an array token. `tag` is not checked.
  bool take_node_tag(std::uint8_t& tag);

  // Sets the error unless there is one. Returns false, for `return reader.fail(…)`.
  bool fail(ErrorCode code, std::size_t offset, std::string detail);

  bool failed() const { return failed_; }
  const Error& error() const { return error_; }
  std::size_t offset() const { return base_ + position_; }
  std::size_t left() const { return bytes_.size() - position_; }
  bool at_end() const { return position_ == bytes_.size(); }

 private:
  bool fail_short(std::uint64_t wanted, std::string_view what);
  bool fail_type(const Token& token, std::string_view wanted, std::string_view what);

  BytesView bytes_;
  std::size_t position_ = 0;
  std::size_t base_;
  std::size_t values_left_;
  std::size_t max_depth_;
  bool failed_ = false;
  Error error_{};
};

// The number in an extension that holds an index (kReference, kModule): 1, 2, 4 or 8
// bytes, big-endian. False if it has another length.
bool index_of(BytesView bytes, std::uint64_t& value);

}  // namespace waybill::wire
