#include "embedded/python.h"

#include <cstdlib>
#include <string>

#include "embedded/memory.h"
#include "python/runtime/py_error.h"

extern "C" PyObject* PyInit__core();

// The interpreter leaks by design.
extern "C" const char* __asan_default_options();
extern "C" const char* __asan_default_options() {
  return "detect_leaks=0:allocator_may_return_null=1";
}

namespace waybill::fuzz {
namespace {

// BuiltinImporter finds no modules inside packages before 3.12, but it loads them.
constexpr char kPrelude[] = R"(
import importlib.machinery, importlib.util, sys

class LinkedIn:
    @staticmethod
    def find_spec(name, path=None, target=None):
        if name == "waybill._core":
            importer = importlib.machinery.BuiltinImporter
            return importlib.util.spec_from_loader(name, importer)

sys.meta_path.insert(0, LinkedIn)
sys.path[:0] = [package, scripts]
sys.dont_write_bytecode = True
)";

void demand(const PyStatus& status) {
  if (PyStatus_Exception(status)) Py_ExitStatusException(status);
}

// Starts Python under the name of its executable, so that it finds its library.
void start() {
  PyPreConfig preconfig;
  PyPreConfig_InitPythonConfig(&preconfig);
  demand(Py_PreInitialize(&preconfig));
  count_python_memory();
  PyImport_AppendInittab("waybill._core", PyInit__core);
  PyConfig config;
  PyConfig_InitPythonConfig(&config);
  demand(PyConfig_SetBytesString(&config, &config.program_name,
                                 WAYBILL_PYTHON_EXECUTABLE));
  config.install_signal_handlers = 0;  // Keeps the fuzzer's.
  config.site_import = 0;
  config.use_hash_seed = 1;  // Makes runs reproducible.
  config.hash_seed = 0;
  demand(Py_InitializeFromConfig(&config));
  PyConfig_Clear(&config);
}

}  // namespace

void give_up() {
  PyErr_Print();
  std::abort();
}

py::Ref attribute_of(const py::Ref& module, const char* name) {
  py::Ref part = py::Ref::steal_or_null(PyObject_GetAttrString(module.get(), name));
  if (!part) give_up();
  return part;
}

py::Ref start_python(const char* script) try {
  start();
  const py::Ref globals = py::Ref::steal(Py_BuildValue(
      "{ssss}", "package", WAYBILL_PACKAGE, "scripts", WAYBILL_FUZZ_FOLDER));
  py::Ref::steal(PyRun_String(kPrelude, Py_file_input, globals.get(), globals.get()));
  return py::Ref::steal(PyImport_ImportModule(script));
} catch (const py::PyError&) {
  give_up();
}

}  // namespace waybill::fuzz
