// Tested by tests/python; cached sections by
// tests/python/cache/test_cached_functions.py and tests/python/api/test_prepare.py; the
// environment by tests/python/imports/test_environment_in_file.py.

#include "python/sealing.h"

#include <optional>
#include <span>
#include <string>
#include <utility>

#include "base/fresh_pages.h"
#include "format/manifest_codec.h"
#include "python/runtime/gil.h"
#include "python/runtime/py_error.h"
#include "python/runtime/text.h"
#include "waybill/bytes.h"
#include "waybill/envelope.h"

namespace waybill::py {
namespace {

// A list of the names of all imported modules, without relative ones, which belong to
// the package of a function.
Ref modules_of(BytesView manifest) {
  Ref names = Ref::steal(PyList_New(0));
  if (manifest.empty()) return names;
  wire::Reader reader(manifest);
  Manifest read;
  envelope::read_manifest(reader, read);  // This process wrote it: no error.
  for (const ImportRecord& import : read.imports) {
    if (import.module.starts_with('.')) continue;
    check(PyList_Append(names.get(), new_text(import.module).get()));
  }
  return names;
}

std::vector<std::string> texts_of(PyObject* list) {
  std::vector<std::string> texts;
  for (PyObject* text : items_of(list)) {
    if (!PyUnicode_Check(text)) {
      raise(PyExc_TypeError, "names of modules should be str");
    }
    texts.push_back(text_of(text));
  }
  return texts;
}

Distribution distribution_of(PyObject* row) {
  PyObject *name, *version, *modules;
  if (!PyArg_ParseTuple(row, "UUO!:distribution", &name, &version, &PyList_Type,
                        &modules)) {
    throw PyError();
  }
  return {text_of(name), text_of(version), texts_of(modules)};
}

Environment environment_of(PyObject* tuple) {
  PyObject *python, *implementation, *platform, *rows;
  if (!PyArg_ParseTuple(tuple, "UUUO!:environment", &python, &implementation, &platform,
                        &PyList_Type, &rows)) {
    throw PyError();
  }
  Environment environment{
      text_of(python), text_of(implementation), text_of(platform), {}};
  for (PyObject* row : items_of(rows)) {
    if (!PyTuple_Check(row)) raise(PyExc_TypeError, "a distribution should be a tuple");
    environment.distributions.push_back(distribution_of(row));
  }
  return environment;
}

// A manifest section with the environment of its imports. `query`:
// waybill._environment.distributions.environment_of. Throws PyError: an exception of
// `query`, or TypeError for a result of another form.
std::vector<std::uint8_t> with_environment(BytesView manifest, PyObject* query) {
  const Ref modules = modules_of(manifest);
  const Ref environment = call(query, modules.get());
  if (!PyTuple_Check(environment.get())) {
    raise(PyExc_TypeError, "an environment should be a tuple");
  }
  return envelope::with_environment(manifest, environment_of(environment.get()));
}

// Envelopes of up to this size are written on the stack and copied, which is faster
// than resizing a bytes object.
constexpr std::size_t kMaxStackBytes = 2048;

// Compresses buffers into the memory of the envelope, where seal_at() reads them and
// moves them to their final places. These depend on the size of the head, which may be
// less than its bound. Keeps the GIL, so that buffers do not change after dumps() was
// called.
void compress_in_place(std::span<BufferParts> buffers, int level, std::uint8_t* start) {
  std::size_t place = 0;
  for (BufferParts& buffer : buffers) {
    compress_buffer(buffer, level, start + place);
    place += buffer.bytes.size();
    place += head_padding(place);
  }
}

// Writes the envelope directly into its bytes object: a large one is never copied.
Ref seal_in_place(const Parts& parts, std::span<BufferParts> buffers, int level) {
  const std::size_t bound = sealed_bound(parts);
  if (bound <= kMaxStackBytes) {
    std::uint8_t stack_bytes[kMaxStackBytes];
    const std::uint8_t* end = seal_at(parts, stack_bytes);
    return new_bytes({stack_bytes, end});
  }
  Ref bytes =
      Ref::steal(PyBytes_FromStringAndSize(nullptr, static_cast<Py_ssize_t>(bound)));
  auto* begin = reinterpret_cast<std::uint8_t*>(PyBytes_AS_STRING(bytes.get()));
  if (level != 0) {
    base::advise_large_pages(begin, bound);
    const std::size_t head = head_bound(parts);
    compress_in_place(buffers, level, begin + head + head_padding(head));
  }
  const std::uint8_t* end = seal_at(parts, begin);
  PyObject* resized = bytes.release();
  check(_PyBytes_Resize(&resized, end - begin));
  return Ref::steal(resized);
}

// Compresses a buffer to a bytes object, which replaces `object` if it is smaller.
// Releases the GIL: buffers must not change until they are written.
void compress_to_object(BufferParts& buffer, Ref& object, int level) {
  const std::size_t bound = compression_bound(buffer.bytes.size());
  Ref bytes =
      Ref::steal(PyBytes_FromStringAndSize(nullptr, static_cast<Py_ssize_t>(bound)));
  auto* begin = reinterpret_cast<std::uint8_t*>(PyBytes_AS_STRING(bytes.get()));
  const std::size_t size =
      without_gil([&] { return compress_buffer(buffer, level, begin); });
  if (size == 0) return;
  PyObject* resized = bytes.release();
  check(_PyBytes_Resize(&resized, static_cast<Py_ssize_t>(size)));
  object = Ref::steal(resized);
  buffer.bytes = bytes_of(resized);
}

// The stored buffers of an envelope, compressed if the hooks ask for it, and the
// objects that own them.
struct SealedBuffers {
  std::vector<BufferParts> buffers;
  std::vector<Ref> objects;

  explicit SealedBuffers(GraphEncoder& graph)
      : buffers(graph.context().stored.parts()),
        objects(graph.context().stored.objects()) {
    const int level = graph.context().hooks().compression_level;
    if (level == 0) return;
    for (std::size_t i = 0; i < buffers.size(); ++i) {
      compress_to_object(buffers[i], objects[i], level);
    }
  }
};

// The pieces of the envelope. `objects`: the owners of the buffers, in their order.
Ref seal_in_chunks(const Parts& parts, const std::vector<Ref>& objects) {
  Ref chunks = Ref::steal(PyList_New(0));
  auto buffer = objects.begin();
  seal_to(parts, [&](BytesView piece, bool is_buffer) {
    const Ref chunk = is_buffer ? *buffer++ : new_bytes(piece);
    check(PyList_Append(chunks.get(), chunk.get()));
  });
  return chunks;
}

// Calls `write` with the parts, and with the environment in the manifest if the hooks
// ask for it. Cached heads omit the environment, since distributions may be replaced.
template <typename Write>
Ref write_with_environment(const EncodeHooks& hooks, const Parts& parts, Write write) {
  if (hooks.environment == nullptr) return write(parts);
  const std::vector<std::uint8_t> manifest =
      with_environment(parts.encoded_manifest, hooks.environment);
  Parts extended = parts;
  extended.encoded_manifest = manifest;
  return write(extended);
}

// The definitions of a payload, and the shared positions of the definitions and the
// value.
class Positions {
 public:
  explicit Positions(GraphEncoder& graph)
      : objects_(graph.context().objects),
        insertions_(graph.context().out.insertions()),
        shared_(&graph.context().arena) {
    const PayloadDefinitions* definitions = graph.context().definitions_if_any();
    if (definitions == nullptr) return;
    if (graph.head() != nullptr) {
      written_ = &graph.head()->written;
    } else {
      written_ = &own_.emplace(definitions->write());
    }
    shared_.reserve(written_->shared.size() + objects_.shared().size());
    shared_.assign(written_->shared.begin(), written_->shared.end());
    for (const std::uint64_t number : objects_.shared()) {
      const Place place = Place::of(number);
      shared_.push_back(place.definition == Place::kValue
                            ? written_->bytes.size() + place.offset
                            : written_->position_of(place));
    }
    start_ = {0, written_->bytes};
    if (insertions_.empty()) return;
    all_.push_back(start_);
    all_.insert(all_.end(), insertions_.begin(), insertions_.end());
  }

  const WrittenDefinitions& definitions() const { return *written_; }
  // Adds views of this object, which must outlive `parts`.
  void put_into(Parts& parts) const {
    if (written_ == nullptr) {
      parts.shared = objects_.shared();
      parts.payload_insertions = insertions_;
      return;
    }
    parts.shared = shared_;
    parts.payload_insertions = std::span(&start_, 1);
    if (!all_.empty()) parts.payload_insertions = all_;
  }

 private:
  const WrittenObjects& objects_;
  std::span<const Insertion> insertions_;
  const WrittenDefinitions* written_ = nullptr;
  std::optional<WrittenDefinitions> own_;
  ArenaVector<std::uint64_t> shared_;
  Insertion start_{};           // The definitions, at offset 0.
  std::vector<Insertion> all_;  // All, if there are insertions_ after start_.
};

// Calls `write` with all parts of the envelope of an encoder's payload.
template <typename Write>
Ref seal_with(const State& state, GraphEncoder& graph,
              std::span<const BufferParts> buffers, Write write) {
  Parts parts;
  parts.python = state.python;
  EncodeContext& written = graph.context();
  parts.buffers = buffers;
  parts.application = written.hooks().application;
  parts.key = written.hooks().key;
  parts.payload = written.out.view();
  const Positions positions(graph);
  positions.put_into(parts);
  if (const CachedHead* head = graph.head()) {
    head->sections.put_into(parts);
    return write_with_environment(written.hooks(), parts, write);
  }
  if (!written.has_others())
    return write_with_environment(written.hooks(), parts, write);
  OtherSections::WrittenSections others;
  written.others().write(state, others, parts);
  Ref sealed = write_with_environment(written.hooks(), parts, write);
  if (graph.is_head_new())
    written.definitions().store_head(parts, positions.definitions());
  return sealed;
}

// In builds with assertions, checks that verify() accepts the envelope, limits aside.
void require_sound([[maybe_unused]] BytesView bytes) {
#ifndef NDEBUG
  const Result<VerifiedEnvelope> verified = open(bytes).and_then(
      [](Envelope&& envelope) { return verify(std::move(envelope)); });
  if (verified || verified.error().code == ErrorCode::kLimitExceeded) return;
  raise(PyExc_SystemError, "the written envelope is not sound: %s",
        to_string(verified.error()).c_str());
#endif
}

// require_sound() for an envelope in pieces.
void require_sound_chunks([[maybe_unused]] PyObject* chunks) {
#ifndef NDEBUG
  const Ref none = new_bytes({});
  const Ref joined = Ref::steal(PyObject_CallMethod(none.get(), "join", "O", chunks));
  require_sound(bytes_of(joined.get()));
#endif
}

}  // namespace

Ref seal(const State& state, GraphEncoder& graph) {
  const StoredBuffers& stored = graph.context().stored;
  std::vector<BufferParts> buffers;
  if (stored.count() != 0) buffers = stored.parts();
  Ref sealed = seal_with(state, graph, buffers, [&](const Parts& parts) {
    return seal_in_place(parts, buffers, graph.context().hooks().compression_level);
  });
  require_sound(bytes_of(sealed.get()));
  return sealed;
}

Ref seal_chunks(const State& state, GraphEncoder& graph) {
  SealedBuffers sealed(graph);
  Ref chunks = seal_with(state, graph, sealed.buffers, [&](const Parts& parts) {
    return seal_in_chunks(parts, sealed.objects);
  });
  // Joining large buffers would double their memory.
  if (sealed.buffers.empty()) require_sound_chunks(chunks.get());
  return chunks;
}

Manifest manifest_of(const State& state, GraphEncoder& graph) {
  wire::Writer section;
  graph.context().imports().encode(section);
  wire::Reader reader(section.view());
  Manifest manifest;
  if (!envelope::read_manifest(reader, manifest)) raise(state, reader.error());
  return manifest;
}

SealedSize sealed_size(const State& state, GraphEncoder& graph, bool keeps_head) {
  SealedBuffers sealed(graph);
  SealedSize size;
  seal_with(state, graph, sealed.buffers, [&](const Parts& parts) {
    seal_to(parts, [&](BytesView piece, bool is_buffer) {
      // The head is the first piece.
      const bool has_head = keeps_head || !parts.sources.empty();
      if (has_head && size.total == 0) size.head.assign(piece.begin(), piece.end());
      size.total += piece.size();
      if (is_buffer) size.buffers.push_back(piece.size());
    });
    return Ref();
  });
  return size;
}

}  // namespace waybill::py
