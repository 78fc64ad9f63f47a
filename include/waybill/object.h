#pragma once

// Python objects to payloads and back, for programs that embed Python. What
// waybill.dumps and waybill.loads do, and the same bytes.

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "waybill/bytes.h"
#include "waybill/error.h"
#include "waybill/gate.h"

// As Python.h has it, which need not be included.
typedef struct _object PyObject;

namespace waybill {

class SigningKey;

// Owns one reference to a Python object, or nothing. Move-only. Where a thread that has
// not got the GIL assigns or destroys one, it is taken for that; once Python has ended
// the reference is lost.
class Object {
 public:
  Object() = default;
  // Takes over a reference that the caller owns.
  static Object steal(PyObject* object) { return Object(object); }

  Object(Object&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  Object& operator=(Object&& other) noexcept {
    Object before(std::exchange(object_, std::exchange(other.object_, nullptr)));
    return *this;
  }
  ~Object();

  // Borrowed: valid while this lives.
  PyObject* get() const { return object_; }
  // Gives the reference to the caller.
  [[nodiscard]] PyObject* release() { return std::exchange(object_, nullptr); }
  explicit operator bool() const { return object_ != nullptr; }

 private:
  explicit Object(PyObject* object) : object_(object) {}

  PyObject* object_ = nullptr;
};

// Whether the source of functions travels beside their bytecode, which other versions
// of Python need: docs/cross_version.md.
enum class Source : std::uint8_t {
  kOff,       // False in Python.
  kAuto,      // "auto": where it is proven to give the bytecode.
  kRequired,  // True: what has none cannot travel.
};

struct EncodeOptions {
  // Goes into the header as it is, to be read before anything is loaded.
  BytesView application = {};
  // Signs the payload; null: nobody does.
  const SigningKey* key = nullptr;
  // From kFastestLevel to kSmallestLevel: buffers of 64 KiB and more that gain by it
  // are compressed, by zstd at this level. 0: none is.
  int compression_level = 0;
  Source source = Source::kOff;
};

// The object and all it needs, as an envelope. With the GIL.
//
// Errors: kRaised, without the GIL too; the detail is Python's message, which tells the
// path to what cannot travel. For null, as calls of Python that fail give it, it is the
// message of the exception that is set, which is cleared.
[[nodiscard]] Result<std::vector<std::uint8_t>> encode(
    PyObject* object, const EncodeOptions& options = {});

// Names that are others here than where a payload was made, from old to new, as the
// dict that Python's loads() takes: "old": "new", "old.*": "new.*", "old:Name":
// "new:Other". Moves that waybill knows are tried besides: docs/environment.md.
using Renames = std::map<std::string, std::string>;

// The object in an envelope, which is all of `bytes`. Nothing is imported or built
// before all of it is checked, against `options` too. With the GIL.
//
// Errors: those of Gate::open_trusted(), kPythonMismatch; kRaised for a module that
// cannot be imported, for what code of the payload raises, and for a rename that is
// none; and without the GIL.
[[nodiscard]] Result<Object> decode(BytesView bytes, const LoadOptions& options = {},
                                    const Renames& renames = {});

}  // namespace waybill
