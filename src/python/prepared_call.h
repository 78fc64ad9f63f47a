#pragma once

// A function that was encoded once, to be called with many arguments.

#include <Python.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "python/encode/encode_hooks.h"
#include "python/runtime/ref.h"
#include "python/runtime/state.h"

namespace waybill::py {

// The payload of a call is a tuple of function, arguments and keyword arguments. Its
// beginning is written once and copied for each call. What arguments share with the
// function refers to that, as it was then. Arguments that are plain data, or refer to
// what came with the function, cost nothing besides; for others the encoder goes on
// from where the function ended, with a copy of what it knew there.
//
// Keeps the function and all that came with it alive. With the GIL.
class PreparedCall {
 public:
  // What dumps takes, and holds for all calls. `hooks` has by_value, replace,
  // application, key, compression_level and environment; all that they refer to is
  // copied or kept alive, but for the key, which whoever owns this keeps alive. Throws
  // PyError: TypeError for what cannot be called.
  PreparedCall(State& state, PyObject* function, const EncodeHooks& hooks);
  ~PreparedCall();

  // The envelope of a call. `arguments`: a tuple; `keywords`: a dict whose keys are
  // str. Throws PyError.
  Ref encode(Ref arguments, Ref keywords) const;

  // Encodes the function once more, as it is now. Throws PyError; then the function
  // stays as it was.
  void refresh();

  // 16 bytes: equal for calls whose payloads would be equal, given equal arguments,
  // application, key, compression and environment. Throws PyError.
  Ref digest() const;

  PyObject* function() const { return function_.get(); }
  int traverse(visitproc visit, void* arg) const;

 private:
  struct Beginning;

  Ref encode(Ref arguments, Ref keywords, const EncodeHooks& hooks) const;

  State& state_;
  Ref function_, by_value_, replace_, environment_;
  std::vector<std::uint8_t> application_;
  EncodeHooks hooks_;  // They refer to these.
  // Calls that run when refresh() comes go on with what they began with.
  std::shared_ptr<const Beginning> beginning_;
};

}  // namespace waybill::py
