#pragma once

// What a caller can change about one dumps: the methods of a Pickler, and the options
// of the function. All references are borrowed and null where nothing was given;
// whoever fills the struct keeps them alive.

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
  kWhereProven,  // Where it is proven to give the code.
  kDemanded,     // What has none cannot travel.
};

struct EncodeHooks {
  PyObject* persistent_id = nullptr;     // callable(obj) -> id, or None
  PyObject* reducer_override = nullptr;  // callable(obj) -> a reducer's answer
  PyObject* dispatch_table = nullptr;    // mapping type -> reducer, for copyreg's
  PyObject* buffer_callback = nullptr;   // callable(PickleBuffer) -> false: out of band
  PyObject* by_value = nullptr;          // set of str: modules and packages
  PyObject* replace = nullptr;           // callable(obj) -> what stands for it; see
                                         // waybill._replacements.Replacements
  // {address: (payload, position, object)}: what earlier payloads of the same stream
  // hold; this one's objects are added. `payload` is this one's number.
  PyObject* memo = nullptr;
  std::uint64_t payload = 0;
  // What goes into the envelope beside the object; see Parts.
  BytesView application{};
  const SigningKey* key = nullptr;
  // Of the zstd that stored buffers are compressed with; 0: they are not.
  int compression_level = 0;
  SourceUse source = SourceUse::kNone;
  // callable([module]) -> what the manifest tells of the environment; null: nothing.
  // See sealing.cpp.
  PyObject* environment = nullptr;

  // Whether none has a say in functions and classes, and so these alone decide what
  // they become.
  bool allow_definitions() const {
    EncodeHooks others = *this;
    others.buffer_callback = nullptr;
    return others.has_no_callbacks() && by_value == nullptr;
  }
  // Whether a graph can be walked again after an error: nothing of the caller's but
  // replace, which is ours, is told of objects.
  bool is_rewalkable() const {
    EncodeHooks others = *this;
    others.replace = nullptr;
    return others.has_no_callbacks();
  }
  // Whether a graph can be walked twice: nothing of the caller's is told of objects.
  bool has_no_callbacks() const {
    return persistent_id == nullptr && reducer_override == nullptr &&
           dispatch_table == nullptr && buffer_callback == nullptr &&
           replace == nullptr && memo == nullptr;
  }
};

}  // namespace waybill::py
