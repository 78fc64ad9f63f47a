#pragma once

// What the functions take that build objects, besides the payload.

#include <Python.h>

#include <optional>

#include "border.h"
#include "python/decode/decode_hooks.h"
#include "python/load_options.h"

namespace waybill::extension {

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
