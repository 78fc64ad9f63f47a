#pragma once

// What the decoder of a verified payload works with beside the bytes.

#include <Python.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "python/decode/arrivals.h"
#include "python/decode/code/code_builder.h"
#include "python/decode/decode_hooks.h"
#include "python/decode/lookup_check.h"
#include "python/decode/module_importer.h"
#include "python/decode/object_history.h"
#include "python/runtime/compat.h"
#include "python/runtime/ref.h"
#include "python/runtime/state.h"
#include "waybill/envelope.h"

namespace waybill::py {

// For one payload. While it exists, the collector runs only in its breaks.
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
        lets_no_code_in(given.gate != nullptr &&
                        given.gate->objection(Request::kCode, {}, {})),
        denied_names(state, given.gate),
        history(given.history),
        arrivals(state, hooks, collector) {}

  // For the constants of a code body: `objects` are the code objects nested in it, in
  // order.
  DecodeContext(const State& state, const std::vector<Ref>& objects)
      : nested(&objects),
        denied_names(state, nullptr),
        history(nullptr),
        arrivals(state, hooks, collector) {}

  CollectorPause collector;
  // Null for constants, which name no modules and no code but `nested`.
  const VerifiedEnvelope* envelope = nullptr;
  CodeBuilder* code = nullptr;
  ModuleImporter* modules = nullptr;
  const std::vector<Ref>* nested = nullptr;  // Null but for constants.
  std::size_t next_nested = 0;

  DecodeHooks hooks;
  bool is_data_only = false;
  bool lets_no_code_in = false;  // Nor, with the payload, what is called later.
  DeniedNames denied_names;      // What the gate denies by name.

  std::span<const Ref> stored;  // What nodes kStored mean, by number.
  // How often the definitions use code; nothing if they are still to be built.
  std::optional<std::size_t> known_code_uses;

  ObjectHistory history;
  Arrivals arrivals;  // Classes and modules of this payload, and what is here of them.
  // A dict: tuples of the parts of namespaces that were made, and their dicts.
  Ref namespaces;
  std::vector<Ref> fresh_cells;    // See GraphDecoder::take_fresh_cells().
  std::uint64_t buffer_count = 0;  // Of buffers out of band that were used.
  std::uint64_t taken_memory = 0;  // By calls, beside what is in the payload.
};

}  // namespace waybill::py
