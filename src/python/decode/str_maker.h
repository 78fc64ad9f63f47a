#pragma once

// Makes str objects out of UTF-8.

#include <Python.h>

#include <bit>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "python/runtime/ref.h"

namespace waybill::py {

// Up to 16 bytes of text as two integers; equal only for equal text.
struct ShortText {
  static constexpr std::size_t kLongest = 16;
  static constexpr std::size_t kMinReadable =
      8;  // Must be readable, whatever the size.

  ShortText() = default;
  ShortText(const std::uint8_t* bytes, std::size_t size_) : size(size_) {
    std::memcpy(&first, bytes, 8);
    if (size >= 8) {
      std::memcpy(&last, bytes + size - 8, 8);
    } else if (size == 0) {
      first = 0;
    } else if (std::endian::native == std::endian::little) {
      first &= (std::uint64_t{1} << (8 * size)) - 1;
    } else {
      first >>= 64 - 8 * size;
    }
  }
  bool is_ascii() const { return ((first | last) & 0x8080808080808080) == 0; }
  bool operator==(const ShortText&) const = default;

  std::uint64_t first = 0;
  std::uint64_t last = 0;
  std::size_t size = 0;
};

// Makes the texts of one payload.
class StrMaker {
 public:
  // `room`: the number of readable bytes from `bytes` on, at least `size`. `is_name`:
  // whether to intern the str. Null without an error if the bytes are not UTF-8. Throws
  // PyError.
  Ref make(const std::uint8_t* bytes, std::size_t size, std::size_t room,
           bool is_name = false) {
    if (is_name) return make_name(bytes, size, room);
    if (size == 1 && bytes[0] < 0x80) {
      return Ref::steal(PyUnicode_FromOrdinal(bytes[0]));  // Shared by the interpreter.
    }
    if (size > ShortText::kLongest || size < 2 || room < ShortText::kMinReadable) {
      return make_long(bytes, size);
    }
    const ShortText text(bytes, size);
    if (!text.is_ascii()) return make_long(bytes, size);
    if (entries_.empty()) return make_ascii(bytes, size);
    Entry& entry = entry_for(text);
    if (entry.text != text) entry = {text, make_ascii(bytes, size)};
    return entry.object;
  }

  // Shares recent short texts from now on: most keys of dicts and many values recur.
  // Costs 10 KiB.
  void enable_cache() {
    if (entries_.empty()) entries_.resize(kEntries);
  }

 private:
  struct Entry {
    ShortText text;
    Ref object;
  };
  static constexpr std::size_t kEntries = 256;

  static Ref make_ascii(const std::uint8_t* bytes, std::size_t size) {
    Ref text = Ref::steal(PyUnicode_New(static_cast<Py_ssize_t>(size), 0x7f));
    std::memcpy(PyUnicode_1BYTE_DATA(text.get()), bytes, size);
    return text;
  }
  static Ref make_long(const std::uint8_t* bytes, std::size_t size);
  Ref make_name(const std::uint8_t* bytes, std::size_t size, std::size_t room);

  // The entry of a text, or the older of its two possible entries to replace. A hash
  // has two entries because, even among few texts, two often have equal hashes.
  Entry& entry_for(const ShortText& text) {
    const std::uint64_t mixed =
        (text.first ^ std::rotl(text.last, 23) ^ text.size) * 0x9e3779b97f4a7c15;
    Entry* pair = &entries_[(mixed >> 57) * 2];
    static_assert(kEntries == std::size_t{2} << 7);
    if (pair[0].text != text) std::swap(pair[0], pair[1]);
    return pair[0];
  }

  std::vector<Entry> entries_;
};

}  // namespace waybill::py
