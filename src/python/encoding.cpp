// Tested by tests/python, and where sections are taken as they were by
// tests/python/cache/test_kept_functions.py and tests/python/api/test_prepare.py.

#include "python/encoding.h"

#include <cstdint>

namespace waybill::py {

namespace {

// What is so small is written to the stack first: to give a bytes object its length
// afterwards takes longer than to copy that.
constexpr std::size_t kSmall = 2048;

// Writes the sections around the payload in place: of a large envelope, the bytes
// object is the only copy.
Ref seal_in_place(const Parts& parts) {
  const std::size_t bound = sealed_bound(parts);
  if (bound <= kSmall) {
    std::uint8_t near[kSmall];
    const std::uint8_t* end = seal_at(parts, near);
    return Ref::steal(
        PyBytes_FromStringAndSize(reinterpret_cast<const char*>(near), end - near));
  }
  Ref bytes =
      Ref::steal(PyBytes_FromStringAndSize(nullptr, static_cast<Py_ssize_t>(bound)));
  auto* begin = reinterpret_cast<std::uint8_t*>(PyBytes_AS_STRING(bytes.get()));
  const std::uint8_t* end = seal_at(parts, begin);
  PyObject* resized = bytes.release();
  check(_PyBytes_Resize(&resized, end - begin));
  return Ref::steal(resized);
}

}  // namespace

Encoding::Encoding(State& state, const EncodeOptions& options)
    : infos(state),
      code(infos),
      imports(state, options.hooks.by_value),
      graph(state, infos, code, imports, options) {}

void Encoding::encode(PyObject* object) {
  graph.encode(object);
  imports.finish();
}

void Encoding::write_sections(const State& state, Written& written,
                              Parts& parts) const {
  imports.encode(written.manifest);
  code.write_places(written.places, imports.first_file(), state.known_codes);
  parts.encoded_manifest = written.manifest.view();
  parts.code = code.bodies();
  parts.places = written.places.view();
}

Ref Encoding::seal(const State& state, const EncodeHooks& hooks) {
  Parts parts;
  parts.python = state.python;
  parts.application = hooks.application;
  parts.key = hooks.key;
  parts.shared = graph.shared();
  parts.payload = graph.payload();
  parts.payload_insertions = graph.insertions();
  if (const KeptSections* kept = graph.taken_sections()) {
    kept->put_into(parts);
    return seal_in_place(parts);
  }
  Written written;
  write_sections(state, written, parts);
  Ref bytes = seal_in_place(parts);
  if (graph.is_to_be_kept()) graph.keep(KeptSections(parts));
  return bytes;
}

}  // namespace waybill::py
