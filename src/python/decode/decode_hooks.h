#pragma once

// The settings of one loads() call: the methods of an Unpickler, and the options of the
// function. All references are borrowed, and null if not given; the caller keeps the
// objects alive.

#include <Python.h>

#include <cstdint>
#include <set>

#include "waybill/gate.h"

namespace waybill::py {

struct DecodeHooks {
  PyObject* persistent_load = nullptr;  // callable(id) -> obj
  PyObject* find_class = nullptr;       // callable(module, name) -> obj
  PyObject* buffers = nullptr;          // iterator of bytes-like objects
  // [{position: object}] of the earlier payloads of a stream; the dict of this payload
  // is appended.
  PyObject* history = nullptr;
  bool resets_classes = false;       // Gives existing classes the state in the payload.
  PyObject* class_state = nullptr;   // A str: the side whose class state is used.
  bool allows_missing = false;       // Missing modules raise when they are first used.
  PyObject* map_location = nullptr;  // Where arrays of devices go: device_mapping.h.
  PyObject* renames = nullptr;       // waybill._environment.renames.Renames
  PyObject* opaque = nullptr;        // waybill._kinds.opaque.Payload
  // The stored buffers, if they do not follow the head: `stored` is a sequence of
  // objects that hold them, `memory` a memoryview of the whole envelope, of which
  // arrays become views.
  PyObject* stored = nullptr;
  PyObject* memory = nullptr;
  // The object that owns the bytes of a whole envelope: arrays may become views of it.
  PyObject* data = nullptr;
  // Whether the digests of views are compared; those of copies always are. Buffers at
  // `checked_offsets` are skipped; offsets of buffers that pass are added.
  bool checks_stored = true;
  std::set<std::uint64_t>* checked_offsets = nullptr;
  // Null: every sound payload is accepted.
  const Gate* gate = nullptr;

  // Whether the decode cache may be used: definitions mean the same as without hooks.
  bool allows_cache() const {
    return persistent_load == nullptr && find_class == nullptr && history == nullptr &&
           !resets_classes && class_state == nullptr && gate == nullptr &&
           map_location == nullptr && renames == nullptr && opaque == nullptr &&
           stored == nullptr && memory == nullptr;
  }
};

}  // namespace waybill::py
