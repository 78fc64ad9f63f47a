#pragma once

// Writes values that need no memo: leaves, constants of code, and elements of sets,
// which are sorted by their bytes.

#include <Python.h>

#include "python/runtime/compat.h"
#include "python/runtime/ref.h"
#include "python/walker/code_info.h"
#include "wire/writer.h"

namespace waybill::py {

// Writes a leaf: None, bool, int, float, complex, str, bytes, Ellipsis, NotImplemented.
// Returns false, and writes nothing, for other objects. Throws PyError when memory is
// short; OverflowError for text or bytes beyond msgpack's 32-bit length.
bool write_leaf(PyObject* object, wire::Writer& out);

[[noreturn]] void refuse_too_many();

// Converts a number of items for msgpack. Throws PyError: OverflowError if msgpack
// cannot count that many.
inline std::size_t checked_count(Py_ssize_t count) {
  // A node's array has the tag too.
  if (static_cast<std::size_t>(count) >= wire::kMaxCount) refuse_too_many();
  return static_cast<std::size_t>(count);
}

// Writes a str as text, or as the extension for text with lone surrogates.
void write_text(PyObject* text, wire::Writer& out);
// Writes an array of the strs in a tuple.
void write_texts(PyObject* tuple, wire::Writer& out);

// Writes a float, None, a bool, a small int or short ASCII text. Returns false, and
// writes nothing, for other objects. This is write_leaf() for the most frequent leaves,
// inlined into the loops over containers.
[[gnu::always_inline]] inline bool write_common(PyObject* object, wire::Writer& out) {
  constexpr Py_ssize_t kShort = 32;
  PyTypeObject* type = Py_TYPE(object);
  if (type == &PyUnicode_Type) {
    if (!PyUnicode_IS_COMPACT_ASCII(object)) return false;
    const Py_ssize_t length = PyUnicode_GET_LENGTH(object);
    if (length >= kShort) return false;
    out.text({reinterpret_cast<const char*>(PyUnicode_1BYTE_DATA(object)),
              static_cast<std::size_t>(length)});
  } else if (type == &PyFloat_Type) {
    out.real(PyFloat_AS_DOUBLE(object));
  } else if (type == &PyLong_Type) {
    std::int64_t value = 0;
    if (!is_short_integer(object, value)) return false;
    out.integer(value);
  } else if (object == Py_None) {
    out.nil();
  } else if (type == &PyBool_Type) {
    out.boolean(object == Py_True);
  } else {
    return false;
  }
  return true;
}

inline bool is_number(PyObject* object) {
  return PyFloat_CheckExact(object) || PyLong_CheckExact(object);
}

// Writes numbers up to the first item that is not a number, or is an int of more than
// 64 bits. Returns how many. Faster than a call for each item of a large list.
Py_ssize_t write_numbers(PyObject* const* items, Py_ssize_t count, wire::Writer& out);

// Bounds the recursion of write_plain() and write_elements().
inline constexpr int kMaxPlainDepth = wire::kMaxConstantDepth;
// The depth at which elements of sets start. Sets may nest only a few levels, because a
// nested set that fails is tried again by itself.
inline constexpr int kElementDepth = kMaxPlainDepth - 16;

// Writes a plain value: a leaf, or a tuple, frozenset or slice of plain values, or,
// with `infos`, an encoded code object. Returns false, and leaves `out` in an undefined
// state, if the value is not plain or is nested too deeply.
bool write_plain(PyObject* object, wire::Writer& out, CodeInfos* infos, int depth = 0);

// The elements of a set or frozenset as a tuple. Throws PyError, as checked_count()
// does, if there are too many. Runs no Python code, not even finalizers.
Ref elements_of(PyObject* set);

// A tuple of elements in canonical order. May run Python code.
Ref sorted_elements(const State& state, CodeInfos& infos, Ref elements);

// Writes the elements of a set in canonical order. Returns false, and writes nothing,
// unless write_common() can write all of them. Runs no Python code.
bool write_common_elements(PyObject* set, wire::Writer& out);

// Writes the elements of a set, given in a tuple. Returns false, and writes nothing,
// unless write_plain() can write all of them.
bool write_elements(PyObject* items, wire::Writer& out, CodeInfos* infos,
                    int depth = 0);

}  // namespace waybill::py
