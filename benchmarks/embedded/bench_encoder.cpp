// From objects to envelopes, without the Python face.

#include <benchmark/benchmark.h>

#include "embedded/cases.h"
#include "embedded/python.h"
#include "python/serializer.h"

namespace waybill {
namespace {

using bench::made_by;
using py::Ref;

void encode(benchmark::State& state, const char* source) {
  const Ref object = made_by(source);
  std::int64_t size = 0;
  for (auto _ : state) {
    const Ref bytes = py::encode(bench::state(), object.get(), {});
    size = PyBytes_GET_SIZE(bytes.get());
  }
  state.SetBytesProcessed(state.iterations() * size);
}

// The walk alone: what is written is not sealed.
void walk(benchmark::State& state, const char* source) {
  const Ref object = made_by(source);
  std::size_t size = 0;
  for (auto _ : state) {
    py::GraphEncoder encoder(bench::state(), {});
    encoder.encode(object.get());
    size = encoder.payload().size();
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(size));
}

void fingerprint(benchmark::State& state, const char* source) {
  const Ref object = made_by(source);
  for (auto _ : state) {
    benchmark::DoNotOptimize(
        py::content_hash(bench::state(), object.get(), false, false));
  }
}

[[maybe_unused]] const bool kAdded = bench::add_cases("encode", encode) &&
                                     bench::add_cases("walk", walk) &&
                                     bench::add_cases("fingerprint", fingerprint);

}  // namespace
}  // namespace waybill
