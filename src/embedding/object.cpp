// Tested by tests/embedding/object_test.cpp.

#include "waybill/object.h"

#include <Python.h>

#include <algorithm>

#include "embedding/gil_use.h"
#include "embedding/linked_package.h"
#include "embedding/python_error.h"
#include "embedding/python_options.h"
#include "python/runtime/ref.h"
#include "python/runtime/text.h"
#include "python/serializer.h"
#include "waybill/buffers.h"

namespace waybill {

namespace embedding {

Result<void> demand_object(PyObject* object) {
  if (object != nullptr) return {};
  if (PyErr_Occurred() != nullptr) throw py::PyError();
  return tl::unexpected(Error{ErrorCode::kRaised, 0, "there is no object"});
}

namespace {

py::SourceUse source_use_of(Source source) {
  switch (source) {
    case Source::kAuto:
      return py::SourceUse::kWhereProven;
    case Source::kRequired:
      return py::SourceUse::kDemanded;
    default:
      return py::SourceUse::kNone;
  }
}

// As the extension takes them: rules that are checked.
py::Ref rules_of(const py::State& state, const Renames& renames) {
  const py::Ref rules = py::Ref::steal(PyDict_New());
  for (const auto& [old, next] : renames) {
    py::check(
        PyDict_SetItem(rules.get(), py::new_text(old).get(), py::new_text(next).get()));
  }
  // Of the class that has the moves which waybill knows.
  PyObject* known = py::late(state, &py::LateHelpers::known_moves);
  return py::Ref::steal(
      PyObject_CallOneArg(reinterpret_cast<PyObject*>(Py_TYPE(known)), rules.get()));
}

}  // namespace

py::EncodeHooks hooks_of(const py::State& state, const EncodeOptions& options) {
  py::EncodeHooks hooks;
  hooks.application = options.application;
  hooks.key = options.key;
  hooks.compression_level =
      std::clamp(options.compression_level, kFastestLevel, kSmallestLevel);
  hooks.source = source_use_of(options.source);
  if (PySet_GET_SIZE(state.registered.get()) != 0) {
    hooks.by_value = state.registered.get();
  }
  return hooks;
}

}  // namespace embedding

using embedding::guarded;
using embedding::linked_state;
using py::Ref;

Object::~Object() {
  if (object_ != nullptr) embedding::drop(object_);
}

Result<std::vector<std::uint8_t>> encode(PyObject* object,
                                         const EncodeOptions& options) {
  return guarded([&]() -> Result<std::vector<std::uint8_t>> {
    if (auto is_there = embedding::demand_object(object); !is_there) {
      return tl::unexpected(is_there.error());
    }
    py::State& state = linked_state();
    const Ref bytes = py::encode(state, object, embedding::hooks_of(state, options));
    const BytesView view = py::bytes_of(bytes.get());
    return std::vector<std::uint8_t>(view.begin(), view.end());
  });
}

Result<Object> decode(BytesView bytes, const LoadOptions& load_options,
                      const Renames& renames) {
  return guarded([&]() -> Result<Object> {
    const bool are_usual =
        !load_options.policy && !load_options.keys && !load_options.limits;
    py::State& state = linked_state();
    py::DecodeHooks hooks;
    Ref rules;
    if (!renames.empty()) {
      rules = embedding::rules_of(state, renames);
      hooks.renames = rules.get();
    }
    return Object::steal(
        py::decode(state, bytes, hooks, are_usual ? nullptr : &load_options).release());
  });
}

}  // namespace waybill
