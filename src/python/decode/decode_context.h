#pragma once

// The state of decoding one verified payload, except its bytes.

#include <Python.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "python/decode/code/code_builder.h"
#include "python/decode/decode_hooks.h"
#include "python/decode/key_guard.h"
#include "python/decode/lookup_check.h"
#include "python/decode/module_importer.h"
#include "python/decode/received_definitions.h"
#include "python/runtime/compat.h"
#include "python/runtime/ref.h"
#include "python/runtime/state.h"
#include "waybill/envelope.h"

namespace waybill::py {

// The objects of a payload to which later payloads of a stream may refer: a dict
// {position: object}, in the list of the stream.
class ObjectHistory {
 public:
  // `payloads`: the list, to which the dict is appended; null if there is no stream.
  explicit ObjectHistory(PyObject* payloads) : payloads_(payloads) {
    if (payloads == nullptr) return;
    objects_ = Ref::steal(PyDict_New());
    check(PyList_Append(payloads, objects_.get()));
  }

  explicit operator bool() const { return static_cast<bool>(objects_); }

  // Stores an object, and its cost as a dict key.
  void record(std::size_t position, PyObject* object, const HashCost& cost) {
    const auto place = static_cast<Py_ssize_t>(position);
    const Ref key = Ref::steal(PyLong_FromSsize_t(place));
    check(PyDict_SetItem(objects_.get(), key.get(), object));
    if (cost.depth <= kDefaultCost.depth && cost.steps <= kDefaultCost.steps) return;
    const Ref cost_key = Ref::steal(PyLong_FromSsize_t(~place));
    const Ref recorded = Ref::steal(Py_BuildValue("IK", cost.depth, cost.steps));
    check(PyDict_SetItem(objects_.get(), cost_key.get(), recorded.get()));
  }
  // The objects of the earlier payload with this number, an int; null if the stream has
  // none.
  PyObject* payload_at(PyObject* number) const {
    const Py_ssize_t index = PyLong_AsSsize_t(number);
    PyErr_Clear();  // A number too large for any list.
    const bool is_there =
        payloads_ != nullptr && index >= 0 && index < PyList_GET_SIZE(payloads_);
    return is_there ? PyList_GET_ITEM(payloads_, index) : nullptr;
  }
  // The cost of an object of an earlier payload as a key; both are ints. For a bad
  // reference, which find_stream_object() refuses, any cost will do.
  HashCost cost_of(PyObject* payload, PyObject* position) const {
    HashCost cost = kDefaultCost;
    const Ref key = Ref::steal(PyNumber_Invert(position));
    if (PyObject* recorded = raw_get(payload_at(payload), key.get())) {
      check(PyArg_ParseTuple(recorded, "IK", &cost.depth, &cost.steps) - 1);
    }
    return cost;
  }

 private:
  // The cost of an object for which none is recorded.
  static constexpr HashCost kDefaultCost = {16, 256};

  PyObject* payloads_;
  Ref objects_;
};

// The context of decoding one payload. While it exists, the garbage collector runs only
// during breaks of `collector`.
struct DecodeContext {
  // Everything must outlive the context.
  DecodeContext(const State& state, const VerifiedEnvelope& verified,
                CodeBuilder& builder, ModuleImporter& importer,
                const DecodeHooks& given)
      : envelope(&verified),
        code(&builder),
        modules(&importer),
        hooks(given),
        is_data_only(given.gate != nullptr && given.gate->is_data_only()),
        forbids_code(given.gate != nullptr &&
                     given.gate->refusal(Request::kCode, {}, {})),
        denied_names(state, given.gate),
        history(given.history),
        received_definitions(state, hooks, collector) {}

  // For the constants of a code body. `objects`: its nested code objects, in order.
  DecodeContext(const State& state, const std::vector<Ref>& objects)
      : nested(&objects),
        denied_names(state, nullptr),
        history(nullptr),
        received_definitions(state, hooks, collector) {}

  CollectorPause collector;
  // Null for constants, which refer to no modules, and to no code except `nested`.
  const VerifiedEnvelope* envelope = nullptr;
  CodeBuilder* code = nullptr;
  ModuleImporter* modules = nullptr;
  const std::vector<Ref>* nested = nullptr;  // Only for constants.
  std::size_t next_nested = 0;

  DecodeHooks hooks;
  bool is_data_only = false;
  bool forbids_code = false;  // The gate refuses code; see demand_no_shadow().
  DeniedNames denied_names;

  std::span<const Ref> stored;  // The objects of kStored nodes, by number.
  // The number of uses of code in the definitions, if the definitions are built
  // already.
  std::optional<std::size_t> definition_code_uses;
  bool only_definitions = false;  // Classes are merged, and no value is built.

  ObjectHistory history;
  ReceivedDefinitions received_definitions;
  // A dict from the parts of kNamespace nodes, as tuples, to the namespaces.
  Ref namespaces;
  std::vector<Ref> fresh_cells;      // See GraphDecoder::take_fresh_cells().
  std::uint64_t buffer_count = 0;    // Out-of-band buffers used so far.
  std::uint64_t charged_memory = 0;  // See GraphDecoder::charge_memory().
};

}  // namespace waybill::py
