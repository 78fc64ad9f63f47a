// From envelopes to objects, without the Python face.

#include <benchmark/benchmark.h>

#include "embedded/cases.h"
#include "embedded/python.h"
#include "python/serializer.h"

namespace waybill {
namespace {

using bench::made_by;
using py::Ref;

BytesView view_of(const Ref& bytes) {
  return {reinterpret_cast<const std::uint8_t*>(PyBytes_AS_STRING(bytes.get())),
          static_cast<std::size_t>(PyBytes_GET_SIZE(bytes.get()))};
}

// The object that was encoded is gone when its envelope is read.
void decode(benchmark::State& state, const char* source) {
  const Ref bytes = py::encode(bench::state(), made_by(source).get(), {});
  const BytesView view = view_of(bytes);
  for (auto _ : state) {
    benchmark::DoNotOptimize(py::decode(bench::state(), view, {}));
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(view.size()));
}

[[maybe_unused]] const bool kAdded = bench::add_cases("decode", decode);

}  // namespace
}  // namespace waybill
