// Tested by tests/embedding/object_test.cpp.

#include "waybill/object.h"

#include <Python.h>

#include <algorithm>

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

py::EncodeHooks hooks_of(const py::State& state, const EncodeOptions& options) {
  py::EncodeHooks hooks;
  hooks.application = options.application;
  hooks.key = options.key;
  hooks.compression_level =
      std::clamp(options.compression_level, kFastestLevel, kSmallestLevel);
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
  if (object_ != nullptr) static_cast<void>(Ref::steal_or_null(object_));
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

Result<Object> decode(BytesView bytes, const LoadOptions& load_options) {
  return guarded([&]() -> Result<Object> {
    const bool are_usual =
        !load_options.policy && !load_options.keys && !load_options.limits;
    return Object::steal(
        py::decode(linked_state(), bytes, {}, are_usual ? nullptr : &load_options)
            .release());
  });
}

}  // namespace waybill
