#pragma once

// A function that is encoded once and called with many arguments.

#include <Python.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "python/encode/encode_hooks.h"
#include "python/runtime/ref.h"
#include "python/runtime/state.h"

namespace waybill::py {

// The payload of a call is a tuple of function, arguments and keyword arguments. Its
// prefix is written once and copied for each call. Arguments that share objects with
// the function refer to the objects in the prefix, as they were when it was written. If
// the arguments are plain data or objects of the prefix, only they are encoded. For
// other arguments the encoder continues with a copy of its state after the function.
//
// Keeps the function, and all objects in the prefix, alive. Needs the GIL.
class PreparedCall {
 public:
  // `hooks`: those of dumps() that apply to all calls: by_value, replace, application,
  // key, compression_level and environment. Their objects are copied or kept alive;
  // only the key must be kept alive by the caller. Throws PyError: TypeError for an
  // object that is not callable.
  PreparedCall(State& state, PyObject* function, const EncodeHooks& hooks);
  ~PreparedCall();

  // The envelope of a call. `arguments`: a tuple; `keywords`: a dict whose keys are
  // str. Throws PyError.
  Ref encode(Ref arguments, Ref keywords) const;

  // Encodes the function again, as it is now. Throws PyError; then the prefix stays as
  // it was.
  void refresh();

  // 16 bytes: equal for calls whose payloads would be equal, given equal arguments,
  // application, key, compression and environment. Throws PyError.
  Ref digest() const;

  PyObject* function() const { return function_.get(); }
  int traverse(visitproc visit, void* arg) const;

 private:
  struct Prefix;

  Ref encode(Ref arguments, Ref keywords, const EncodeHooks& hooks) const;

  State& state_;
  Ref function_, by_value_, replace_, environment_;
  std::vector<std::uint8_t> application_;
  EncodeHooks hooks_;  // Refers to the members above.
  // Shared, since a call may run during refresh(), and keeps its own prefix.
  std::shared_ptr<const Prefix> prefix_;
};

}  // namespace waybill::py
