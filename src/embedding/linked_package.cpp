// Installs a finder in front of sys.meta_path, so that the linked package is found even
// if another one is installed. The interpreter may be running already: frozen modules
// and PyImport_AppendInittab() would have to be registered before it starts. Tested by
// tests/embedding/interpreter_test.cpp.

#include "embedding/linked_package.h"

#include "embedding/python_error.h"
#include "python/runtime/ref.h"
#include "waybill/interpreter.h"

extern "C" PyObject* PyInit__core();

namespace waybill::embedding {
namespace {

using py::check;
using py::PyError;
using py::Ref;

// Uses `code` ({name: (bytes, is a package)}), and `create` and `execute`, the two
// phases of importing the extension.
constexpr char kFinder[] = R"(
import marshal, sys
from importlib.machinery import ModuleSpec

class LinkedPackage:
    """Finds the package waybill in the program itself."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        if name in code:
            return ModuleSpec(
                name, LinkedPackage, origin="linked", is_package=code[name][1]
            )
        if name == "waybill._core":
            return ModuleSpec(name, LinkedPackage, origin="linked")

    @staticmethod
    def create_module(spec):
        return create(spec) if spec.name not in code else None

    @staticmethod
    def exec_module(module):
        if module.__name__ in code:
            exec(marshal.loads(code[module.__name__][0]), vars(module))
        else:
            execute(module)

if "waybill" in sys.modules:
    found = getattr(sys.modules["waybill"], "__file__", "elsewhere")
    raise ImportError(f"waybill is imported already, from {found}")
sys.meta_path.insert(0, LinkedPackage)
)";

// The borrowed definition of the extension, which has multi-phase initialization.
PyModuleDef* definition() { return reinterpret_cast<PyModuleDef*>(PyInit__core()); }

PyObject* create(PyObject*, PyObject* spec) {
  return PyModule_FromDefAndSpec(definition(), spec);
}

PyObject* execute(PyObject*, PyObject* module) {
  if (PyModule_ExecDef(module, definition()) < 0) return nullptr;
  Py_RETURN_NONE;
}

PyMethodDef kCreate = {"create", create, METH_O, nullptr};
PyMethodDef kExecute = {"execute", execute, METH_O, nullptr};

Ref code_of_modules() {
  Ref code = Ref::steal(PyDict_New());
  for (const LinkedModule* module = kLinkedModules; module->name != nullptr; ++module) {
    const Ref bytes = Ref::steal(
        PyBytes_FromStringAndSize(reinterpret_cast<const char*>(module->code),
                                  static_cast<Py_ssize_t>(module->size)));
    const Ref entry = Ref::steal(
        PyTuple_Pack(2, bytes.get(), module->is_package ? Py_True : Py_False));
    check(PyDict_SetItemString(code.get(), module->name, entry.get()));
  }
  return code;
}

void install_finder() {
  const Ref scope = Ref::steal(PyDict_New());
  const auto define = [&](const char* name, const Ref& value) {
    check(PyDict_SetItemString(scope.get(), name, value.get()));
  };
  define("__builtins__", Ref::share(PyEval_GetBuiltins()));
  define("__name__", Ref::steal(PyUnicode_FromString("waybill._linked")));
  define("code", code_of_modules());
  define("create", Ref::steal(PyCFunction_New(&kCreate, nullptr)));
  define("execute", Ref::steal(PyCFunction_New(&kExecute, nullptr)));
  Ref::steal(PyRun_String(kFinder, Py_file_input, scope.get(), scope.get()));
}

}  // namespace

py::State& linked_state() {
  const Ref module = Ref::steal(PyImport_ImportModule("waybill._core"));
  // sys.modules keeps the module alive.
  if (PyModule_Check(module.get()) && PyModule_GetDef(module.get()) == definition()) {
    if (void* state = PyModule_GetState(module.get())) {
      return *static_cast<py::State*>(state);
    }
  }
  PyErr_SetString(PyExc_ImportError,
                  "the package waybill of this interpreter is not the one that is "
                  "linked into the program; call waybill::link_package() before it "
                  "is imported");
  throw PyError();
}

}  // namespace waybill::embedding

namespace waybill {

Result<void> link_package() {
  return embedding::guarded([]() -> Result<void> {
    embedding::install_finder();
    return {};
  });
}

}  // namespace waybill
