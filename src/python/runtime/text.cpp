// Text of str objects, with and without lone surrogates.
// Tested by tests/python/kinds/test_values.py; names that are interned by
// tests/python/cache/test_received_functions.py.

#include "python/runtime/text.h"

#include <algorithm>
#include <cmath>

#include "base/hash.h"
#include "python/runtime/objects.h"
#include "wire/utf8.h"

namespace waybill::py {
namespace {

constexpr std::size_t kMaxKeyBytes = 100;    // Bytes of a key that are shown.
constexpr Py_ssize_t kMaxItems = 8;          // Items of a tuple that are shown.
constexpr std::size_t kLongestCached = 128;  // Bytes of a name in an InternTable.

bool is_same(PyObject* name, std::string_view utf8) {
  Ref storage;  // Not needed: the name is ASCII.
  return utf8_of(name, storage) == utf8;
}

// The UTF-8 of a str, which `storage` holds; `errors`: a handler of codecs.
std::string_view encoded(PyObject* text, const char* errors, Ref& storage) {
  storage = Ref::steal(PyUnicode_AsEncodedString(text, "utf-8", errors));
  return {PyBytes_AS_STRING(storage.get()),
          static_cast<std::size_t>(PyBytes_GET_SIZE(storage.get()))};
}

}  // namespace

Ref new_bytes(BytesView bytes) {
  return Ref::steal(
      PyBytes_FromStringAndSize(reinterpret_cast<const char*>(bytes.data()),
                                static_cast<Py_ssize_t>(bytes.size())));
}

BytesView bytes_of(PyObject* bytes) {
  return {reinterpret_cast<const std::uint8_t*>(PyBytes_AS_STRING(bytes)),
          static_cast<std::size_t>(PyBytes_GET_SIZE(bytes))};
}

std::string_view utf8_of(PyObject* text, Ref& storage) {
  if (PyUnicode_IS_COMPACT_ASCII(text)) {
    return {reinterpret_cast<const char*>(PyUnicode_1BYTE_DATA(text)),
            static_cast<std::size_t>(PyUnicode_GET_LENGTH(text))};
  }
  return encoded(text, "surrogatepass", storage);
}

std::string text_of(PyObject* text) {
  Ref storage;
  return std::string(utf8_of(text, storage));
}

PrintableText::PrintableText(PyObject* text) {
  view_ = PyUnicode_IS_COMPACT_ASCII(text)
              ? utf8_of(text, storage_)
              : encoded(text, "backslashreplace", storage_);
}

std::string shown_key(PyObject* key) {
  if (PyTuple_CheckExact(key) && PyTuple_GET_SIZE(key) <= kMaxItems) {
    std::string text = "(";
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(key); ++i) {
      PyObject* item = PyTuple_GET_ITEM(key, i);
      if (i > 0) text += ", ";
      text += PyTuple_CheckExact(item) ? "(…)" : shown_key(item);
    }
    return text + (PyTuple_GET_SIZE(key) == 1 ? ",)" : ")");
  }
  const Ref repr = is_simple(key) ? Ref::steal_or_null(PyObject_Repr(key)) : Ref();
  if (!repr) {
    PyErr_Clear();  // An int with too many digits has no repr.
    return "<" + std::string(Py_TYPE(key)->tp_name) + ">";
  }
  const std::string text = text_of(repr.get());
  if (text.size() <= kMaxKeyBytes) return text;
  return text.substr(0, wire::prefix_size(text, kMaxKeyBytes)) + "…";
}

bool is_literal(PyObject* key) {
  if (PyTuple_CheckExact(key)) {
    if (PyTuple_GET_SIZE(key) > kMaxItems) return false;
    return std::ranges::none_of(items_of(key), [](PyObject* item) {
      return PyTuple_CheckExact(item) || !is_literal(item);
    });
  }
  if (PyFloat_CheckExact(key)) return std::isfinite(PyFloat_AS_DOUBLE(key));
  if (!is_simple(key)) return false;
  const Ref repr = Ref::steal_or_null(PyObject_Repr(key));
  if (!repr) PyErr_Clear();
  return repr && text_of(repr.get()).size() <= kMaxKeyBytes;
}

Ref new_text(std::string_view utf8) {
  return Ref::steal(PyUnicode_DecodeUTF8(
      utf8.data(), static_cast<Py_ssize_t>(utf8.size()), "surrogatepass"));
}

bool is_same_text(PyObject* a, PyObject* b) {
  if (a == b) return true;
  return a != nullptr && b != nullptr && PyUnicode_CheckExact(a) &&
         PyUnicode_CheckExact(b) && PyUnicode_Compare(a, b) == 0;
}

Ref InternTable::get(std::string_view utf8) {
  Ref& entry = entries_[base::hash_of(bytes_of(utf8)) % entries_.size()];
  if (entry && is_same(entry.get(), utf8)) return entry;
  Ref name = interned(new_text(utf8));
  if (utf8.size() <= kLongestCached && PyUnicode_IS_COMPACT_ASCII(name.get()))
    entry = name;
  return name;
}

}  // namespace waybill::py
