#pragma once

// Text and bytes of Python objects as C++ sees them. Nothing is cached on a str.

#include <Python.h>

#include <array>
#include <string>
#include <string_view>

#include "python/runtime/ref.h"
#include "waybill/error.h"

namespace waybill::py {

// Bytes of a bytes object, or of raw bytes in a string.
BytesView bytes_of(PyObject* bytes);
inline BytesView bytes_of(std::string_view text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

// A bytes object of these.
Ref new_bytes(BytesView bytes);

inline bool begins_with_underscore(PyObject* text) {
  return PyUnicode_GET_LENGTH(text) != 0 && PyUnicode_READ_CHAR(text, 0) == '_';
}

// UTF-8 of a str: a view into it when it is ASCII, else into `storage`, which is set.
// Lone surrogates pass.
std::string_view utf8_of(PyObject* text, Ref& storage);

// The same as a copy.
std::string text_of(PyObject* text);

// repr() of a dict key for an error's path, cut after 100 bytes; of keys whose repr is
// code of the user's, the type.
std::string shown_key(PyObject* key);

// Whether that is a literal: what Python evaluates to an equal key.
bool is_literal(PyObject* key);

// A str of UTF-8, in which lone surrogates pass; throws PyError for all else.
Ref new_text(std::string_view utf8);

// A str as UTF-8 for any reader: lone surrogates (file names may hold some) are written
// as escapes. The str must outlive this.
class PrintableText {
 public:
  explicit PrintableText(PyObject* text);
  std::string_view view() const { return view_; }

 private:
  Ref storage_;
  std::string_view view_;
};

// Interned str objects, of which those that came lately are found without a look into
// the interpreter's own table. Bounded; needs the GIL.
class InternTable {
 public:
  // The str; lone surrogates pass. Throws PyError.
  Ref get(std::string_view utf8);

  // Null for a view of nothing.
  Ref get_or_null(std::string_view utf8) {
    return utf8.data() == nullptr ? Ref() : get(utf8);
  }

  void clear() { entries_ = {}; }

 private:
  std::array<Ref, 512> entries_;  // ASCII.
};

}  // namespace waybill::py
