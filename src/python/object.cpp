// The two pipelines.
//
//   object --GraphEncoder--> payload, code, imports --seal--> bytes
//   bytes --open, verify--> imports --GraphDecoder--> object
//
// Tested by tests/python.

#include "python/object.h"

#include <string>

#include "base/hash.h"
#include "envelope/manifest_codec.h"
#include "python/code_builder.h"
#include "python/compat.h"
#include "python/graph_decoder.h"

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
        imports(state),
        graph(state, infos, code, imports, options) {}

  void encode(PyObject* object) {
    graph.encode(object);
    imports.finish();
  }
};

Ref import_now(const State& state, const ImportRecord& record) {
  Ref name = Ref::steal(PyUnicode_DecodeUTF8(
      record.module.data(), static_cast<Py_ssize_t>(record.module.size()),
      "surrogatepass"));
  Ref top = Ref::steal_or_null(
      PyImport_ImportModuleLevelObject(name.get(), nullptr, nullptr, nullptr, 0));
  Ref module = top ? Ref::steal_or_null(PyImport_GetModule(name.get())) : Ref();
  if (module) return module;
  if (PyErr_Occurred() && !PyErr_ExceptionMatches(PyExc_ImportError)) throw PyError();
  std::string why = ", for " + record.chain;
  if (!record.function.empty()) why += " in " + record.function;
  if (!record.file.empty()) {
    why += " (" + record.file + ":" + std::to_string(record.line) + ")";
  }
  raise_missing(state, name.get(), why);
}

// Registers a pending submodule again, where Python can (3.15); the binding itself
// travels in the payload.
void import_lazily(const State& state, const ImportRecord& record) {
  Ref name = Ref::steal(PyUnicode_DecodeUTF8(
      record.module.data(), static_cast<Py_ssize_t>(record.module.size()),
      "surrogatepass"));
  Ref::steal(PyObject_CallFunctionObjArgs(state.make_lazy_import.get(), name.get(),
                                          Py_None, nullptr));
}

std::vector<Ref> import_all(const State& state, const Manifest& manifest) {
  std::vector<Ref> modules;
  for (const ImportRecord& record : manifest.imports) {
    Ref& module = modules.emplace_back();
    if (record.time == ImportTime::kLoad) module = import_now(state, record);
    if (record.time == ImportTime::kLazy) import_lazily(state, record);
  }
  return modules;
}

}  // namespace

Ref encode(State& state, PyObject* object) {
  Encoding encoding(state, {});
  encoding.encode(object);
  wire::Writer manifest;
  encoding.imports.encode(manifest);
  wire::Writer places;
  encoding.code.write_places(places);
  Parts parts;
  parts.python = state.python;
  parts.encoded_manifest = manifest.view();
  parts.code = encoding.code.bodies();
  parts.shared = encoding.graph.shared();
  parts.payload = encoding.graph.payload();
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

Manifest discover(State& state, PyObject* object, bool by_value) {
  EncodeOptions options;
  options.imports_only = true;
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

std::string fingerprint(State& state, PyObject* object) {
  Encoding encoding(state, {});
  encoding.encode(object);
  // Modules by name, since the payload has only their numbers; code without places.
  wire::Writer content;
  encoding.imports.write_names(content);
  for (const BytesView body : encoding.code.bodies()) content.append(body);
  for (const std::uint64_t offset : encoding.graph.shared()) {
    content.unsigned_integer(offset);
  }
  content.append(encoding.graph.payload());
  std::string digits;
  for (const std::uint8_t byte : base::content_hash_of(content.view())) {
    digits += "0123456789abcdef"[byte >> 4];
    digits += "0123456789abcdef"[byte & 15];
  }
  return digits;
}

Ref decode(State& state, BytesView bytes, const Limits& limits) {
  Result<Envelope> envelope = open_whole(bytes, limits);
  if (!envelope) raise(state, envelope.error());
  if (Result<void> checked = check_python(*envelope, state.python); !checked) {
    raise(state, checked.error());
  }
  if (Result<void> verified = verify(*envelope, limits); !verified) {
    raise(state, verified.error());
  }
  const std::vector<Ref> modules = import_all(state, envelope->manifest);
  CodeBuilder code(state, *envelope, limits);
  GraphDecoder decoder(state, *envelope, code, modules, limits);
  return decoder.decode();
}

}  // namespace waybill::py
