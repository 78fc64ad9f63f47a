// Tested by tests/python/imports/test_imports.py, test_missing_later.py and
// tests/python/streams/test_pickler.py.

#include "python/decode/module_importer.h"

#include <string>

#include "python/runtime/attribute.h"
#include "python/runtime/compat.h"
#include "python/runtime/modules.h"
#include "python/runtime/py_error.h"
#include "python/runtime/text.h"

namespace waybill::py {

namespace {

Ref import_now(const State& state, const ImportRecord& record) {
  const Ref name = state.intern_table.get(record.module);
  if (Ref module = imported_module(state, sys_modules(state), name.get()))
    return module;
  Ref top = Ref::steal_or_null(
      PyImport_ImportModuleLevelObject(name.get(), nullptr, nullptr, nullptr, 0));
  Ref module = top ? Ref::steal_or_null(PyImport_GetModule(name.get())) : Ref();
  if (module) return module;
  if (PyErr_Occurred() && !PyErr_ExceptionMatches(PyExc_ImportError)) throw PyError();
  std::string why = ", for " + record.chain;
  if (!record.function.empty()) why += " in " + record.function;
  if (!record.file.empty()) {
    why += " (" + record.file + ":" + std::to_string(record.line) + ")";
  }
  raise_missing(state, name.get(), why);
}

// What stands for the module that MissingModuleError, which is set, is about. Throws
// what else is set.
Ref stand_in(const State& state, const ImportRecord& record) {
  if (!PyErr_ExceptionMatches(PyExc_ImportError)) throw PyError();
  const Ref error = take_error();
  if (!is_of(state, error.get(), &LateHelpers::missing_module_error)) {
    put_back_error(error);
    throw PyError();
  }
  const Ref name = state.intern_table.get(record.module);
  return Ref::steal(PyObject_CallFunctionObjArgs(state.stand_in_for.get(), name.get(),
                                                 error.get(), nullptr));
}

// Registers a pending submodule again, where Python can (3.15); the binding itself
// travels in the payload.
void import_lazily(const State& state, const ImportRecord& record) {
  const Ref name = new_text(record.module);
  Ref::steal(PyObject_CallFunctionObjArgs(state.make_lazy_import.get(), name.get(),
                                          Py_None, nullptr));
}

}  // namespace

// As the import system decides it, which asks the module itself for its __spec__.
Ref imported_module(const State& state, PyObject* loaded, PyObject* name) {
  Ref module = Ref::share(raw_get(loaded, name));
  if (!module || !PyModule_Check(module.get())) return {};
  const Ref spec =
      Ref::share(raw_get(PyModule_GetDict(module.get()), state.names.spec.get()));
  if (!spec || spec.get() == Py_None) return module;
  const Ref initializing = attribute_or_null(spec.get(), state.names.initializing);
  return !initializing || initializing.get() == Py_False ? module : Ref();
}

void ModuleImporter::import_all() {
  for (std::size_t i = 0; i < modules_.size(); ++i) {
    const ImportRecord& record = manifest_.imports[i];
    if (record.time == ImportTime::kLoad) get(i);
    if (record.time == ImportTime::kLazy) import_lazily(state_, record);
  }
}

Ref ModuleImporter::get(std::size_t index) {
  Ref& module = modules_[index];
  if (module) return module;
  const ImportRecord& record = manifest_.imports[index];
  try {
    module = import_now(state_, record);
  } catch (const PyError&) {
    if (!leaves_missing_) throw;
    module = stand_in(state_, record);
  }
  return module;
}

Ref ModuleImporter::name(std::size_t index) const {
  return new_text(manifest_.imports[index].module);
}

}  // namespace waybill::py
