#pragma once

// Options of dumps() and loads() that the extension takes as they are; waybill._face
// has functions that take all others, and refuse what is wrong.

#include <Python.h>

#include <optional>

#include "border.h"
#include "python/encode/encode_hooks.h"
#include "python/runtime/state.h"

namespace waybill::extension {

inline bool is_named(PyObject* name, const char* text) {
  return PyUnicode_CompareWithASCIIString(name, text) == 0;
}

// Whether buffers may go out of band with this protocol.
inline bool has_buffers(PyObject* protocol) {
  constexpr long kFirstWithBuffers = 5;
  if (protocol == Py_None) return true;
  int overflow = 0;  // Of any number without an error.
  return PyLong_CheckExact(protocol) &&
         PyLong_AsLongAndOverflow(protocol, &overflow) == kFirstWithBuffers;
}

// What dumps(source=...) means; nothing for what it does not take, and None.
inline std::optional<py::SourceUse> source_use(PyObject* value) {
  if (value == Py_False) return py::SourceUse::kNone;
  if (value == Py_True) return py::SourceUse::kDemanded;
  const bool is_auto = PyUnicode_CheckExact(value) && is_named(value, "auto");
  return is_auto ? std::optional(py::SourceUse::kWhereProven) : std::nullopt;
}

// Whether the process has set nothing, or only whether source travels: then `source`,
// borrowed, says so as configure() keeps it, and else is null.
inline bool has_plain_options(const py::State& state, PyObject*& source) {
  PyObject* options = state.options.get();
  source = nullptr;
  if (PyDict_GET_SIZE(options) == 0) return true;
  if (PyDict_GET_SIZE(options) == 1) source = PyDict_GetItemString(options, "source");
  return source != nullptr;
}

// What dumps() is given by the process; false if there is more than `hooks` can say.
inline bool takes_options(const py::State& state, py::EncodeHooks& hooks) {
  PyObject* source = nullptr;
  if (PySet_GET_SIZE(state.registered.get()) != 0 ||
      !has_plain_options(state, source)) {
    return false;
  }
  if (source != nullptr) hooks.source = source_use_of(source);
  return true;
}

// Whether there is nothing but an object and what goes into `hooks`: where buffers go,
// which engines give with each, the protocol that has them, and whether source travels.
inline bool takes_arguments(PyObject* const* arguments, Py_ssize_t count,
                            PyObject* keywords, py::EncodeHooks& hooks) {
  if (count != 1 && !(count == 2 && has_buffers(arguments[1]))) return false;
  const Py_ssize_t named = keywords == nullptr ? 0 : PyTuple_GET_SIZE(keywords);
  for (Py_ssize_t i = 0; i < named; ++i) {
    PyObject* name = PyTuple_GET_ITEM(keywords, i);
    PyObject* value = arguments[count + i];
    if (is_named(name, "buffer_callback")) {
      hooks.buffer_callback = given(value);
    } else if (is_named(name, "source")) {
      const std::optional<py::SourceUse> use = source_use(value);
      if (!use) return false;
      hooks.source = *use;
    } else if (count != 1 || !is_named(name, "protocol") || !has_buffers(value)) {
      return false;
    }
  }
  return true;
}

}  // namespace waybill::extension
