// The pipelines.
//
//   object --GraphEncoder--> payload, code, imports --seal--> bytes
//   bytes --open, verify--> imports --GraphDecoder--> object
//
// Tested by tests/python; sent_sources() by tests/python/source/test_source_check.py.

#include "python/serializer.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/hash.h"
#include "format/definitions.h"
#include "format/frame.h"
#include "format/source_locations.h"
#include "python/cache/decode_cache.h"
#include "python/decode/code/code_builder.h"
#include "python/decode/graph_decoder.h"
#include "python/decode/module_importer.h"
#include "python/decode/received_buffers.h"
#include "python/device_mapping.h"
#include "python/encode/definitions/definition_cache.h"
#include "python/runtime/buffer_view.h"
#include "python/runtime/compat.h"
#include "python/sealing.h"

namespace waybill::py {

namespace {

Ref encode_and(Ref (*write)(const State&, GraphEncoder&), State& state,
               PyObject* object, const EncodeHooks& hooks) {
  const auto encode = [&](GraphEncoder& graph) { graph.encode(object); };
  return write_graph(state, {.hooks = hooks}, encode, write);
}

// The hash of an encoder's payload, with the code as `write_code` writes it. Covers the
// names of modules, since the payload has only their numbers, but no source locations.
template <typename WriteCode>
ContentHash hash_of_content(GraphEncoder& graph, WriteCode write_code) {
  wire::Writer content;
  graph.context().imports().write_names(content);
  write_code(content);
  for (const std::uint64_t offset : graph.context().objects.shared()) {
    content.unsigned_integer(offset);
  }
  content.append(graph.payload(), graph.context().out.insertions());
  for (const BufferParts& buffer : graph.context().stored.parts()) {
    content.binary(base::content_hash_of(buffer.bytes));
  }
  return base::content_hash_of(content.view());
}

// Opens an envelope without checking the digests of its buffers, which are checked when
// the buffers are copied. `bytes`: the whole envelope, or its head if `hooks` have the
// buffers.
Result<Envelope> open_parts(BytesView bytes, const DecodeHooks& hooks,
                            const Limits& limits) {
  Result<Envelope> envelope = open_head(bytes, limits);
  if (!envelope) return envelope;
  BytesView whole = bytes;
  if (hooks.memory != nullptr) whole = bytes_of_memory(hooks.memory);
  Result<void> attached;
  if (hooks.stored == nullptr) attached = attach_buffers(*envelope, whole);
  const std::size_t end =
      hooks.stored == nullptr ? envelope->size : envelope->bytes.size();
  if (!attached) {
    envelope = tl::unexpected(std::move(attached.error()));
  } else if (end != whole.size()) {
    envelope = tl::unexpected(
        envelope::trailing_bytes(envelope->size, envelope->size + whole.size() - end));
  }
  return envelope;
}

Result<VerifiedEnvelope> open_and_verify(const State& state, BytesView bytes,
                                         const DecodeHooks& hooks,
                                         const Limits& limits) {
  Result<Envelope> envelope = open_parts(bytes, hooks, limits);
  if (!envelope) return tl::unexpected(std::move(envelope.error()));
  Result<void> can_run = check_python(*envelope, state.python);
  if (!can_run && hooks.opaque == nullptr) {
    return tl::unexpected(std::move(can_run.error()));
  }
  return verify(*std::move(envelope), limits);
}

// Compiles the code of another Python version. If that fails, and the caller accepts
// opaque objects, no code is built.
void compile_foreign(const State& state, const VerifiedEnvelope& envelope,
                     CodeBuilder& code, const DecodeHooks& hooks) {
  try {
    require(state, check_python(*envelope, state.python));
    code.compile_all(envelope::code_uses_of(envelope));
  } catch (const PyError&) {
    if (hooks.opaque == nullptr) throw;
    Ref error = take_error();
    if (!is_instance_of(state, error.get(), &LazyHelpers::error)) {
      restore_error(error);
      throw;
    }
    code.refuse(std::move(error));
  }
}

// Builds the object of an envelope. The decoder continues where it has stopped.
Ref build(State& state, const VerifiedEnvelope& envelope, GraphDecoder& decoder,
          const DecodeHooks& hooks, DecodeCache::Lease* lease) {
  const DeviceMappingScope devices(hooks.map_location);
  const ReceivedBuffers buffers(state, envelope, hooks);
  ModuleImporter modules(state, envelope->manifest, hooks);
  CodeBuilder code(state, envelope, decoder.limits());
  if (code.is_foreign() && !envelope->code.empty()) {
    compile_foreign(state, envelope, code, hooks);
  }
  // find_class() imports the modules of the names that it looks up.
  if (hooks.find_class == nullptr) modules.import_all();
  DecodeContext context(state, envelope, code, modules, hooks);
  context.stored = buffers.objects();
  CachedEnvelope* recorder = nullptr;
  const bool has_definitions = envelope->definitions.value != 0;
  if (lease != nullptr && has_definitions && !code.is_foreign()) {
    // Classes without methods have no code, and little else before the definitions.
    std::size_t head = envelope::value_offset(*envelope);
    if (!envelope->code.empty()) {
      head = envelope->code.back().offset + envelope->code.back().bytes.size();
    }
    recorder = lease->start_recording(state, envelope->bytes.first(head), envelope);
  }
  if (recorder != nullptr) context.received_definitions.observe(*recorder);
  Ref object = decoder.decode(context);
  if (hooks.find_class != nullptr) modules.import_all();
  modules.finish();
  // Once the old name of a moved object exists here, the payload means another object.
  const bool is_repeatable = !modules.renaming().has_used_moves();
  if (recorder != nullptr && is_repeatable) recorder->finish_recording();
  return object;
}

// Refuses code that this Python can neither run nor compile, unless opaque objects may
// take its place.
void demand_python(const State& state, const Envelope& envelope,
                   const DecodeHooks& hooks) {
  if (hooks.opaque == nullptr) require(state, check_python(envelope, state.python));
}

// Decodes an envelope with a gate: nothing is built before the gate has admitted all of
// the envelope.
Ref decode_trusted(State& state, BytesView bytes, DecodeHooks hooks, const Gate& gate) {
  require(state, gate.check_signature(bytes));
  Envelope opened = require(state, open_parts(bytes, hooks, gate.limits()));
  const VerifiedEnvelope envelope = require(state, gate.admit(std::move(opened)));
  demand_python(state, envelope, hooks);
  hooks.gate = &gate;
  GraphDecoder decoder(state, *envelope, gate.limits());
  return build(state, envelope, decoder, hooks, nullptr);
}

// Verifies an envelope and builds its object. `started_decoder`: one that has built
// plain data, or null.
Ref verify_and_build(State& state, BytesView bytes, GraphDecoder* started_decoder,
                     const DecodeHooks& hooks, const Limits& limits,
                     DecodeCache::Lease* lease) {
  const Result<VerifiedEnvelope> envelope =
      open_and_verify(state, bytes, hooks, limits);
  if (!envelope) {
    if (started_decoder != nullptr)
      started_decoder->restart();  // No Python code may see open containers.
    raise(state, envelope.error());
  }
  if (started_decoder != nullptr)
    return build(state, *envelope, *started_decoder, hooks, lease);
  GraphDecoder decoder(state, **envelope, limits);
  return build(state, *envelope, decoder, hooks, lease);
}

// Checks max_bytes for a part, as opening does for a whole envelope.
void require_max_bytes(const State& state, std::uint64_t head_size,
                       const Envelope& envelope, const Limits& limits) {
  std::uint64_t size = head_size;
  for (const StoredBuffer& row : envelope.buffers) size += row.length;
  if (size <= limits.max_bytes) return;
  raise(state, Error{ErrorCode::kLimitExceeded, envelope.payload.offset,
                     "a part of " + std::to_string(size) +
                         " bytes with its buffers, more than the " +
                         std::to_string(limits.max_bytes) + " that max_bytes allows"});
}

// Refuses code of another Python version, because this one cannot read its bytecode.
void require_same_python(const State& state, const Envelope& envelope) {
  if (envelope.code.empty() || envelope.python == state.python) return;
  const std::string version = std::to_string(envelope.python.major) + "." +
                              std::to_string(envelope.python.minor);
  raise(state, Error{ErrorCode::kPythonMismatch, 0,
                     "the code was made by Python " + to_string(envelope.python) +
                         ", and this is Python " + to_string(state.python) +
                         "; compare with the version that made it: --python python" +
                         version});
}

}  // namespace

void start(State& state) {
  init_state(state);
  state.code_extra_index = code_info_index();
  PyErr_Clear();  // Without a free index, code info is not cached.
  clear_encode_cache(state);
  state.decode_cache = std::make_shared<DecodeCache>();
}

Ref encode(State& state, PyObject* object, const EncodeHooks& hooks) {
  return encode_and(seal, state, object, hooks);
}

Ref encode_chunks(State& state, PyObject* object, const EncodeHooks& hooks) {
  return encode_and(seal_chunks, state, object, hooks);
}

Manifest discover(State& state, PyObject* object, bool by_value) {
  GraphEncoder graph(
      state, {.root_by_value = by_value, .skips_blockers = true, .omits_ids = true});
  graph.encode(object);
  return manifest_of(state, graph);
}

ContentHash content_hash(State& state, PyObject* object, bool skips_blockers,
                         bool names_classes) {
  GraphEncoder graph(state, {.skips_blockers = skips_blockers,
                             .omits_ids = true,
                             .only_names_classes = names_classes});
  graph.encode(object);
  return hash_of_content(graph, [&](wire::Writer& content) {
    for (const BytesView body : graph.context().code().bodies()) content.append(body);
  });
}

std::optional<ContentHash> source_hash(State& state, PyObject* object) {
  GraphEncoder graph(state, {.skips_blockers = true,
                             .omits_ids = true,
                             .by_source = true,
                             .hooks = {.source = SourceUse::kWhereProven}});
  graph.encode(object);
  const CodeSection& code = graph.context().code();
  if (code.lacks_source()) return std::nullopt;
  return hash_of_content(graph,
                         [&](wire::Writer& content) { code.write_numbered(content); });
}

Ref decode_extracted(State& state, const ExtractedPart& part, const DecodeHooks& hooks,
                     const Gate& gate) {
  require_max_bytes(state, part.payload.size(), part.envelope, gate.limits());
  const VerifiedEnvelope envelope = require(state, gate.admit(part.envelope));
  GraphDecoder decoder(state, part.payload, 0, part.envelope.payload.offset,
                       gate.limits(), part.envelope.shared);
  return build(state, envelope, decoder, hooks, nullptr);
}

Ref decode_part(State& state, const VerifiedEnvelope& envelope, std::size_t offset,
                const DecodeHooks& hooks, const Gate& gate) {
  const Envelope& whole = *envelope;
  require_max_bytes(state, whole.bytes.size(), whole, gate.limits());
  require(state, gate.admit(whole));
  demand_python(state, whole, hooks);
  // The decoder stores only referenced objects. So the position of the part is added to
  // the referenced positions, unless it is one of them.
  std::vector<std::uint64_t> shared = whole.shared;
  const std::uint64_t position = offset - whole.payload.offset;
  const auto number =
      static_cast<std::size_t>(std::ranges::find(shared, position) - shared.begin());
  if (number == shared.size()) shared.push_back(position);
  GraphDecoder decoder(state, whole.bytes, whole.payload.offset, whole.payload.offset,
                       gate.limits(), shared);
  build(state, envelope, decoder, hooks, nullptr);
  return decoder.object_at(number);
}

Ref sent_sources(const State& state, BytesView head) {
  const Limits limits;
  const VerifiedEnvelope envelope =
      require(state, verify(require(state, open_head(head, limits)), limits));
  require_same_python(state, envelope);
  CodeBuilder codes(state, envelope, limits);
  const UnitCompiler units(state, envelope);
  Ref found = Ref::steal(PyList_New(0));
  std::set<std::uint32_t> seen;
  for (const std::uint32_t body : envelope::code_uses_of(envelope)) {
    const Ref code = codes.next_use(body);
    if (!seen.insert(body).second) continue;
    const Ref row = new_tuple({units.unit_or_none(body), code});
    check(PyList_Append(found.get(), row.get()));
  }
  return found;
}

void use_caches(State& state, bool are_used) {
  state.uses_caches = are_used;
  state.code_cache.set_enabled(are_used);
  state.dict_lookup_cache.set_enabled(are_used);
  clear_caches(state);
}

void clear_caches(State& state) {
  state.code_cache.clear();
  state.dict_lookup_cache.clear();
  clear_encode_cache(state);
  state.decode_cache = std::make_shared<DecodeCache>();
}

Ref cache_info(const State& state) {
  const auto number = [](std::uint64_t value) {
    return static_cast<unsigned long long>(value);
  };
  const CodeCache& codes = state.code_cache;
  return Ref::steal(Py_BuildValue(
      "{s{sKsK}s{sKsK}s{sKsKsKsK}}", "functions", "hits", number(state.encode_hits),
      "misses", number(state.encode_misses), "received", "hits",
      number(state.decode_hits), "misses", number(state.decode_misses), "code",
      "entries", number(codes.held_count()), "bytes", number(codes.held_bytes()),
      "max_entries", number(CodeCache::kMaxEntries), "max_bytes",
      number(CodeCache::kMaxHeldBytes)));
}

Ref decode(State& state, BytesView bytes, const DecodeHooks& hooks,
           const LoadOptions* options) {
  if (options != nullptr || is_process_restricted()) {
    const Gate gate(options != nullptr ? *options : LoadOptions{});
    if (!gate.is_free()) return decode_trusted(state, bytes, hooks, gate);
  }
  const Limits limits;
  std::shared_ptr<DecodeCache> received;
  std::optional<DecodeCache::Lease> lease;
  if (hooks.allows_cache() && state.uses_caches) {
    received =
        state.decode_cache;  // The payload's code may clear the caches meanwhile.
    lease.emplace(*received, bytes);
    if (Ref object = lease->decode(state, hooks)) return object;
  }
  DecodeCache::Lease* const used = lease ? &*lease : nullptr;
  std::vector<std::uint64_t> shared;
  Section payload;
  if (hooks.history == nullptr &&
      envelope::open_plain(bytes, limits, shared, payload)) {
    GraphDecoder decoder(state, bytes, payload.offset, payload.offset, limits, shared);
    const bool is_built = decoder.begin();
    if (is_built && decoder.is_complete() &&
        decoder.offset() == payload.offset + payload.bytes.size()) {
      return decoder.take_value();
    }
    if (is_built) decoder.restart();
    return verify_and_build(state, bytes, &decoder, hooks, limits, used);
  }
  return verify_and_build(state, bytes, nullptr, hooks, limits, used);
}

}  // namespace waybill::py
