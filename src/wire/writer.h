#pragma once

// Writes msgpack through msgpack-c's packer. The shortest form is always chosen, so
// equal values give equal bytes.
//
//   Writer writer;
//   writer.node(NodeTag::kTuple, 2);
//   writer.integer(1);
//   writer.text("one");

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <msgpack/pack.hpp>

#include "waybill/error.h"
#include "wire/format.h"
#include "wire/lead.h"
#include "wire/number.h"

namespace waybill::wire {

// The largest count or length of msgpack. Callers refuse larger ones.
inline constexpr std::size_t kMaxCount = 0xffffffff;

// The growing target of msgpack-c's packer. Not a vector: vector::insert() is a call
// for each token, and realloc() moves a large buffer without copying it. Small contents
// use inline memory.
class Buffer {
 public:
  Buffer() = default;
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  ~Buffer() {
    if (data_ != inline_) std::free(data_);
  }

  // Inlined where the size is constant, as it is for all heads and numbers: a call of
  // memcpy() costs more than they do.
  [[gnu::always_inline]] void write(const char* data, std::size_t size) {
    if (size > capacity_ - size_) [[unlikely]] {
      grow(size);
    }
    if (size != 0) std::memcpy(data_ + size_, data, size);
    size_ += size;
  }
  // Appends `size` bytes that the caller fills in; returns where they start.
  [[gnu::always_inline]] std::uint8_t* claim(std::size_t size) {
    if (size > capacity_ - size_) [[unlikely]] {
      grow(size);
    }
    size_ += size;
    return data_ + size_ - size;
  }
  // The caller writes up to `size` bytes at the returned address, and passes their end
  // to close().
  std::uint8_t* open(std::size_t size) {
    reserve(size);
    return data_ + size_;
  }
  void close(const std::uint8_t* end) { size_ = static_cast<std::size_t>(end - data_); }
  // Reserves memory for `size` more bytes.
  void reserve(std::size_t size) {
    if (size > capacity_ - size_) grow(size);
  }
  void clear() { size_ = 0; }
  void truncate(std::size_t size) { size_ = size; }

  std::size_t size() const { return size_; }
  std::size_t capacity() const { return capacity_; }
  BytesView view() const { return {data_, size_}; }

 private:
  static constexpr std::size_t kInlineSize = 192;

  // Not inlined, because callers seldom need it. Throws std::bad_alloc.
  [[gnu::noinline]] void grow(std::size_t size) {
    const std::size_t wanted = std::max(size_ + size, capacity_ * 2);
    const bool is_inline = data_ == inline_;
    void* moved = std::realloc(is_inline ? nullptr : data_, wanted);
    if (moved == nullptr) throw std::bad_alloc();
    if (is_inline) std::memcpy(moved, inline_, size_);
    data_ = static_cast<std::uint8_t*>(moved);
    capacity_ = wanted;
  }

  std::uint8_t* data_ = inline_;
  std::size_t size_ = 0;
  std::size_t capacity_ = kInlineSize;
  std::uint8_t inline_[kInlineSize];
};

// A target in memory that is known to be large enough.
struct Cursor {
  std::uint8_t* at = nullptr;

  void write(const char* data, std::size_t size) {
    if (size != 0) std::memcpy(at, data, size);
    at += size;
  }
  std::uint8_t* claim(std::size_t size) { return std::exchange(at, at + size); }
};

// Writes tokens to either target.
template <typename Target>
class BasicWriter {
 public:
  BasicWriter() = default;
  explicit BasicWriter(Target target) : target_(target) {}

  void nil() { packer_.pack_nil(); }
  void boolean(bool value) { value ? packer_.pack_true() : packer_.pack_false(); }
  void integer(std::int64_t value) {
    if (value >= -32 && value < 128) {  // fixint
      const std::uint8_t byte[] = {static_cast<std::uint8_t>(value)};
      append(byte);
    } else {
      packer_.pack_int64(value);
    }
  }
  void unsigned_integer(std::uint64_t value) { packer_.pack_uint64(value); }
  // Not by pack_double(): msgpack-c 4 writes 1.0 as the integer 1, and -0.0 as 0.
  void real(double value) { put_real(target_.claim(kMaxNumberSize), value); }
  void array(std::size_t count) {
    packer_.pack_array(static_cast<std::uint32_t>(count));
  }
  void map(std::size_t count) { packer_.pack_map(static_cast<std::uint32_t>(count)); }

  // Inlined into the loops over containers, which hold mostly text.
  [[gnu::always_inline]] void text(std::string_view value) {
    if (value.size() < 32) {  // fixstr: most keys and names.
      const std::uint8_t head[] = {static_cast<std::uint8_t>(0xa0 | value.size())};
      append(head);
    } else {
      packer_.pack_str(static_cast<std::uint32_t>(value.size()));
    }
    target_.write(value.data(), value.size());
  }
  void binary(BytesView value) {
    binary_head(value.size());
    append(value);
  }
  // The head of a binary of `size` bytes.
  void binary_head(std::size_t size) {
    packer_.pack_bin(static_cast<std::uint32_t>(size));
  }
  void extension(ExtType type, BytesView value) {
    packer_.pack_ext(value.size(), static_cast<std::int8_t>(type));
    append(value);
  }

  // Writes an extension that holds an index (kReference, kModule), in the shortest of
  // 1, 2, 4 and 8 bytes.
  void index(ExtType type, std::uint64_t value) {
    const unsigned log = value <= 0xff         ? 0
                         : value <= 0xffff     ? 1
                         : value <= 0xffffffff ? 2
                                               : 3;
    const std::size_t width = std::size_t{1} << log;
    std::uint8_t* at = target_.claim(2 + width);
    at[0] = static_cast<std::uint8_t>(0xd4 + log);  // fixext of 1, 2, 4 or 8 bytes
    at[1] = static_cast<std::uint8_t>(type);
    for (std::size_t i = 0; i < width; ++i) {
      at[2 + i] = static_cast<std::uint8_t>(value >> (8 * (width - 1 - i)));
    }
  }
  void singleton(Singleton value) {
    byte_extension(ExtType::kSingleton, static_cast<std::uint8_t>(value));
  }
  // Starts a node: an array of the tag and `count` values, which the caller writes.
  void node(NodeTag tag, std::size_t count) {
    array(count + 1);
    byte_extension(ExtType::kNode, static_cast<std::uint8_t>(tag));
  }
  // Appends encoded msgpack.
  void append(BytesView raw) {
    target_.write(reinterpret_cast<const char*>(raw.data()), raw.size());
  }
  // Appends encoded msgpack with insertions, which are in order of their offsets.
  void append(BytesView raw, std::span<const Insertion> insertions) {
    std::size_t written = 0;
    for (const Insertion& insertion : insertions) {
      append(raw.subspan(written, insertion.offset - written));
      append(insertion.bytes);
      written = insertion.offset;
    }
    append(raw.subspan(written));
  }
  template <std::size_t kSize>
  [[gnu::always_inline]] void append(const std::uint8_t (&raw)[kSize]) {
    target_.write(reinterpret_cast<const char*>(raw), kSize);
  }

 protected:
  Target target_;

 private:
  void byte_extension(ExtType type, std::uint8_t value) {
    const std::uint8_t bytes[] = {0xd4, static_cast<std::uint8_t>(type), value};
    append(bytes);
  }

  msgpack::packer<Target> packer_{target_};
};

// Writes into its own buffer. Neither copied nor moved.
class Writer final : public BasicWriter<Buffer> {
 public:
  // The size with insertions.
  std::size_t size() const { return target_.size() + inserted_size_; }
  std::size_t capacity() const { return target_.capacity(); }
  // The written bytes without insertions. Valid until the next write.
  BytesView view() const { return target_.view(); }
  // Drops everything written since view() had this size; there must have been no
  // insertion since.
  void truncate(std::size_t size) { target_.truncate(size); }
  // Drops the content, and keeps the memory.
  void clear() {
    target_.clear();
    insertions_.clear();
    inserted_size_ = 0;
  }

  // Inserts bytes without copying them: they must outlive this writer unchanged, and
  // readers of view() have to apply insertions().
  void append_in_place(BytesView raw) {
    insertions_.push_back({target_.size(), raw});
    inserted_size_ += raw.size();
  }
  const std::vector<Insertion>& insertions() const { return insertions_; }

  void reserve(std::size_t size) { target_.reserve(size); }
  // For callers that write many tokens directly; see wire/number.h.
  std::uint8_t* open(std::size_t size) { return target_.open(size); }
  void close(const std::uint8_t* end) { target_.close(end); }
  // A copy of the bytes; the writer is empty afterwards.
  std::vector<std::uint8_t> take() {
    const BytesView bytes = view();
    std::vector<std::uint8_t> copy(bytes.begin(), bytes.end());
    clear();
    return copy;
  }

 private:
  std::vector<Insertion> insertions_;
  std::size_t inserted_size_ = 0;
};

// Writes to memory that is known to be large enough.
class CursorWriter final : public BasicWriter<Cursor> {
 public:
  explicit CursorWriter(std::uint8_t* at) : BasicWriter(Cursor{at}) {}
  std::uint8_t* at() const { return target_.at; }
};

}  // namespace waybill::wire
