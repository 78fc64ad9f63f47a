// Tested by tests/python; where sections are taken as they were, by
// tests/python/cache/test_kept_functions.py and tests/python/api/test_prepare.py.

#include "python/sealing.h"

#include <cstdint>

#include "waybill/envelope.h"

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

Ref seal(const State& state, GraphEncoder& graph) {
  Parts parts;
  parts.python = state.python;
  EncodeContext& written = graph.context();
  parts.application = written.hooks().application;
  parts.key = written.hooks().key;
  parts.shared = written.objects.shared();
  parts.payload = written.out.view();
  parts.payload_insertions = written.out.insertions();
  if (const KeptSections* kept = graph.kept().sections()) {
    kept->put_into(parts);
    return seal_in_place(parts);
  }
  if (!written.has_others()) return seal_in_place(parts);
  OtherSections::Written others;
  written.others().write(state, others, parts);
  Ref bytes = seal_in_place(parts);
  if (graph.kept().is_to_be_kept()) graph.kept().keep(KeptSections(parts));
  return bytes;
}

}  // namespace waybill::py
