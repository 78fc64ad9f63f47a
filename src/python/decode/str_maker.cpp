// Tested by tests/python/kinds/test_values.py and
// tests/python/untrusted/test_unverified_data.py.

#include "python/decode/str_maker.h"

#include "python/runtime/text.h"

namespace waybill::py {

namespace {

bool is_ascii(const std::uint8_t* bytes, std::size_t size) {
  std::uint64_t seen = 0;
  std::size_t i = 0;
  for (; i + 8 <= size; i += 8) {
    std::uint64_t word;
    std::memcpy(&word, bytes + i, 8);
    seen |= word;
  }
  for (; i < size; ++i) seen |= bytes[i];
  return (seen & 0x8080808080808080) == 0;
}

}  // namespace

Ref StrMaker::make_long(const std::uint8_t* bytes, std::size_t size) {
  // The interpreter shares texts of one character.
  if (size > 1 && is_ascii(bytes, size)) return make_ascii(bytes, size);
  Ref text = Ref::steal_or_null(PyUnicode_DecodeUTF8(
      reinterpret_cast<const char*>(bytes), static_cast<Py_ssize_t>(size), nullptr));
  if (!text) {
    if (!PyErr_ExceptionMatches(PyExc_UnicodeDecodeError)) throw PyError();
    PyErr_Clear();
  }
  return text;
}

Ref StrMaker::make_name(const std::uint8_t* bytes, std::size_t size, std::size_t room) {
  Entry* entry = nullptr;
  if (!entries_.empty() && size <= ShortText::kLongest &&
      room >= ShortText::kMinReadable) {
    const ShortText text(bytes, size);
    entry = text.is_ascii() ? &entry_for(text) : nullptr;
    // An unused entry compares equal to that of the empty text.
    if (entry != nullptr && (!entry->object || entry->text != text)) {
      *entry = {text, size < 2 ? make(bytes, size, room) : make_ascii(bytes, size)};
    }
  }
  Ref text = entry != nullptr ? entry->object : make(bytes, size, room);
  if (!text || PyUnicode_CHECK_INTERNED(text.get()) != 0) return text;
  if (entry != nullptr) entry->object = Ref();
  text = interned(std::move(text));
  if (entry != nullptr) entry->object = text;
  return text;
}

}  // namespace waybill::py
