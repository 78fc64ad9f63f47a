#pragma once

// The hooks and options of one call of `dumps`: methods of a Pickler, and arguments.
// All references are borrowed, and null if not given. The caller keeps them alive.

#include <Python.h>

#include <cstdint>

#include "waybill/bytes.h"

namespace waybill {
class SigningKey;
}

namespace waybill::py {

// Whether the source of functions travels beside their code.
enum class SourceUse : std::uint8_t {
  kNone,
  kWhereProven,  // Where it is proven to compile to the code.
  kDemanded,     // Functions without proven source cannot travel.
};

struct EncodeHooks {
  PyObject* persistent_id = nullptr;     // callable(obj) -> id, or None
  PyObject* reducer_override = nullptr;  // callable(obj) -> a reduction
  PyObject* dispatch_table = nullptr;    // type -> reducer; replaces copyreg's table
  PyObject* buffer_callback = nullptr;   // callable(PickleBuffer) -> false: out of band
  PyObject* by_value = nullptr;          // set of str: modules and packages
  PyObject* replace = nullptr;           // callable(obj) -> its replacement; see
                                         // waybill._reducers.replacements.Replacements
  // {address: (payload, position, object)} of objects in earlier payloads of the same
  // stream. The objects of this payload are added. `payload` is its number.
  PyObject* memo = nullptr;
  std::uint64_t payload = 0;
  // Data of the application in the envelope; see Parts.
  BytesView application{};
  const SigningKey* key = nullptr;
  // Level of zstd for stored buffers; 0: no compression.
  int compression_level = 0;
  SourceUse source = SourceUse::kNone;
  // callable([module]) -> the environment section of the manifest; null: no section.
  // See sealing.cpp.
  PyObject* environment = nullptr;

  // Whether no hook can change how functions and classes are written.
  bool allows_definitions() const {
    EncodeHooks others = *this;
    others.buffer_callback = nullptr;
    return others.has_no_callbacks() && by_value == nullptr;
  }
  // Whether a graph can be walked again after an error: no hook of the caller is
  // called. `replace` is waybill's own.
  bool is_rewalkable() const {
    EncodeHooks others = *this;
    others.replace = nullptr;
    return others.has_no_callbacks();
  }
  // Whether a graph can be walked twice: no hook is called with objects.
  bool has_no_callbacks() const {
    return persistent_id == nullptr && reducer_override == nullptr &&
           dispatch_table == nullptr && buffer_callback == nullptr &&
           replace == nullptr && memo == nullptr;
  }
};

}  // namespace waybill::py
