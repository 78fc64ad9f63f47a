#pragma once

// Encodes Python objects and decodes payloads, for programs that embed Python;
// waybill.dumps and waybill.loads in C++, with the same bytes.

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "waybill/bytes.h"
#include "waybill/error.h"
#include "waybill/gate.h"

// As in Python.h, which need not be included.
typedef struct _object PyObject;

namespace waybill {

class SigningKey;

// Owns one reference to a Python object, or nothing. Move-only. Assignment and
// destruction in a thread without the GIL take it; after Python has ended, the
// reference is dropped.
class Object {
 public:
  Object() = default;
  // Takes ownership of a reference.
  static Object steal(PyObject* object) { return Object(object); }

  Object(Object&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  Object& operator=(Object&& other) noexcept {
    Object before(std::exchange(object_, std::exchange(other.object_, nullptr)));
    return *this;
  }
  ~Object();

  // Borrowed: valid while this lives.
  PyObject* get() const { return object_; }
  // Returns the reference to the caller.
  [[nodiscard]] PyObject* release() { return std::exchange(object_, nullptr); }
  explicit operator bool() const { return object_ != nullptr; }

 private:
  explicit Object(PyObject* object) : object_(object) {}

  PyObject* object_ = nullptr;
};

// Whether functions are sent with source beside their bytecode, which other versions of
// Python need: docs/cross_version.md.
enum class Source : std::uint8_t {
  kOff,       // False in Python.
  kAuto,      // "auto": if it provably compiles to the bytecode.
  kRequired,  // True: functions without source are an error.
};

struct EncodeOptions {
  // Data for the header, which receivers can read before anything is loaded.
  BytesView application = {};
  // Signs the payload; null: it is unsigned.
  const SigningKey* key = nullptr;
  // From kFastestLevel to kSmallestLevel: zstd level for buffers of 64 KiB and more
  // that gain by it. 0: no compression.
  int compression_level = 0;
  Source source = Source::kOff;
};

// Encodes the object and everything it needs as an envelope. Needs the GIL.
//
// Errors: kRaised, also without the GIL. The detail is Python's message, with the path
// to the object that cannot travel. If `object` is null, the result of a failed Python
// call, it is the message of the pending exception, which is cleared.
[[nodiscard]] Result<std::vector<std::uint8_t>> encode(
    PyObject* object, const EncodeOptions& options = {});

// Renamed modules and objects, from the sender's name to the receiver's, as the dict
// that Python's loads() takes: "old": "new", "old.*": "new.*", "old:Name": "new:Other".
// Moves that waybill knows are applied too: docs/environment.md.
using Renames = std::map<std::string, std::string>;

// Decodes an envelope, which is all of `bytes`. Imports and builds nothing before all
// of it is checked, against `options` too. Needs the GIL.
//
// Errors: those of Gate::open_trusted(), kPythonMismatch; kRaised for a module that
// cannot be imported, for an exception of code in the payload, for an invalid rename,
// and without the GIL.
[[nodiscard]] Result<Object> decode(BytesView bytes, const LoadOptions& options = {},
                                    const Renames& renames = {});

}  // namespace waybill
