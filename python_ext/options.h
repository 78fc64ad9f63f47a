#pragma once

// The options of encode(), decode() and similar functions: a dict by name. An option
// that is missing or None has its default.

#include <Python.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <string_view>

#include "conversions.h"
#include "python/capsules.h"
#include "python/decode/decode_hooks.h"
#include "python/encode/encode_hooks.h"

namespace waybill::extension {

// An option: its name, and how its value is stored.
template <typename Options>
struct OptionRow {
  std::string_view name;
  void (*store)(Options& options, PyObject* value);
};

inline PyObject* unchanged(PyObject* value) { return value; }

inline PyObject* false_to_null(PyObject* value) {
  return is_true(value) ? value : nullptr;
}

// Stores a value in a member of the hooks.
template <auto kHook, auto kConvert = unchanged, typename Options>
void store(Options& options, PyObject* value) {
  options.hooks.*kHook = kConvert(value);
}

// Stores the values of a dict in `options` as borrowed references: until `options` is
// destroyed, the dict must exist and not change.
template <typename Options, std::size_t kCount>
void store_all(PyObject* dict, const OptionRow<Options> (&rows)[kCount],
               Options& options) {
  if (!PyDict_Check(dict)) {
    py::raise(PyExc_TypeError, "the options should be a dict, got %.200s",
              Py_TYPE(dict)->tp_name);
  }
  PyObject *name, *value;  // Borrowed from the dict.
  for (Py_ssize_t position = 0; PyDict_Next(dict, &position, &name, &value);) {
    if (value == Py_None) continue;
    Ref storage;
    const std::string_view text = py::utf8_of(name, storage);
    const auto* row = std::ranges::find(rows, text, &OptionRow<Options>::name);
    if (row == std::end(rows)) {
      py::raise(PyExc_TypeError,
                "unknown option %R; python_ext/options.h lists the options", name);
    }
    row->store(options, value);
  }
}

struct EncodeOptions {
  // Throws PyError.
  explicit EncodeOptions(PyObject* dict);

  py::EncodeHooks hooks;
  PyObject* key = nullptr;           // The capsule that holds `hooks.key`.
  std::optional<Input> application;  // Holds `hooks.application`.
};

inline constexpr OptionRow<EncodeOptions> kEncodeOptions[] = {
    {"persistent_id", store<&py::EncodeHooks::persistent_id>},
    {"reducer_override", store<&py::EncodeHooks::reducer_override>},
    {"dispatch_table", store<&py::EncodeHooks::dispatch_table>},
    {"buffer_callback", store<&py::EncodeHooks::buffer_callback>},
    {"memo", store<&py::EncodeHooks::memo>},
    {"payload", store<&py::EncodeHooks::payload, number_of>},
    {"by_value", store<&py::EncodeHooks::by_value>},
    {"application",
     [](EncodeOptions& options, PyObject* bytes) {
       options.hooks.application = options.application.emplace(bytes).bytes();
     }},
    {"replace", store<&py::EncodeHooks::replace>},
    {"key",
     [](EncodeOptions& options, PyObject* capsule) {
       options.hooks.key = &py::signing_key_of(capsule);
       options.key = capsule;
     }},
    {"compress", store<&py::EncodeHooks::compression_level, compression_level_of>},
    {"source", store<&py::EncodeHooks::source, source_use_of>},
    {"environment", store<&py::EncodeHooks::environment, false_to_null>},
};

inline EncodeOptions::EncodeOptions(PyObject* dict) {
  store_all(dict, kEncodeOptions, *this);
}

struct DecodeOptions {
  // Adds the options in `dict` to the hooks in `base`. Throws PyError.
  DecodeOptions(PyObject* dict, const py::DecodeHooks& base);

  py::DecodeHooks hooks;
  std::optional<LoadOptions> load_options;
};

inline constexpr OptionRow<DecodeOptions> kDecodeOptions[] = {
    {"persistent_load", store<&py::DecodeHooks::persistent_load>},
    {"find_class", store<&py::DecodeHooks::find_class>},
    {"buffers", store<&py::DecodeHooks::buffers>},
    {"history", store<&py::DecodeHooks::history>},
    {"reset_classes", store<&py::DecodeHooks::resets_classes, is_true>},
    {"class_state", store<&py::DecodeHooks::class_state>},
    {"missing", store<&py::DecodeHooks::allows_missing, is_true>},
    {"map_location", store<&py::DecodeHooks::map_location>},
    {"renames", store<&py::DecodeHooks::renames>},
    {"opaque", store<&py::DecodeHooks::opaque>},
    {"load_options",
     [](DecodeOptions& options, PyObject* tuple) {
       options.load_options = py::load_options_of(tuple);
     }},
};

inline DecodeOptions::DecodeOptions(PyObject* dict, const py::DecodeHooks& base)
    : hooks(base) {
  store_all(dict, kDecodeOptions, *this);
  // Objects of missing modules become opaque too, so a missing module is no error.
  if (hooks.opaque != nullptr) hooks.allows_missing = true;
}

}  // namespace waybill::extension
