// Tested by tests/python/test_modules.py and tests/python/test_pickler.py.

#include "python/module_importer.h"

#include <string>

#include "python/compat.h"
#include "python/py_error.h"

namespace waybill::py {

namespace {

Ref name_of(const ImportRecord& record) {
  return Ref::steal(PyUnicode_DecodeUTF8(record.module.data(),
                                         static_cast<Py_ssize_t>(record.module.size()),
                                         "surrogatepass"));
}

Ref import_now(const State& state, const ImportRecord& record) {
  const Ref name = name_of(record);
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

// Registers a pending submodule again, where Python can (3.15); the binding itself
// travels in the payload.
void import_lazily(const State& state, const ImportRecord& record) {
  const Ref name = name_of(record);
  Ref::steal(PyObject_CallFunctionObjArgs(state.make_lazy_import.get(), name.get(),
                                          Py_None, nullptr));
}

}  // namespace

void ModuleImporter::import_all() {
  for (std::size_t i = 0; i < modules_.size(); ++i) {
    const ImportRecord& record = manifest_.imports[i];
    if (record.time == ImportTime::kLoad) get(i);
    if (record.time == ImportTime::kLazy) import_lazily(state_, record);
  }
}

Ref ModuleImporter::get(std::size_t index) {
  Ref& module = modules_[index];
  if (!module) module = import_now(state_, manifest_.imports[index]);
  return module;
}

Ref ModuleImporter::name(std::size_t index) const {
  return name_of(manifest_.imports[index]);
}

}  // namespace waybill::py
