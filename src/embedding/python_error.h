#pragma once

// Where Python's exceptions become errors that are values.

#include <Python.h>

#include <exception>
#include <new>

#include "embedding/gil_use.h"
#include "python/runtime/py_error.h"
#include "waybill/error.h"

namespace waybill::embedding {

// The exception that is set, as an error, and clears it: with code and offset if it is
// a DecodeError of this library, else kRaised with type and message.
Error take_python_error();

// For what needs an interpreter, or the GIL, and finds none.
Error no_interpreter();
Error no_gil();

// What `function` returns, a Result; an error for what it throws, and without an
// interpreter or its GIL.
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
