// Text of str objects, with and without lone surrogates.
// Tested by tests/python/test_values.py.

#include "python/text.h"

namespace waybill::py {

BytesView bytes_of(PyObject* bytes) {
  return {reinterpret_cast<const std::uint8_t*>(PyBytes_AS_STRING(bytes)),
          static_cast<std::size_t>(PyBytes_GET_SIZE(bytes))};
}

std::string_view utf8_of(PyObject* text, Ref& storage) {
  if (PyUnicode_IS_COMPACT_ASCII(text)) {
    return {reinterpret_cast<const char*>(PyUnicode_1BYTE_DATA(text)),
            static_cast<std::size_t>(PyUnicode_GET_LENGTH(text))};
  }
  storage = Ref::steal(PyUnicode_AsEncodedString(text, "utf-8", "surrogatepass"));
  return {PyBytes_AS_STRING(storage.get()),
          static_cast<std::size_t>(PyBytes_GET_SIZE(storage.get()))};
}

std::string text_of(PyObject* text) {
  Ref storage;
  return std::string(utf8_of(text, storage));
}

PrintableText::PrintableText(PyObject* text) {
  if (PyUnicode_IS_COMPACT_ASCII(text)) {
    view_ = utf8_of(text, storage_);
    return;
  }
  storage_ = Ref::steal(PyUnicode_AsEncodedString(text, "utf-8", "backslashreplace"));
  view_ = {PyBytes_AS_STRING(storage_.get()),
           static_cast<std::size_t>(PyBytes_GET_SIZE(storage_.get()))};
}

Ref new_text(std::string_view utf8) {
  return Ref::steal(PyUnicode_DecodeUTF8(
      utf8.data(), static_cast<Py_ssize_t>(utf8.size()), "surrogatepass"));
}

}  // namespace waybill::py
