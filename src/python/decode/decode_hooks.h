#pragma once

// What a caller can change about one loads: the methods of an Unpickler, and the
// options of the function. All references are borrowed and null where nothing was
// given; whoever fills the struct keeps them alive.

#include <Python.h>

#include <cstdint>
#include <set>

#include "waybill/gate.h"

namespace waybill::py {

struct DecodeHooks {
  PyObject* persistent_load = nullptr;  // callable(id) -> obj
  PyObject* find_class = nullptr;       // callable(module, name) -> obj
  PyObject* buffers = nullptr;          // iterator of bytes-like objects
  // [{position: object}] of the earlier payloads of a stream; this one's is added.
  PyObject* history = nullptr;
  bool resets_classes = false;       // A class that is known gets its state anew.
  PyObject* class_state = nullptr;   // A str: whose word alone counts.
  bool leaves_missing = false;       // Modules that are not here are no error yet.
  PyObject* map_location = nullptr;  // Where arrays of devices go: chosen_devices.h.
  PyObject* renames = nullptr;       // Of names: waybill._environment.renames.Renames.
  // What makes the stand-ins of what cannot be built: waybill._kinds.opaque.Payload.
  PyObject* opaque = nullptr;
  // Where the stored buffers are, if they do not stand behind the head: a sequence of
  // the objects that were read for them; or a memoryview of the whole envelope, of
  // which arrays become views.
  PyObject* stored = nullptr;
  PyObject* memory = nullptr;
  // What has the bytes, where these are a whole envelope: views of it may be given.
  PyObject* data = nullptr;
  bool checks_stored = true;  // Compares the digests of views; of copies always,
  // but for those whose places are here; to which those that were right are added.
  std::set<std::uint64_t>* checked_places = nullptr;
  // What payloads have to satisfy; null: to be sound.
  const Gate* gate = nullptr;

  // Whether there are none, and so the bytes alone decide what they become.
  bool are_none() const {
    return persistent_load == nullptr && find_class == nullptr && buffers == nullptr &&
           history == nullptr && !resets_classes && class_state == nullptr &&
           gate == nullptr && map_location == nullptr && renames == nullptr &&
           opaque == nullptr && stored == nullptr && memory == nullptr;
  }
};

}  // namespace waybill::py
