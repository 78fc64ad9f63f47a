#pragma once

// Converts errors of the core and of the C API to Python exceptions.

#include <Python.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "waybill/error.h"

namespace waybill::py {

class Ref;
struct State;

// Thrown if and only if a Python error is set. Carries nothing.
struct PyError {};

// Returns `result`, or throws PyError if it is negative. For C functions that return -1
// with an error set.
inline int check(int result) {
  if (result < 0) throw PyError();
  return result;
}

// Sets a Python exception with a message in the format of PyErr_Format.
template <typename... Parts>
[[noreturn]] void raise(PyObject* type, const char* format, Parts... parts) {
  PyErr_Format(type, format, parts...);
  throw PyError();
}

// Sets waybill.DecodeError (or the subclass for the code) with code and offset.
[[noreturn]] void raise(const State& state, const Error& error);
// The value of a result. Raises its error, if there is one.
template <typename T>
T require(const State& state, Result<T> result) {
  if (!result) raise(state, result.error());
  if constexpr (!std::is_void_v<T>) return *std::move(result);
}
// raise() for an error with these parts.
[[noreturn]] void raise_decode(const State& state, ErrorCode code, std::size_t offset,
                               std::string detail);
// The object that cannot be sent, as an EncodeError describes it. The attributes of the
// exception have the same names, except that `short_path` is `short`.
struct Culprit {
  std::string path;  // From the root, without the type.
  std::string short_path;
  bool evaluates = true;  // The path is an expression for the object in Python.
  std::string type;       // Empty if the path does not lead to an object.
  std::string expression, function, file;  // The code that refers to it; may be empty.
  std::uint32_t line = 0;
  std::string remedy;  // May be empty.
};

// Sets waybill.EncodeError, with `cause` (may be null) as its __cause__.
[[noreturn]] void raise_encode(const State& state, const Culprit& culprit,
                               std::string_view reason, PyObject* cause);
// Sets waybill.MissingModuleError for an import of the manifest, with `cause` (may be
// null) as its __cause__. `environment`: the environment section of the manifest, for
// waybill._environment.hints.
[[noreturn]] void raise_missing(const State& state, PyObject* module_name,
                                std::string_view needed_by, const Ref& cause,
                                PyObject* environment);

// The remedy for a name that a module of waybill does not have: payloads of another
// version of waybill may refer to such names. Empty for other modules. No Python error
// may be set.
std::string advice_on_versions(PyObject* module_name);

}  // namespace waybill::py
