// From names to modules: look-ups in sys.modules, the imports that a function needs,
// and the same imports where it is received.

#include <benchmark/benchmark.h>

#include "embedded/python.h"
#include "python/decode/module_importer.h"
#include "python/runtime/modules.h"
#include "python/serializer.h"
#include "python/walker/import_collector.h"

namespace waybill {
namespace {

using bench::made_by;
using py::Ref;

constexpr char kPackages[] =
    "import collections, re, asyncio\n"
    "def it(): return [collections, re, asyncio]\n";
constexpr char kChains[] =
    "import collections.abc, os, xml.dom.minidom, xml.etree.ElementTree as tree\n"
    "def it(x):\n"
    "    def inner(y): return [os.path.join(y, x), collections.abc.Mapping]\n"
    "    return xml.dom.minidom.parseString(x), [tree.Element(y) for y in inner(x)]\n";

// Entries without content in sys.modules while this lives.
class Modules {
 public:
  explicit Modules(std::int64_t count) {
    const std::string source =
        "import sys, types\n"
        "it = [f'synthetic.module_{i}' for i in range(" +
        std::to_string(count) +
        ")]\n"
        "for name in it: sys.modules[name] = types.ModuleType(name)\n";
    names_ = made_by(source.c_str());
  }
  Modules(const Modules&) = delete;
  Modules& operator=(const Modules&) = delete;
  ~Modules() {
    PyObject* modules = PyImport_GetModuleDict();
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(names_.get()); ++i) {
      PyDict_DelItem(modules, PyList_GET_ITEM(names_.get(), i));
    }
  }

 private:
  Ref names_;
};

void find_module(benchmark::State& state) {
  const Modules others(state.range(0));
  const Ref name = made_by("import os.path; it = 'os.path'");
  for (auto _ : state) {
    benchmark::DoNotOptimize(py::find_module(bench::state(), name.get()));
  }
}

void find_function(benchmark::State& state) {
  const Ref function = made_by("import json; it = json.dumps");
  for (auto _ : state) {
    benchmark::DoNotOptimize(py::find_function(bench::state(), function.get()));
  }
}

// With the code analysed before, as it is from the second time on.
void collect_imports(benchmark::State& state, const char* source) {
  const Modules others(state.range(0));
  const Ref function = made_by(source);
  py::CodeInfos infos(bench::state());
  const py::CodeInfo& info = infos.get(PyFunction_GET_CODE(function.get()));
  for (auto _ : state) {
    py::ImportCollector imports(bench::state(), nullptr);
    imports.add_function(function.get(), info);
    imports.finish();
  }
}

void discover(benchmark::State& state, const char* source) {
  const Ref function = made_by(source);
  for (auto _ : state) {
    benchmark::DoNotOptimize(py::discover(bench::state(), function.get(), true));
  }
}

void import_all(benchmark::State& state) {
  const Ref function = made_by(kChains);
  const Manifest manifest = py::discover(bench::state(), function.get(), true);
  for (auto _ : state) {
    py::ModuleImporter importer(bench::state(), manifest, py::DecodeHooks{});
    importer.import_all();
  }
}

BENCHMARK(find_module)->Arg(0)->Arg(100'000);
BENCHMARK(find_function);
BENCHMARK_CAPTURE(collect_imports, packages, kPackages)->Arg(0)->Arg(100'000);
BENCHMARK_CAPTURE(collect_imports, chains, kChains)->Arg(0)->Arg(100'000);
BENCHMARK_CAPTURE(discover, packages, kPackages);
BENCHMARK_CAPTURE(discover, chains, kChains);
BENCHMARK(import_all);

}  // namespace
}  // namespace waybill
