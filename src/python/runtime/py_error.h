#pragma once

// Where errors of the core and of the C API meet Python's exceptions.

#include <Python.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "waybill/error.h"

namespace waybill::py {

class Ref;
struct State;

// Thrown when a Python error is set, and only then. Carries nothing else.
struct PyError {};

// For C functions that answer -1 with an error set.
inline int check(int result) {
  if (result < 0) throw PyError();
  return result;
}

// Sets an exception of Python's with a message as of PyErr_Format.
template <typename... Parts>
[[noreturn]] void raise(PyObject* type, const char* format, Parts... parts) {
  PyErr_Format(type, format, parts...);
  throw PyError();
}

// Sets waybill.DecodeError (or the subclass for the code) with code and offset.
[[noreturn]] void raise(const State& state, const Error& error);
// The same if there is one.
inline void require(const State& state, const Result<void>& result) {
  if (!result) raise(state, result.error());
}
// The same from its parts.
[[noreturn]] void raise_decode(const State& state, ErrorCode code, std::size_t offset,
                               std::string detail);
// What an EncodeError tells of the object that cannot travel; the attributes of the
// exception have the same names, but for `short_path`, which is `short`.
struct Culprit {
  std::string path;  // From the root, without the type.
  std::string short_path;
  bool evaluates = true;  // Whether Python evaluates the path to the object.
  std::string type;       // Empty if the path is that of something else.
  std::string expression, function, file;  // The code that brought it; or empty.
  std::uint32_t line = 0;
  std::string remedy;  // Or empty.
};

// Sets waybill.EncodeError, with `cause` (may be null) as its __cause__.
[[noreturn]] void raise_encode(const State& state, const Culprit& culprit,
                               std::string_view reason, PyObject* cause);
// Sets waybill.MissingModuleError for an import of the manifest, with its `cause`,
// which may be null. `environment`: what the payload was made with, as
// waybill._environment.hints takes it.
[[noreturn]] void raise_missing(const State& state, PyObject* module_name,
                                std::string_view needed_by, const Ref& cause,
                                PyObject* environment);

// What to do if a module has no such name, where waybill's own have it in another
// version: payloads hold such names where they need its help. Empty if the module is
// none of waybill's own. Python's error must not be set.
std::string advice_on_versions(PyObject* module_name);

}  // namespace waybill::py
