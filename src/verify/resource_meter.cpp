// The estimates are the sizes of objects in CPython 3.11 to 3.15 on 64-bit machines.
// They include the rounding of the allocator, the free slots of hash tables, the old
// table while one grows, and the decoder's own memory.
// tests/python/untrusted/test_memory_bound.py compares them with measurements. Tested
// by tests/verify/limits_test.cpp.

#include "verify/resource_meter.h"

#include <algorithm>
#include <optional>
#include <string>

#include "format/definitions.h"

namespace waybill::envelope {
namespace {

using Int = __int128;
using Size = unsigned __int128;
using wire::ExtType;
using wire::NodeTag;
using wire::Reader;
using wire::Token;
using wire::TokenType;

// Bytes of an empty object, and of each item in it.
struct Weight {
  std::uint64_t base;
  std::uint64_t each;
};

constexpr Weight kNumber = {48, 0};
// One code point of four bytes makes all others four bytes wide, and the decoder's copy
// of the text grows by reallocation.
constexpr Weight kTextBytes = {96, 8};
constexpr Weight kBinaryBytes = {80, 1};
constexpr Weight kExtensionBytes = {96, 8};
constexpr Weight kList = {96, 8};
constexpr Weight kTuple = {64, 8};
constexpr Weight kMap = {288, 112};
constexpr Weight kSet = {448, 176};
constexpr Weight kOther = {512,
                           // Objects built by calls, and code, take more than this.
                           64};

// Bytes of decoder frames for each level of nesting; their arrays grow by doubling.
constexpr std::uint64_t kFrame = 1024;
// Long text counts as one more unfolded value for this many bytes.
constexpr std::size_t kBytesPerValue = 16;
// Bytes of table rows for each reference target.
constexpr std::uint64_t kTarget = 160;

constexpr std::uint64_t memory_of(const Weight& weight, std::uint64_t count) {
  return weight.base + weight.each * count;
}

std::uint64_t leaf_memory(const Token& token) {
  switch (token.type) {
    case TokenType::kText:
      return memory_of(kTextBytes, token.bytes.size());
    case TokenType::kBinary:
      return memory_of(kBinaryBytes, token.bytes.size());
    case TokenType::kExtension:
      return memory_of(kExtensionBytes, token.bytes.size());
    case TokenType::kInteger:  // CPython preallocates small ints.
      return token.integer >= -5 && token.integer <= 256 ? 0 : kNumber.base;
    case TokenType::kUnsigned:
    case TokenType::kReal:
      return kNumber.base;
    default:
      return 0;
  }
}

// `tag`: of a node; 0 for other containers.
const Weight& weight_of(const Token& container, std::uint8_t tag) {
  if (tag == 0) return container.type == TokenType::kMap ? kMap : kList;
  switch (static_cast<NodeTag>(tag)) {
    case NodeTag::kTuple:
      return kTuple;
    case NodeTag::kSet:
    case NodeTag::kFrozenSet:
      return kSet;
    default:
      return kOther;
  }
}

// `excess` is the start of a sentence: "an int has more bytes".
bool fail_limit(Reader& reader, std::size_t offset, const char* limit,
                std::uint64_t maximum, const char* excess) {
  return reader.fail(
      ErrorCode::kLimitExceeded, offset,
      std::string(excess) + " than " + limit + " allows: " + std::to_string(maximum));
}

constexpr std::size_t kMaxIntBytes = sizeof(Int);

// Reads an int, or a reference to one. False for other values; `token` is undefined.
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

// The value of an int; nothing if it has more than 128 bits.
std::optional<Int> value_of(const Token& token) {
  if (token.type == TokenType::kUnsigned) return token.unsigned_integer;
  if (token.type != TokenType::kExtension) return token.integer;
  if (token.bytes.size() > kMaxIntBytes) return std::nullopt;
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

ResourceMeter::ResourceMeter(const Limits& limits, std::size_t targets)
    : limits_(limits), memory_(targets * kTarget), sizes_(targets, 1) {}

bool ResourceMeter::is_needed(const Limits& limits) {
  return std::min({limits.max_text, limits.max_integer, limits.max_items,
                   limits.max_memory, limits.max_unfolded}) != Limits::kNone;
}

bool ResourceMeter::charge(Reader& reader, std::size_t offset, std::uint64_t memory,
                           std::uint64_t unfolded) {
  // A head opened alone may claim buffers of any length, so the sum saturates.
  memory_ += std::min(memory, UINT64_MAX - memory_);
  if (memory_ > limits_.max_memory) {
    return fail_limit(reader, offset, "max_memory", limits_.max_memory,
                      "the payload would take more bytes of memory");
  }
  const std::uint64_t left = limits_.max_unfolded - unfolded_;
  unfolded_ += std::min(unfolded, left);
  return unfolded <= left || limits_.max_unfolded == Limits::kNone ||
         fail_limit(reader, offset, "max_unfolded", limits_.max_unfolded,
                    "the payload has more values, counted at each reference,");
}

bool ResourceMeter::add_leaf(Reader& reader, const Token& token) {
  if (token.type >= TokenType::kText && token.bytes.size() > limits_.max_text) {
    return fail_limit(reader, token.offset, "max_text", limits_.max_text,
                      "a text or binary has more bytes");
  }
  if (token.is(wire::ExtType::kInteger) && token.bytes.size() > limits_.max_integer) {
    return fail_limit(reader, token.offset, "max_integer", limits_.max_integer,
                      "an int has more bytes");
  }
  const bool has_bytes = token.type >= TokenType::kText;
  return charge(reader, token.offset, leaf_memory(token),
                1 + (has_bytes ? token.bytes.size() / kBytesPerValue : 0));
}

bool ResourceMeter::add_container(Reader& reader, const Token& token, std::uint8_t tag,
                                  std::uint64_t count, std::size_t depth,
                                  std::uint64_t more) {
  if (count > limits_.max_items) {
    return fail_limit(reader, token.offset, "max_items", limits_.max_items,
                      "a container has more items");
  }
  std::uint64_t memory = memory_of(weight_of(token, tag), count);
  if (depth > max_depth_) {
    memory += kFrame;
    max_depth_ = depth;
  }
  const std::uint64_t unfolded = more == UINT64_MAX ? more : 1 + more;
  return charge(reader, token.offset, memory, unfolded);
}

bool ResourceMeter::add_stored(Reader& reader, std::size_t offset,
                               const StoredBuffer& buffer) {
  const bool is_text = buffer.kind == wire::BufferKind::kBytes ||
                       buffer.kind == wire::BufferKind::kByteArray;
  if (is_text && buffer.length > limits_.max_text) {
    return fail_limit(reader, offset, "max_text", limits_.max_text,
                      "a text or binary has more bytes");
  }
  return charge(reader, offset, memory_of(kBinaryBytes, buffer.length),
                is_text ? buffer.length / kBytesPerValue : 0);
}

void ResourceMeter::start_target(std::uint64_t number, std::size_t depth) {
  open_targets_.push_back({number, depth, unfolded_});
}

void ResourceMeter::close_last_target() {
  const OpenTarget& last = open_targets_.back();
  sizes_[last.number] = unfolded_ - last.unfolded_before;
  open_targets_.pop_back();
}

bool ResourceMeter::add_reference(Reader& reader, std::size_t offset,
                                  std::uint64_t number) {
  return charge(reader, offset, 0, sizes_[number]);
}

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
