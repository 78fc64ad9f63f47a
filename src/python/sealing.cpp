// Tested by tests/python; where sections are taken as they were, by
// tests/python/cache/test_kept_functions.py and tests/python/api/test_prepare.py.

#include "python/sealing.h"

#include <cstdint>
#include <vector>

#include "base/large_memory.h"
#include "format/buffer_table.h"
#include "waybill/envelope.h"
#include "wire/format.h"

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
  base::advise_large_pages(begin, bound);
  const std::uint8_t* end = seal_at(parts, begin);
  PyObject* resized = bytes.release();
  check(_PyBytes_Resize(&resized, end - begin));
  return Ref::steal(resized);
}

Ref to_bytes(const std::uint8_t* begin, std::size_t size) {
  return Ref::steal(PyBytes_FromStringAndSize(reinterpret_cast<const char*>(begin),
                                              static_cast<Py_ssize_t>(size)));
}

// The head, each buffer as it lies in memory, and what stands between them.
Ref seal_in_chunks(const Parts& parts, const StoredBuffers& stored) {
  static constexpr std::uint8_t kZeros[wire::kBufferAlignment] = {};
  std::vector<std::uint8_t> head(head_bound(parts));
  const auto head_size =
      static_cast<std::size_t>(seal_head_at(parts, head.data()) - head.data());
  Ref chunks = Ref::steal(PyList_New(0));
  const auto add = [&](const Ref& chunk) {
    check(PyList_Append(chunks.get(), chunk.get()));
  };
  add(to_bytes(head.data(), head_size));
  if (parts.buffers.empty()) return chunks;
  std::size_t end = head_size;
  const std::vector<Ref> objects = stored.objects();
  for (std::size_t i = 0; i < objects.size(); ++i) {
    const std::size_t padding = head_padding(end);
    if (padding != 0) add(to_bytes(kZeros, padding));
    add(objects[i]);
    end += padding + parts.buffers[i].bytes.size();
  }
  std::uint8_t trailer[wire::kBufferTrailer];
  envelope::write_trailer(trailer, head_size);
  add(to_bytes(trailer, sizeof trailer));
  return chunks;
}

// Gives `write` all parts of the envelope of what an encoder has written.
template <typename Write>
Ref seal_with(const State& state, GraphEncoder& graph, Write write) {
  Parts parts;
  parts.python = state.python;
  EncodeContext& written = graph.context();
  std::vector<BufferParts> buffers;
  if (written.stored.count() != 0) parts.buffers = buffers = written.stored.parts();
  parts.application = written.hooks().application;
  parts.key = written.hooks().key;
  parts.shared = written.objects.shared();
  parts.payload = written.out.view();
  parts.payload_insertions = written.out.insertions();
  if (const KeptSections* kept = graph.kept().sections()) {
    kept->put_into(parts);
    return write(parts);
  }
  if (!written.has_others()) return write(parts);
  OtherSections::Written others;
  written.others().write(state, others, parts);
  Ref sealed = write(parts);
  if (graph.kept().is_to_be_kept()) graph.kept().keep(KeptSections(parts));
  return sealed;
}

}  // namespace

Ref seal(const State& state, GraphEncoder& graph) {
  return seal_with(state, graph, seal_in_place);
}

Ref seal_chunks(const State& state, GraphEncoder& graph) {
  return seal_with(state, graph, [&](const Parts& parts) {
    return seal_in_chunks(parts, graph.context().stored);
  });
}

}  // namespace waybill::py
