#pragma once

// Converts Python exceptions to Error values.

#include <Python.h>

#include <exception>
#include <new>

#include "python/runtime/py_error.h"
#include "waybill/error.h"

namespace waybill::embedding {

// Whether this thread has the GIL. In CPython 3.11 this is true in every thread once
// there are sub-interpreters.
bool has_gil();

// Clears the current exception and returns it as an error: with code and offset if it
// is a waybill.DecodeError, else kRaised with type and message.
Error take_python_error();

// The errors of a call without an interpreter, or without the GIL.
Error no_interpreter();
Error no_gil();

// Returns the Result of `function`, or an error if it throws or if there is no
// interpreter or no GIL.
template <typename Function>
auto guarded(Function function) -> decltype(function()) {
  if (Py_IsInitialized() == 0) return tl::unexpected(no_interpreter());
  if (!has_gil()) return tl::unexpected(no_gil());
  try {
    return function();
  } catch (const py::PyError&) {
    return tl::unexpected(take_python_error());
  } catch (const std::bad_alloc&) {
    return tl::unexpected(Error{ErrorCode::kRaised, 0, "MemoryError"});
  } catch (const std::exception& error) {
    return tl::unexpected(Error{ErrorCode::kRaised, 0, error.what()});
  }
}

}  // namespace waybill::embedding
