// Leaves and immutable plain values, in canonical form.
// Tested by tests/python/kinds/test_values.py.

#include "python/encode/plain_writer.h"

#include <algorithm>
#include <bit>
#include <vector>

#include "python/runtime/compat.h"
#include "wire/number.h"
#include "wire/utf8.h"

namespace waybill::py {

namespace {

using wire::ExtType;
using wire::NodeTag;
using wire::Writer;

void refuse_too_long(const char* what) {
  raise(PyExc_OverflowError, "%s of 4 GiB or more cannot be encoded", what);
}

void write_integer(PyObject* integer, Writer& out) {
  int overflow = 0;
  const long long value = PyLong_AsLongLongAndOverflow(integer, &overflow);
  if (overflow == 0) {
    out.integer(value);
    return;
  }
  std::vector<std::uint8_t> bytes(integer_size(integer));
  if (bytes.size() > wire::kMaxCount) refuse_too_long("an int");
  integer_to_bytes(integer, bytes.data(), bytes.size());
  if (overflow > 0 && bytes.size() == 9 && bytes[0] == 0) {
    out.unsigned_integer(PyLong_AsUnsignedLongLong(integer));
    return;
  }
  // The size may be one byte too large. Leading bytes that only repeat the sign are
  // dropped.
  std::size_t start = 0;
  while (start + 1 < bytes.size() &&
         ((bytes[start] == 0 && bytes[start + 1] < 0x80) ||
          (bytes[start] == 0xff && bytes[start + 1] >= 0x80))) {
    ++start;
  }
  out.extension(ExtType::kInteger, BytesView(bytes).subspan(start));
}

void write_complex(PyObject* object, Writer& out) {
  const Py_complex value = PyComplex_AsCComplex(object);
  std::uint8_t bytes[16];
  const double parts[] = {value.real, value.imag};
  for (int part = 0; part < 2; ++part) {
    const auto bits = std::bit_cast<std::uint64_t>(parts[part]);
    for (int i = 0; i < 8; ++i) {
      bytes[part * 8 + i] = static_cast<std::uint8_t>(bits >> (56 - 8 * i));
    }
  }
  out.extension(ExtType::kComplex, bytes);
}

bool write_items(PyObject* tuple, Writer& out, CodeInfos* infos, int depth) {
  out.node(NodeTag::kTuple, checked_count(PyTuple_GET_SIZE(tuple)));
  return std::ranges::all_of(items_of(tuple), [&](PyObject* item) {
    return write_plain(item, out, infos, depth + 1);
  });
}

// Whether an exact int fits into a signed 64-bit integer; sets `value` if so.
bool fits_int64(PyObject* integer, std::int64_t& value) {
  if (is_short_integer(integer, value)) return true;
  int overflow = 0;
  value = PyLong_AsLongLongAndOverflow(integer, &overflow);
  return overflow == 0;
}

}  // namespace

void refuse_too_many() {
  raise(PyExc_OverflowError, "2^32 items or more cannot be encoded");
}

Py_ssize_t write_numbers(PyObject* const* items, Py_ssize_t count, Writer& out) {
  // Space is reserved for this many numbers at once.
  constexpr Py_ssize_t kAtOnce = 64;
  Py_ssize_t done = 0;
  while (done < count) {
    const Py_ssize_t end = std::min(count, done + kAtOnce);
    std::uint8_t* at =
        out.open(static_cast<std::size_t>(end - done) * wire::kMaxNumberSize);
    for (; done < end; ++done) {
      PyObject* item = items[done];
      std::int64_t value = 0;
      if (PyFloat_CheckExact(item)) {
        at = wire::put_real(at, PyFloat_AS_DOUBLE(item));
      } else if (PyLong_CheckExact(item) && fits_int64(item, value)) {
        at = wire::put_integer(at, value);
      } else {
        out.close(at);
        return done;
      }
    }
    out.close(at);
  }
  return done;
}

void write_text(PyObject* text, Writer& out) {
  if (PyUnicode_IS_COMPACT_ASCII(text)) {
    Ref none;
    const std::string_view view = utf8_of(text, none);
    if (view.size() > wire::kMaxCount) refuse_too_long("a str");
    out.text(view);
    return;
  }
  Ref bytes = Ref::steal_or_null(PyUnicode_AsUTF8String(text));
  const bool has_surrogates = !bytes;
  if (has_surrogates) {
    if (!PyErr_ExceptionMatches(PyExc_UnicodeEncodeError)) throw PyError();
    // The exception holds the text. Clearing it may run finalizers that free the text.
    const Ref held = Ref::share(text);
    PyErr_Clear();
    bytes = Ref::steal(PyUnicode_AsEncodedString(text, "utf-8", "surrogatepass"));
  }
  const BytesView view = bytes_of(bytes.get());
  if (view.size() > wire::kMaxCount) refuse_too_long("a str");
  if (has_surrogates) {
    out.extension(ExtType::kText, view);
  } else {
    out.text(wire::as_text(view));
  }
}

void write_texts(PyObject* tuple, Writer& out) {
  const auto texts = items_of(tuple);
  out.array(texts.size());
  for (PyObject* text : texts) write_text(text, out);
}

bool write_leaf(PyObject* object, Writer& out) {
  if (write_common(object, out)) return true;
  PyTypeObject* type = Py_TYPE(object);
  if (type == &PyUnicode_Type) {
    write_text(object, out);
  } else if (type == &PyLong_Type) {
    write_integer(object, out);
  } else if (type == &PyBytes_Type) {
    const BytesView view = bytes_of(object);
    if (view.size() > wire::kMaxCount) refuse_too_long("a bytes object");
    out.binary(view);
  } else if (type == &PyComplex_Type) {
    write_complex(object, out);
  } else if (object == Py_Ellipsis) {
    out.singleton(wire::Singleton::kEllipsis);
  } else if (object == Py_NotImplemented) {
    out.singleton(wire::Singleton::kNotImplemented);
  } else {
    return false;
  }
  return true;
}

bool write_plain(PyObject* object, Writer& out, CodeInfos* infos, int depth) {
  if (depth > kMaxPlainDepth) return false;
  if (write_leaf(object, out)) return true;
  PyTypeObject* type = Py_TYPE(object);
  if (type == &PyTuple_Type) return write_items(object, out, infos, depth);
  if (type == &PyFrozenSet_Type) {
    out.node(NodeTag::kFrozenSet, checked_count(PySet_GET_SIZE(object)));
    return write_common_elements(object, out) ||
           write_elements(elements_of(object).get(), out, infos, depth);
  }
  if (type == &PySlice_Type) {
    auto* slice = reinterpret_cast<PySliceObject*>(object);
    out.node(NodeTag::kSlice, 3);
    return write_plain(slice->start, out, infos, depth + 1) &&
           write_plain(slice->stop, out, infos, depth + 1) &&
           write_plain(slice->step, out, infos, depth + 1);
  }
  if (type == &PyCode_Type && infos != nullptr) {
    const CodeInfo& info = infos->get(object);
    if (!info.is_encoded) return false;
    out.extension(ExtType::kCode, info.hash);
    return true;
  }
  return false;
}

}  // namespace waybill::py
