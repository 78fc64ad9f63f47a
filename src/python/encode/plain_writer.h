#pragma once

// Writes values that need no memo: constants of code, and elements of sets, which are
// sorted by what this writes.

#include <Python.h>

#include "python/runtime/compat.h"
#include "python/runtime/ref.h"
#include "python/walker/code_info.h"
#include "wire/writer.h"

namespace waybill::py {

// Writes a leaf: None, bool, int, float, complex, str, bytes, Ellipsis, NotImplemented.
// False, with nothing written, if `object` is none of them. Throws PyError when memory
// is short; OverflowError for text or bytes beyond msgpack's 32-bit length.
bool write_leaf(PyObject* object, wire::Writer& out);

[[noreturn]] void refuse_too_many();

// A number of items, as msgpack is to write it. Throws PyError: OverflowError if they
// are more than it can count.
inline std::size_t countable(Py_ssize_t count) {
  // A node's array has the tag too.
  if (static_cast<std::size_t>(count) >= wire::kMaxCount) refuse_too_many();
  return static_cast<std::size_t>(count);
}

// Writes a str as text, or as the extension for lone surrogates.
void write_text(PyObject* text, wire::Writer& out);
// An array of the texts in a tuple.
void write_texts(PyObject* tuple, wire::Writer& out);

// Writes a float, None, a bool, a small int or short ASCII text; false, with nothing
// written, for anything else. It is write_leaf() for what there is most of, inlined
// into the loops over containers.
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

// Writes numbers up to the first item that is none, or is an int of more than 64 bits;
// tells how many. What big lists are full of takes no call for each.
Py_ssize_t write_numbers(PyObject* const* items, Py_ssize_t count, wire::Writer& out);

// Bounds the recursion of what follows.
inline constexpr int kMaxPlainDepth = wire::kMaxConstantDepth;
// Where elements of sets start: each set inside of sets tries anew, so few levels are
// all that is tried.
inline constexpr int kElementDepth = kMaxPlainDepth - 16;

// Writes a leaf, or tuples, frozensets and slices of plain values; code objects too if
// `infos` can tell their hash. False, with `out` in disorder, if something else is in
// it or it is nested too deeply.
bool write_plain(PyObject* object, wire::Writer& out, CodeInfos* infos, int depth = 0);

// The elements of a set or frozenset in a tuple, if they are countable(). Runs no code
// of others, finalizers included.
Ref elements_of(PyObject* set);

// The same in canonical order, whatever they are. May run code of others.
Ref sorted_elements(const State& state, CodeInfos& infos, Ref elements);

// Writes the elements of a set in canonical order if write_common() knows them all;
// else false, with nothing written. Runs no code of others.
bool write_common_elements(PyObject* set, wire::Writer& out);

// The same of elements that are in a tuple and that write_plain() knows. False, with
// nothing written, if one is not plain.
bool write_elements(PyObject* items, wire::Writer& out, CodeInfos* infos,
                    int depth = 0);

}  // namespace waybill::py
