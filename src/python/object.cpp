// The two pipelines.
//
//   object --GraphEncoder--> payload, code, imports --seal--> bytes
//   bytes --open, verify--> imports --GraphDecoder--> object
//
// Tested by tests/python.

#include "python/object.h"

#include <memory>
#include <optional>
#include <string>

#include "base/hash.h"
#include "envelope/frame.h"
#include "envelope/manifest_codec.h"
#include "python/code_builder.h"
#include "python/code_view.h"
#include "python/compat.h"
#include "python/function_decoder.h"
#include "python/graph_decoder.h"
#include "python/module_importer.h"
#include "python/plain_decoder.h"
#include "python/received_envelope.h"

namespace waybill::py {

namespace {

// One object on its way out: what an envelope is made of.
struct Encoding {
  CodeInfos infos;
  CodeSection code;
  ImportCollector imports;
  GraphEncoder graph;

  Encoding(State& state, const EncodeOptions& options)
      : infos(state),
        code(infos),
        imports(state, options.hooks.by_value),
        graph(state, infos, code, imports, options) {}

  void encode(PyObject* object) {
    graph.encode(object);
    imports.finish();
  }
};

}  // namespace

namespace {

Ref new_bytes(BytesView bytes) {
  return Ref::steal(
      PyBytes_FromStringAndSize(reinterpret_cast<const char*>(bytes.data()),
                                static_cast<Py_ssize_t>(bytes.size())));
}

Ref sealed(const State& state, const Encoding& encoding, const EncodeHooks& hooks) {
  wire::Writer manifest;
  encoding.imports.encode(manifest);
  wire::Writer places;
  encoding.code.write_places(places, encoding.imports.first_file(), state.known_codes);
  Parts parts;
  parts.python = state.python;
  parts.application = hooks.application;
  parts.key = hooks.key;
  parts.encoded_manifest = manifest.view();
  parts.code = encoding.code.bodies();
  parts.shared = encoding.graph.shared();
  parts.payload = encoding.graph.payload();
  parts.payload_insertions = encoding.graph.insertions();
  parts.places = places.view();
  // Sealed in place: the bytes object is the only copy.
  const std::size_t bound = sealed_bound(parts);
  Ref bytes =
      Ref::steal(PyBytes_FromStringAndSize(nullptr, static_cast<Py_ssize_t>(bound)));
  auto* begin = reinterpret_cast<std::uint8_t*>(PyBytes_AS_STRING(bytes.get()));
  const std::uint8_t* end = seal_at(parts, begin);
  PyObject* resized = bytes.release();
  check(_PyBytes_Resize(&resized, end - begin));
  return Ref::steal(resized);
}

// What a function became before; null if it was not sent before, or has changed.
Ref sent_before(const State& state, PyObject* function, CodeInfo& info) {
  if (!info.sent) return {};
  // Looking may run code, in dicts with strange keys; that may send the function too.
  std::unique_ptr<SentFunction> sent = std::move(info.sent);
  if (sent->fits(state, function)) {
    Ref bytes = new_bytes(sent->envelope());
    info.sent = std::move(sent);
    return bytes;
  }
  ++info.misses;
  return {};
}

// What is to be kept of a function that seems to be sent again and again, and not each
// time with other globals; null if nothing is.
std::unique_ptr<SentFunction> look_at(const State& state, PyObject* function,
                                      const CodeInfo& info) {
  constexpr std::uint32_t kMaxMisses = 8;
  if (info.times_sent == 0 || info.misses >= kMaxMisses) return nullptr;
  return SentFunction::look(state, function, info);
}

}  // namespace

Ref encode(State& state, PyObject* object, const EncodeHooks& hooks) {
  EncodeOptions options;
  options.hooks = hooks;
  // The code holds its info, and what runs meanwhile may take it from the function.
  Ref code;
  if (PyFunction_Check(object) && hooks.are_none()) {
    code = Ref::share(PyFunction_GET_CODE(object));
  }
  CodeInfo* info = code ? kept_info(state, code.get()) : nullptr;
  if (info != nullptr) {
    if (Ref bytes = sent_before(state, object, *info)) return bytes;
  }
  Encoding encoding(state, options);
  std::unique_ptr<SentFunction> sent =
      info != nullptr ? look_at(state, object, *info) : nullptr;
  if (sent) encoding.imports.trace();
  encoding.encode(object);
  Ref bytes = sealed(state, encoding, hooks);
  if (info == nullptr) return bytes;
  ++info->times_sent;
  if (sent && sent->complete(state, object, encoding.imports, bytes_of(bytes.get()))) {
    info->sent = std::move(sent);
  } else if (sent) {
    ++info->misses;
  }
  return bytes;
}

Manifest discover(State& state, PyObject* object, bool by_value) {
  EncodeOptions options;
  options.passes_over = true;
  options.names_no_ids = true;
  options.root_by_value = by_value;
  Encoding encoding(state, options);
  encoding.encode(object);
  wire::Writer section;
  encoding.imports.encode(section);
  wire::Reader reader(section.view());
  Manifest manifest;
  if (!envelope::read_manifest(reader, manifest)) raise(state, reader.error());
  return manifest;
}

ContentHash content_hash(State& state, PyObject* object, bool passes_over,
                         bool names_classes) {
  EncodeOptions options;
  options.names_no_ids = true;
  options.passes_over = passes_over;
  options.only_names_classes = names_classes;
  Encoding encoding(state, options);
  encoding.encode(object);
  // Modules by name, since the payload has only their numbers; code without places.
  wire::Writer content;
  encoding.imports.write_names(content);
  for (const BytesView body : encoding.code.bodies()) content.append(body);
  for (const std::uint64_t offset : encoding.graph.shared()) {
    content.unsigned_integer(offset);
  }
  content.append(encoding.graph.payload(), encoding.graph.insertions());
  return base::content_hash_of(content.view());
}

namespace {

Result<VerifiedEnvelope> open_and_verify(const State& state, BytesView bytes,
                                         const Limits& limits) {
  if (auto envelope = envelope::open_unmeasured(bytes, limits)) {
    Result<VerifiedEnvelope> verified = verify(*std::move(envelope), limits);
    if (verified) return verified;
  }
  Result<Envelope> envelope = open_whole(bytes, limits);
  if (!envelope) return tl::unexpected(std::move(envelope.error()));
  Result<void> runs = check_python(*envelope, state.python);
  if (!runs) return tl::unexpected(std::move(runs.error()));
  return verify(*std::move(envelope), limits);
}

// A bare function, which the next may be made from; null if the envelope holds
// something else.
Ref decode_bare(State& state, BytesView bytes, ReceivedEnvelopes::Visit& visit) {
  std::size_t head_size = 0;
  Ref function = decode_function(state, bytes, head_size);
  if (!function) return {};
  ReceivedEnvelope* known = visit.take_up(state, bytes.first(head_size), [&] {
    return open_and_verify(state, bytes, Limits{});
  });
  if (known == nullptr) return function;
  for (std::size_t i = 0; i < known->starts().size(); ++i) {
    known->built(i, function.get(), true);
  }
  known->finish();
  return function;
}

// Builds what is in an envelope.
Ref build(State& state, const Result<VerifiedEnvelope>& verified,
          const DecodeHooks& hooks, const Limits& limits,
          ReceivedEnvelopes::Visit* visit) {
  const VerifiedEnvelope& envelope = *verified;
  ModuleImporter modules(state, envelope->manifest, hooks.leaves_missing);
  // Who decides what a name means decides what is imported for it, too.
  if (hooks.find_class == nullptr) modules.import_all();
  CodeBuilder code(state, envelope, limits);
  GraphDecoder decoder(state, envelope, code, modules, hooks, limits);
  ReceivedEnvelope* watcher = nullptr;
  if (visit != nullptr && !envelope->code.empty()) {
    const CodeBody& last = envelope->code.back();
    const std::size_t head = last.offset + last.bytes.size();
    watcher = visit->take_up(state, envelope->bytes.first(head),
                             [&]() -> const auto& { return verified; });
  }
  if (watcher != nullptr) decoder.watch(*watcher);
  Ref object = decoder.decode();
  if (hooks.find_class != nullptr) modules.import_all();
  if (watcher != nullptr) watcher->finish();
  return object;
}

// What is let in on any terms that are not the usual ones goes no short way, but for
// data, and that only once it is known to be allowed.
Ref decode_admitted(State& state, BytesView bytes, DecodeHooks hooks,
                    const Admission& admission) {
  const Result<VerifiedEnvelope> envelope = admission.admit(bytes);
  if (!envelope) raise(state, envelope.error());
  if (hooks.history == nullptr) {
    if (Ref object = decode_plain(bytes, admission.limits())) return object;
  }
  const Result<void> runs = check_python(*envelope, state.python);
  if (!runs) raise(state, runs.error());
  hooks.admission = &admission;
  return build(state, envelope, hooks, admission.limits(), nullptr);
}

}  // namespace

void use_caches(State& state, bool are_used) {
  state.uses_caches = are_used;
  state.known_codes.use(are_used);
  clear_caches(state);
}

void clear_caches(State& state) {
  state.known_codes.clear();
  state.received = std::make_shared<ReceivedEnvelopes>();
}

Ref decode(State& state, BytesView bytes, const DecodeHooks& hooks,
           const Terms* terms) {
  if (terms != nullptr || is_process_restricted()) {
    const Admission admission(terms != nullptr ? *terms : Terms{});
    if (!admission.is_free()) return decode_admitted(state, bytes, hooks, admission);
  }
  const Limits limits;
  std::shared_ptr<ReceivedEnvelopes> received;
  std::optional<ReceivedEnvelopes::Visit> visit;
  if (hooks.are_none() && state.uses_caches) {
    received = state.received;  // It may be emptied meanwhile.
    visit.emplace(*received, bytes);
    if (Ref object = visit->decode(state)) return object;
  }
  if (hooks.history == nullptr) {
    if (Ref object = decode_plain(bytes, limits)) return object;
  }
  if (visit) {
    if (Ref function = decode_bare(state, bytes, *visit)) return function;
  }
  const Result<VerifiedEnvelope> envelope = open_and_verify(state, bytes, limits);
  if (!envelope) raise(state, envelope.error());
  return build(state, envelope, hooks, limits, visit ? &*visit : nullptr);
}

}  // namespace waybill::py
