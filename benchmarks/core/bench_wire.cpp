// The wire layer: tokens written and read, one by one and as records.

#include <benchmark/benchmark.h>

#include <vector>

#include "core/records.h"
#include "wire/reader.h"

namespace waybill {
namespace {

using wire::Reader;
using wire::Token;
using wire::Writer;

constexpr std::size_t kCount = 1'000;

void write_integers(Writer& out) {
  for (std::size_t i = 0; i < kCount; ++i)
    out.integer(static_cast<std::int64_t>(i * i));
}

void write_reals(Writer& out) {
  for (std::size_t i = 0; i < kCount; ++i) out.real(static_cast<double>(i) * 0.1);
}

void write_texts(Writer& out) {
  for (std::size_t i = 0; i < kCount; ++i) out.text("value number 1234");
}

void write_nodes(Writer& out) {
  for (std::size_t i = 0; i < kCount; ++i) out.node(wire::NodeTag::kTuple, 0);
}

void write_all_records(Writer& out) {
  static const std::vector<std::string> names = bench::names(kCount);
  bench::write_records(out, names);
}

// Also warms the writer up: its memory is kept from round to round.
void write(benchmark::State& state, void (*fill)(Writer&)) {
  Writer out;
  for (auto _ : state) {
    out.clear();
    fill(out);
    benchmark::DoNotOptimize(out.view());
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(out.size()));
}

void read(benchmark::State& state, void (*fill)(Writer&)) {
  Writer out;
  fill(out);
  for (auto _ : state) {
    Reader reader(out.view());
    Token token;
    while (!reader.at_end()) {
      if (!reader.next(token)) return state.SkipWithError("unreadable");
      benchmark::DoNotOptimize(token);
    }
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(out.size()));
}

void skip(benchmark::State& state, void (*fill)(Writer&)) {
  Writer out;
  fill(out);
  for (auto _ : state) {
    Reader reader(out.view());
    while (!reader.at_end()) {
      if (!reader.skip()) return state.SkipWithError("unreadable");
    }
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(out.size()));
}

BENCHMARK_CAPTURE(write, 1000_integers, write_integers);
BENCHMARK_CAPTURE(write, 1000_reals, write_reals);
BENCHMARK_CAPTURE(write, 1000_texts, write_texts);
BENCHMARK_CAPTURE(write, 1000_nodes, write_nodes);
BENCHMARK_CAPTURE(write, 1000_records, write_all_records);
BENCHMARK_CAPTURE(read, 1000_integers, write_integers);
BENCHMARK_CAPTURE(read, 1000_reals, write_reals);
BENCHMARK_CAPTURE(read, 1000_texts, write_texts);
BENCHMARK_CAPTURE(read, 1000_nodes, write_nodes);
BENCHMARK_CAPTURE(read, 1000_records, write_all_records);
BENCHMARK_CAPTURE(skip, 1000_records, write_all_records);

}  // namespace
}  // namespace waybill
