#pragma once

// Envelopes that tests take apart: one with a bit of everything, and the means to build
// others that are wrong in one place.

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/hash.h"
#include "waybill/envelope.h"
#include "wire/writer.h"

namespace waybill::samples {

using Bytes = std::vector<std::uint8_t>;
using wire::ExtType;
using wire::NodeTag;
using wire::Writer;

// The digest of a buffer in a signed envelope.
inline std::array<std::uint8_t, 32> strong_digest_of(BytesView bytes) {
  base::StrongHashStream hash;
  hash.add(bytes);
  return hash.hash();
}

// What seal() needs, owned.
struct Draft {
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

// Fields of a code body, each of which a test may spoil.
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
    out.array(wire::kCodeFieldCount);
    out.unsigned_integer(argument_count);
    out.unsigned_integer(positional_only_count);
    out.unsigned_integer(0);
    out.unsigned_integer(2);
    out.unsigned_integer(3);
    out.text(name);
    out.text(name);
    out.binary(instructions);
    write_constants ? write_constants(out) : write_usual_constants(out);
    out.array(names.size());
    for (const std::string& each : names) out.text(each);
    out.array(local_names.size());
    for (const std::string& each : local_names) out.text(each);
    out.binary(local_kinds);
    out.binary(exception_table);
    return out.take();
  }

  void write_usual_constants(Writer& out) const {
    out.array(nested_hash.empty() ? 2 : 3);
    out.nil();
    out.node(NodeTag::kTuple, 2);
    out.integer(1);
    out.text("one");
    if (!nested_hash.empty()) out.extension(ExtType::kCode, nested_hash);
  }
};

inline Bytes hash_of(const Bytes& body) {
  const ContentHash hash = base::content_hash_of(body);
  return {hash.begin(), hash.end()};
}

inline void write_namespace(Writer& out) {
  out.node(NodeTag::kNamespace, 3);
  out.text("__main__");
  out.nil();
  out.boolean(false);
}

inline void write_code(Writer& out, std::uint64_t body) {
  out.node(NodeTag::kCode, 1);
  out.unsigned_integer(body);
}

inline void write_stored(Writer& out, std::uint64_t number) {
  out.node(NodeTag::kStored, 1);
  out.unsigned_integer(number);
}

// `module`: a number in the manifest; none: the builtins.
inline void write_global(Writer& out, std::string_view name,
                         std::optional<std::uint64_t> module = {}) {
  out.node(NodeTag::kGlobal, 2);
  module ? out.index(ExtType::kModule, *module) : out.nil();
  out.text(name);
}

// A function up to its fields, which are to be written next.
inline void start_function(Writer& out, std::uint64_t body, std::size_t fields) {
  out.node(NodeTag::kFunction, 4);
  out.unsigned_integer(body);
  write_namespace(out);
  out.array(0);
  out.map(fields);
}

// What stands behind the arguments of an object that has no state and no items.
inline void end_object(Writer& out) {
  out.nil();
  out.array(0);
  out.map(0);
}

// `file`: null where it is that of the code around; `nested`: how many locations are to
// be written next.
inline void write_location(Writer& out, const char* file, std::int64_t line = 1,
                           BytesView table = {}, std::size_t nested = 0) {
  out.array(4);
  file != nullptr ? out.text(file) : out.nil();
  out.integer(line);
  out.binary(table);
  out.array(nested);
}

// {"answer": 42}
inline void fill_with_data(Draft& draft) {
  draft.payload.map(1);
  draft.payload.text("answer");
  draft.payload.integer(42);
}

// A list of a function that needs two modules and holds an inner one, and the function
// again.
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

  draft.payload.array(2);
  draft.shared = {draft.payload.size()};
  draft.payload.node(NodeTag::kFunction, 4);
  draft.payload.unsigned_integer(1);
  write_namespace(draft.payload);
  draft.payload.array(1);
  draft.payload.node(NodeTag::kCell, 0);
  draft.payload.map(2);
  draft.payload.unsigned_integer(0);
  draft.payload.map(2);
  draft.payload.text("json");
  draft.payload.index(ExtType::kModule, 0);
  draft.payload.text("np");
  draft.payload.index(ExtType::kModule, 2);
  draft.payload.unsigned_integer(1);
  draft.payload.array(1);
  draft.payload.singleton(wire::Singleton::kEmpty);
  draft.payload.index(ExtType::kReference, 0);

  draft.source_locations.array(1);
  write_location(draft.source_locations, "/home/ada/task.py", 2, Bytes{0x80, 0}, 1);
  write_location(draft.source_locations, nullptr, 5);
}

inline const Bytes kStoredText = {'0', '1', '2', '3', '4', '5', '6', '7', '8', '9'};
inline const Bytes kStoredItems(100, 7);
inline const std::uint64_t kStoredShape[] = {5, 20};

// [stored 0, stored 1, stored 0]: ten bytes, and the memory of an array.
inline void fill_with_buffers(Draft& draft) {
  draft.payload.array(3);
  for (const std::uint64_t number : {0, 1, 0}) {
    write_stored(draft.payload, number);
  }
  draft.buffers = {
      {wire::BufferKind::kBytes, kStoredText},
      {wire::BufferKind::kWritable, kStoredItems, "B", kStoredShape, true}};
}

// Puts the digest that belongs to the bytes before it at the end of an envelope that is
// not signed.
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
