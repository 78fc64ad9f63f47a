#pragma once

// Conversions between Python str and bytes and C++ views. Caches no UTF-8 in a str.

#include <Python.h>

#include <array>
#include <string>
#include <string_view>

#include "python/runtime/ref.h"
#include "waybill/error.h"

namespace waybill::py {

// The bytes of a bytes object or of a string.
BytesView bytes_of(PyObject* bytes);
inline BytesView bytes_of(std::string_view text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

// A new bytes object.
Ref new_bytes(BytesView bytes);

inline bool begins_with_underscore(PyObject* text) {
  return PyUnicode_GET_LENGTH(text) != 0 && PyUnicode_READ_CHAR(text, 0) == '_';
}

// The interned str that is equal to an exact one.
inline Ref interned(Ref text) {
  PyObject* name = text.release();
  PyUnicode_InternInPlace(&name);
  return Ref::steal(name);
}

// UTF-8 of a str: a view into an ASCII str, else into `storage`, which is set. Lone
// surrogates are encoded as such.
std::string_view utf8_of(PyObject* text, Ref& storage);

// A copy of utf8_of().
std::string text_of(PyObject* text);

// A dict key as paths in errors show it: its repr(), cut after 100 bytes, or its type
// if the repr would run Python code.
std::string shown_key(PyObject* key);

// Whether shown_key() is a literal that Python evaluates to an equal key.
bool is_literal(PyObject* key);

// Whether two objects are equal strs, or the same object. Either may be null.
bool is_same_text(PyObject* a, PyObject* b);

// A new str of UTF-8, which may have lone surrogates. Throws PyError for invalid UTF-8.
Ref new_text(std::string_view utf8);

// A str as valid UTF-8: lone surrogates, as in file names, become escapes. The str must
// outlive this.
class PrintableText {
 public:
  explicit PrintableText(PyObject* text);
  std::string_view view() const { return view_; }

 private:
  Ref storage_;
  std::string_view view_;
};

// A cache of recently used interned str objects, faster than the interpreter's table.
// Bounded; needs the GIL.
class InternTable {
 public:
  // The interned str; may have lone surrogates. Throws PyError.
  Ref get(std::string_view utf8);

  void clear() { entries_ = {}; }

 private:
  std::array<Ref, 512> entries_;  // ASCII.
};

}  // namespace waybill::py
