#pragma once

// Envelopes that tests take apart: one with a bit of everything, and the means to build
// others that are wrong in one place.

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/hash.h"
#include "format/tokens.h"
#include "waybill/envelope.h"

namespace waybill::samples {

// The digest of a buffer in a signed envelope.
inline std::array<std::uint8_t, 32> strong_digest_of(BytesView bytes) {
  base::StrongHashStream hash;
  hash.add(bytes);
  return hash.hash();
}

// The arguments of seal(), with the memory that they point to.
struct Draft {
  Draft() = default;
  explicit Draft(const Tokens& value) { put(payload, value); }

  // Records the position of the next value, to which references may be written.
  Token here() {
    return [this](Writer& out) { shared.push_back(out.size()); };
  }

  PythonVersion python{3, 11, 3495};
  Manifest manifest;
  std::vector<Bytes> code;
  std::vector<std::uint64_t> shared;
  Writer payload;
  Writer source_locations;
  Writer sources;
  std::vector<BufferParts> buffers;

  Bytes sealed(const SigningKey* key = nullptr, const Bytes& application = {}) const {
    std::vector<BytesView> bodies(code.begin(), code.end());
    Parts parts;
    parts.python = python;
    parts.application = application;
    parts.key = key;
    parts.manifest = &manifest;
    parts.code = bodies;
    parts.shared = shared;
    parts.payload = payload.view();
    parts.payload_insertions = payload.insertions();
    parts.source_locations = source_locations.view();
    parts.sources = sources.view();
    parts.buffers = buffers;
    Bytes out;
    seal(parts, out);
    return out;
  }
};

// Fields of a code body, each of which a test may make invalid.
struct BodyDraft {
  std::uint32_t argument_count = 1;
  std::uint32_t positional_only_count = 0;
  std::string name = "f";
  Bytes instructions = {0x97, 0, 0x53, 0};
  std::vector<std::string> names = {"json"};
  std::vector<std::string> local_names = {"x"};
  Bytes local_kinds = {0x20};
  Bytes exception_table;
  Bytes nested_hash;  // Of a nested code object; empty: none.
  std::function<void(Writer&)> write_constants;  // Null for None, a tuple, nested code.

  Bytes body() const {
    Writer out;
    put(out, {array(wire::kCodeFieldCount), argument_count, positional_only_count, 0, 2,
              3, name, name, binary(instructions)});
    write_constants ? write_constants(out) : write_default_constants(out);
    out.array(names.size());
    for (const std::string& each : names) out.text(each);
    out.array(local_names.size());
    for (const std::string& each : local_names) out.text(each);
    put(out, {binary(local_kinds), binary(exception_table)});
    return out.take();
  }

  void write_default_constants(Writer& out) const {
    put(out,
        {array(nested_hash.empty() ? 2 : 3), kNil, node(NodeTag::kTuple, 2), 1, "one"});
    if (!nested_hash.empty()) out.extension(ExtType::kCode, nested_hash);
  }
};

inline Bytes hash_of(const Bytes& body) {
  const ContentHash hash = base::content_hash_of(body);
  return {hash.begin(), hash.end()};
}

// {"answer": 42}
inline void fill_with_data(Draft& draft) { put(draft.payload, {map(1), "answer", 42}); }

// A list of a function, which needs two modules and has a nested function, and of a
// reference to it.
inline void fill_with_function(Draft& draft) {
  draft.manifest.imports = {
      {"json", ImportTime::kLoad, "json.dumps", "f", "/home/ada/task.py", 3},
      {"xml.dom", ImportTime::kCall, "xml.dom", "f", "/home/ada/task.py", 4},
      {"numpy", ImportTime::kLoad, "numpy", "", "", 0},
  };
  BodyDraft inner;
  inner.name = "f.<locals>.inner";
  BodyDraft outer;
  draft.code.push_back(inner.body());
  outer.nested_hash = hash_of(draft.code[0]);
  draft.code.push_back(outer.body());

  put(draft.payload,
      {array(2), draft.here(), node(NodeTag::kFunction, 4), 1, main_namespace(),
       array(1), node(NodeTag::kCell, 0), map(2), 0, map(2), "json", module_of(0), "np",
       module_of(2), 1, array(1), singleton(wire::Singleton::kEmpty), reference(0)});

  put(draft.source_locations,
      {array(1), location("/home/ada/task.py", 2, Bytes{0x80, 0}, 1),
       location(nullptr, 5)});
}

inline const Bytes kStoredText = {'0', '1', '2', '3', '4', '5', '6', '7', '8', '9'};
inline const Bytes kStoredItems(100, 7);
inline const std::uint64_t kStoredShape[] = {5, 20};

// [stored 0, stored 1, stored 0]: ten bytes, and the memory of an array.
inline void fill_with_buffers(Draft& draft) {
  put(draft.payload, {array(3), stored(0), stored(1), stored(0)});
  draft.buffers = {
      {wire::BufferKind::kBytes, kStoredText},
      {wire::BufferKind::kWritable, kStoredItems, "B", kStoredShape, true}};
}

// Sets the digest of an unsigned envelope to that of the bytes before it.
inline void fit_digest(Bytes& bytes) {
  const std::size_t covered = bytes.size() - 11;
  const auto digest = base::digest_of(BytesView(bytes).first(covered));
  std::ranges::copy(digest, bytes.begin() + static_cast<std::ptrdiff_t>(covered) + 2);
}

inline Bytes data_envelope() {
  Draft draft;
  fill_with_data(draft);
  return draft.sealed();
}

inline Bytes buffers_envelope(const SigningKey* key = nullptr) {
  Draft draft;
  fill_with_buffers(draft);
  return draft.sealed(key);
}

inline Bytes function_envelope() {
  Draft draft;
  fill_with_function(draft);
  return draft.sealed();
}

}  // namespace waybill::samples
