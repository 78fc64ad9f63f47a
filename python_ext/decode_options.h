#pragma once

// What the functions take that build objects, besides the payload.

#include <Python.h>

#include <optional>

#include "border.h"
#include "python/decode/decode_hooks.h"
#include "python/load_options.h"

namespace waybill::extension {

// The eleven options of decode(), from persistent_load on, as decode_options() of
// waybill._face gives them.
struct DecodeOptions {
  static constexpr Py_ssize_t kCount = 11;

  // `hooks` has what else is asked for. The options must outlive this.
  DecodeOptions(PyObject* const* options, py::DecodeHooks more) : hooks(more) {
    hooks.persistent_load = given(options[0]);
    hooks.find_class = given(options[1]);
    hooks.buffers = given(options[2]);
    hooks.history = given(options[3]);
    hooks.resets_classes = is_true(options[4]);
    hooks.class_state = given(options[5]);
    hooks.leaves_missing = is_true(options[6]);
    hooks.map_location = given(options[7]);
    hooks.renames = given(options[8]);
    hooks.opaque = given(options[9]);
    // Their names are opaque, too.
    if (hooks.opaque != nullptr) hooks.leaves_missing = true;
    if (options[10] != Py_None) load_options = py::load_options_of(options[10]);
  }

  static bool is_true(PyObject* object) {
    const int answer = PyObject_IsTrue(object);
    check(answer);
    return answer != 0;
  }

  py::DecodeHooks hooks;
  std::optional<LoadOptions> load_options;
};

}  // namespace waybill::extension
