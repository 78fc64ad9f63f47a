#pragma once

// What encode(), decode() and their kin take besides the object or the payload.

#include <Python.h>

#include <optional>

#include "border.h"
#include "python/capsules.h"
#include "python/decode/decode_hooks.h"
#include "python/encode/encode_hooks.h"

namespace waybill::extension {

// Keeps alive what the hooks point to, but for the items of the tuple.
class EncodeOptions {
 public:
  // `options`: the tuple EncodeOptions of _core.pyi. Throws PyError.
  explicit EncodeOptions(PyObject* options) : EncodeOptions(items_of(options, 13)) {}

  const py::EncodeHooks& hooks() const { return hooks_; }
  PyObject* key() const { return key_; }  // Borrowed; may be None.

 private:
  explicit EncodeOptions(PyObject* const* items)
      : key_(items[9]), application_(items[7]) {
    hooks_.persistent_id = given(items[0]);
    hooks_.reducer_override = given(items[1]);
    hooks_.dispatch_table = given(items[2]);
    hooks_.buffer_callback = given(items[3]);
    hooks_.memo = given(items[4]);
    hooks_.payload = PyLong_AsUnsignedLongLong(items[5]);
    check(PyErr_Occurred() ? -1 : 0);
    hooks_.by_value = given(items[6]);
    hooks_.application = application_.bytes();
    hooks_.replace = given(items[8]);
    if (given(key_) != nullptr) hooks_.key = &py::signing_key_of(key_);
    hooks_.compression_level = compression_level_of(items[10]);
    hooks_.source = source_use_of(items[11]);
    hooks_.environment = given(items[12]);
  }

  PyObject* key_;
  Input application_;
  py::EncodeHooks hooks_;
};

struct DecodeOptions {
  // `options`: the tuple DecodeOptions of _core.pyi, which must outlive this. `more`
  // has what else is asked for. Throws PyError.
  DecodeOptions(PyObject* options, py::DecodeHooks more) : hooks(more) {
    PyObject* const* items = items_of(options, 11);
    hooks.persistent_load = given(items[0]);
    hooks.find_class = given(items[1]);
    hooks.buffers = given(items[2]);
    hooks.history = given(items[3]);
    hooks.resets_classes = is_true(items[4]);
    hooks.class_state = given(items[5]);
    hooks.leaves_missing = is_true(items[6]);
    hooks.map_location = given(items[7]);
    hooks.renames = given(items[8]);
    hooks.opaque = given(items[9]);
    // Their names are opaque, too.
    if (hooks.opaque != nullptr) hooks.leaves_missing = true;
    if (items[10] != Py_None) load_options = py::load_options_of(items[10]);
  }

  py::DecodeHooks hooks;
  std::optional<LoadOptions> load_options;
};

}  // namespace waybill::extension
