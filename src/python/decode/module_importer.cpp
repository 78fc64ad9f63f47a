// Tested by tests/python/imports/test_imports.py, test_missing_later.py and
// tests/python/streams/test_pickler.py.

#include "python/decode/module_importer.h"

#include <string>
#include <utility>

#include "python/runtime/attribute.h"
#include "python/runtime/compat.h"
#include "python/runtime/modules.h"
#include "python/runtime/py_error.h"
#include "python/runtime/text.h"

namespace waybill::py {

namespace {

// Null if the module cannot be imported; then an ImportError may be set.
Ref import_or_null(const State& state, PyObject* name) {
  if (Ref module = imported_module(state, sys_modules(state), name)) return module;
  const Ref top = Ref::steal_or_null(
      PyImport_ImportModuleLevelObject(name, nullptr, nullptr, nullptr, 0));
  Ref module = top ? Ref::steal_or_null(PyImport_GetModule(name)) : Ref();
  if (!module && PyErr_Occurred() && !PyErr_ExceptionMatches(PyExc_ImportError)) {
    throw PyError();
  }
  return module;
}

// The part of an error that says what needs the module. `name`: the module's name here.
std::string need_of(const ImportRecord& record, const std::string& name) {
  std::string why;
  if (name != record.module) why = " (renamed from " + record.module + ")";
  why += ", for " + record.chain;
  if (!record.function.empty()) why += " in " + record.function;
  if (!record.file.empty()) {
    why += " (" + record.file + ":" + std::to_string(record.line) + ")";
  }
  return why;
}

// The placeholder for a missing module. Takes the current MissingModuleError; throws
// any other current exception.
Ref make_placeholder(const State& state, PyObject* name) {
  if (!PyErr_ExceptionMatches(PyExc_ImportError)) throw PyError();
  const Ref error = take_error();
  if (!is_instance_of(state, error.get(), &LazyHelpers::missing_module_error)) {
    restore_error(error);
    throw PyError();
  }
  return call(state.stand_in_for.get(), name, error.get());
}

// Registers a pending submodule again, where Python supports it (3.15). The name that
// it is bound to is part of the payload.
void import_lazily(const State& state, const Renaming& renaming,
                   const ImportRecord& record) {
  Ref name = new_text(record.module);
  if (Ref renamed = renaming.module(name.get())) name = std::move(renamed);
  call(state.make_lazy_import.get(), name.get(), Py_None);
}

}  // namespace

// Decides as the import system does, by the __spec__ of the module itself.
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
    if (record.time == ImportTime::kLoad) get_or_defer(i);
    if (record.time == ImportTime::kLazy) import_lazily(state_, renaming_, record);
  }
}

// Defers a missing module if the manifest may list it only for names that have moved to
// other modules.
void ModuleImporter::get_or_defer(std::size_t index) {
  try {
    get(index);
  } catch (const PyError&) {
    if (!renaming_.has_rules() || !PyErr_ExceptionMatches(PyExc_ImportError)) throw;
    const Ref error = take_error();
    if (!is_instance_of(state_, error.get(), &LazyHelpers::missing_module_error) ||
        !renaming_.has_names_of(name(index).get())) {
      restore_error(error);
      throw;
    }
    deferred_.insert(index);
  }
}

void ModuleImporter::finish() {
  for (const std::size_t index : deferred_) {
    if (relocated_.count(index) == 0) get(index);
  }
}

Ref ModuleImporter::get(std::size_t index) {
  Ref& module = modules_[index];
  if (module) return module;
  const ImportRecord& record = manifest_.imports[index];
  Ref name = state_.intern_table.get(record.module);
  if (Ref renamed = renaming_.module(name.get())) name = std::move(renamed);
  const auto need = [&] { return need_of(record, text_of(name.get())); };
  try {
    module = import_named(name.get(), need);
  } catch (const PyError&) {
    if (!allows_missing_) throw;
    module = make_placeholder(state_, name.get());
  }
  return module;
}

Ref ModuleImporter::import_for(PyObject* name, PyObject* module, PyObject* path) {
  return import_named(name, [&] {
    return " (renamed from " + text_of(module) + ":" + text_of(path) + ")";
  });
}

template <typename Need>
Ref ModuleImporter::import_named(PyObject* name, Need need) {
  if (Ref module = import_or_null(state_, name)) return module;
  const Ref cause = take_error();
  if (Ref module = import_moved(name, cause)) return module;
  const Ref environment = renaming_.environment();
  raise_missing(state_, name, need(), cause, environment.get());
}

// The module to which a library is known to have moved this one; null if it is missing
// too.
Ref ModuleImporter::import_moved(PyObject* name, const Ref& error) {
  if (!error) return {};
  const Ref moved = renaming_.moved_module(name, error.get());
  if (!moved) return {};
  Ref module = import_or_null(state_, moved.get());
  if (module) {
    renaming_.record_moved_module(name, moved.get());
  } else {
    PyErr_Clear();  // The caller raises the error about the name in the payload.
  }
  return module;
}

Ref ModuleImporter::name(std::size_t index) const {
  return new_text(manifest_.imports[index].module);
}

}  // namespace waybill::py
