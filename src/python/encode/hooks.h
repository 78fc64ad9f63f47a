#pragma once

// What a caller can change about one dumps or loads: the methods of a Pickler or
// Unpickler, and the options of the functions. All references are borrowed and null
// where nothing was given; whoever fills the struct keeps them alive.

#include <Python.h>

#include <cstdint>

#include "waybill/admission.h"
#include "waybill/bytes.h"

namespace waybill {
class SigningKey;
}

namespace waybill::py {

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
  BytesView application;
  const SigningKey* key = nullptr;

  // Whether none has a say in the graph, and so the object alone decides what it
  // becomes.
  bool leave_graph_alone() const {
    return persistent_id == nullptr && reducer_override == nullptr &&
           dispatch_table == nullptr && buffer_callback == nullptr &&
           by_value == nullptr && replace == nullptr && memo == nullptr;
  }
};

struct DecodeHooks {
  PyObject* persistent_load = nullptr;  // callable(id) -> obj
  PyObject* find_class = nullptr;       // callable(module, name) -> obj
  PyObject* buffers = nullptr;          // iterator of bytes-like objects
  // [{position: object}] of the earlier payloads of a stream; this one's is added.
  PyObject* history = nullptr;
  bool resets_classes = false;      // A class that is known gets its state anew.
  PyObject* class_state = nullptr;  // A str: whose word alone counts.
  bool leaves_missing = false;      // Modules that are not here are no error yet.
  // On what terms payloads are let in; null: what is sound is.
  const Admission* admission = nullptr;

  // Whether there are none, and so the bytes alone decide what they become.
  bool are_none() const {
    return persistent_load == nullptr && find_class == nullptr && buffers == nullptr &&
           history == nullptr && !resets_classes && class_state == nullptr &&
           admission == nullptr;
  }
};

}  // namespace waybill::py
