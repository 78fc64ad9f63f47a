// Starts the Python of .venv, runs the benchmarks in it, and ends it.

#include "embedded/python.h"

#include <benchmark/benchmark.h>

#include <optional>

#include "python/serializer.h"

namespace waybill::bench {
namespace {

std::optional<py::State> kept;

// Takes over the place of an executable, so that its packages are found.
bool start() {
  PyConfig config;
  PyConfig_InitPythonConfig(&config);
  PyStatus status =
      PyConfig_SetBytesString(&config, &config.program_name, WAYBILL_PYTHON_EXECUTABLE);
  if (!PyStatus_Exception(status)) status = Py_InitializeFromConfig(&config);
  PyConfig_Clear(&config);
  return !PyStatus_Exception(status);
}

}  // namespace

py::State& state() { return *kept; }

py::Ref made_by(const char* source) {
  const py::Ref globals = py::Ref::steal(Py_BuildValue("{ss}", "__name__", "__main__"));
  py::Ref::steal(PyRun_String(source, Py_file_input, globals.get(), globals.get()));
  return py::Ref::share(PyDict_GetItemString(globals.get(), "it"));
}

}  // namespace waybill::bench

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (!waybill::bench::start()) return 1;
  int result = 0;
  try {
    waybill::bench::made_by("import sys; it = sys.path.insert(0, '" WAYBILL_SITE "')");
    waybill::py::start(waybill::bench::kept.emplace());
    benchmark::RunSpecifiedBenchmarks();
  } catch (const waybill::py::PyError&) {
    PyErr_Print();
    result = 1;
  }
  waybill::bench::kept.reset();
  Py_Finalize();
  return result;
}
