#pragma once

// The options of encode(), decode() and similar functions.

#include <Python.h>

#include <optional>

#include "conversions.h"
#include "python/capsules.h"
#include "python/decode/decode_hooks.h"
#include "python/encode/encode_hooks.h"

namespace waybill::extension {

// Keeps the targets of the hooks alive, except the items of the tuple.
class EncodeOptions {
 public:
  // `options`: the tuple EncodeOptions of _core.pyi. Throws PyError.
  explicit EncodeOptions(PyObject* options) : EncodeOptions(items_of(options, 13)) {}

  const py::EncodeHooks& hooks() const { return hooks_; }
  PyObject* key() const { return key_; }  // Borrowed; may be None.

 private:
  explicit EncodeOptions(PyObject* const* items)
      : key_(items[9]), application_(items[7]) {
    hooks_.persistent_id = none_to_null(items[0]);
    hooks_.reducer_override = none_to_null(items[1]);
    hooks_.dispatch_table = none_to_null(items[2]);
    hooks_.buffer_callback = none_to_null(items[3]);
    hooks_.memo = none_to_null(items[4]);
    hooks_.payload = PyLong_AsUnsignedLongLong(items[5]);
    check(PyErr_Occurred() ? -1 : 0);
    hooks_.by_value = none_to_null(items[6]);
    hooks_.application = application_.bytes();
    hooks_.replace = none_to_null(items[8]);
    if (none_to_null(key_) != nullptr) hooks_.key = &py::signing_key_of(key_);
    hooks_.compression_level = compression_level_of(items[10]);
    hooks_.source = source_use_of(items[11]);
    hooks_.environment = none_to_null(items[12]);
  }

  PyObject* key_;
  Input application_;
  py::EncodeHooks hooks_;
};

struct DecodeOptions {
  // `options`: the tuple DecodeOptions of _core.pyi, which must outlive this. `base`:
  // the other hooks. Throws PyError.
  DecodeOptions(PyObject* options, py::DecodeHooks base) : hooks(base) {
    PyObject* const* items = items_of(options, 11);
    hooks.persistent_load = none_to_null(items[0]);
    hooks.find_class = none_to_null(items[1]);
    hooks.buffers = none_to_null(items[2]);
    hooks.history = none_to_null(items[3]);
    hooks.resets_classes = is_true(items[4]);
    hooks.class_state = none_to_null(items[5]);
    hooks.allows_missing = is_true(items[6]);
    hooks.map_location = none_to_null(items[7]);
    hooks.renames = none_to_null(items[8]);
    hooks.opaque = none_to_null(items[9]);
    // Names of missing modules become opaque too.
    if (hooks.opaque != nullptr) hooks.allows_missing = true;
    if (items[10] != Py_None) load_options = py::load_options_of(items[10]);
  }

  py::DecodeHooks hooks;
  std::optional<LoadOptions> load_options;
};

}  // namespace waybill::extension
