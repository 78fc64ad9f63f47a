// The envelope layer: sealed, measured, opened, verified and reported on, with records
// and with a function.

#include <benchmark/benchmark.h>

#include <vector>

#include "core/records.h"
#include "format/samples.h"
#include "waybill/report.h"
#include "waybill/stream_length.h"

namespace waybill {
namespace {

using Bytes = std::vector<std::uint8_t>;

Bytes sealed_records() {
  wire::Writer payload;
  bench::write_records(payload, bench::names(1'000));
  Bytes out;
  seal(bench::parts_of(payload), out);
  return out;
}

void count_bytes(benchmark::State& state, std::size_t size) {
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(size));
}

void seal_records(benchmark::State& state) {
  wire::Writer payload;
  bench::write_records(payload, bench::names(1'000));
  Bytes out;
  for (auto _ : state) {
    out.clear();
    seal(bench::parts_of(payload), out);
    benchmark::DoNotOptimize(out.data());
  }
  count_bytes(state, out.size());
}

void seal_function(benchmark::State& state) {
  samples::Draft draft;
  samples::fill_with_function(draft);
  for (auto _ : state) benchmark::DoNotOptimize(draft.sealed());
  count_bytes(state, draft.sealed().size());
}

void measure_envelope(benchmark::State& state, Bytes (*make)()) {
  const Bytes bytes = make();
  for (auto _ : state) benchmark::DoNotOptimize(StreamLength().measure(bytes));
  count_bytes(state, bytes.size());
}

void open_envelope(benchmark::State& state, Bytes (*make)()) {
  const Bytes bytes = make();
  for (auto _ : state) {
    const auto envelope = open(bytes);
    if (!envelope) return state.SkipWithError("not opened");
    benchmark::DoNotOptimize(envelope->size);
  }
  count_bytes(state, bytes.size());
}

void verify_envelope(benchmark::State& state, Bytes (*make)()) {
  const Bytes bytes = make();
  const auto envelope = open(bytes);
  for (auto _ : state) {
    if (!envelope || !verify(*envelope)) return state.SkipWithError("not sound");
  }
  count_bytes(state, bytes.size());
}

void report(benchmark::State& state, Bytes (*make)()) {
  const Bytes bytes = make();
  const auto envelope = open(bytes);
  if (!envelope) return state.SkipWithError("not opened");
  for (auto _ : state) benchmark::DoNotOptimize(report_json(*envelope));
  count_bytes(state, bytes.size());
}

BENCHMARK(seal_records);
BENCHMARK(seal_function);
BENCHMARK_CAPTURE(measure_envelope, records, sealed_records);
BENCHMARK_CAPTURE(measure_envelope, function, samples::function_envelope);
BENCHMARK_CAPTURE(open_envelope, records, sealed_records);
BENCHMARK_CAPTURE(open_envelope, function, samples::function_envelope);
BENCHMARK_CAPTURE(verify_envelope, records, sealed_records);
BENCHMARK_CAPTURE(verify_envelope, function, samples::function_envelope);
BENCHMARK_CAPTURE(report, records, sealed_records);
BENCHMARK_CAPTURE(report, function, samples::function_envelope);

}  // namespace
}  // namespace waybill
