// The bytecode layer: summarize() on the code of tests/bytecode/chains, of each
// CPython.

#include <benchmark/benchmark.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "bytecode/code_file.h"

namespace waybill {
namespace {

using Codes = std::vector<std::unique_ptr<test::CodeText>>;

// The code in the section of a version; its lines are indented.
std::string section(const std::filesystem::path& file, const std::string& heading) {
  std::ifstream in(file);
  std::string line, text;
  bool is_inside = false;
  while (std::getline(in, line)) {
    if (!line.empty() && line[0] != ' ') is_inside = line == heading;
    if (is_inside && line.starts_with("  ")) text += line.substr(2) + "\n";
  }
  return text;
}

Codes read_chains(const std::string& version) {
  Codes codes;
  for (const auto& file :
       std::filesystem::directory_iterator(WAYBILL_TESTS_DIR "/bytecode/chains")) {
    std::istringstream in(section(file.path(), "Code " + version));
    for (auto& code : test::read_codes(in)) codes.push_back(std::move(code));
  }
  return codes;
}

void summarize_chains(benchmark::State& state, const std::string& version) {
  const Codes codes = read_chains(version);
  std::size_t bytes = 0;
  for (const auto& code : codes) bytes += code->instructions.size();
  for (auto _ : state) {
    for (const auto& code : codes) {
      const auto summary = summarize(code->view);
      if (!summary) return state.SkipWithError("malformed");
      benchmark::DoNotOptimize(summary->values.size());
    }
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(codes.size()));
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(bytes));
}

BENCHMARK_CAPTURE(summarize_chains, python_3_11, "3.11");
BENCHMARK_CAPTURE(summarize_chains, python_3_12, "3.12");
BENCHMARK_CAPTURE(summarize_chains, python_3_13, "3.13");
BENCHMARK_CAPTURE(summarize_chains, python_3_14, "3.14");
BENCHMARK_CAPTURE(summarize_chains, python_3_15, "3.15");

}  // namespace
}  // namespace waybill
