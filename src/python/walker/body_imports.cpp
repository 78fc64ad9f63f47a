// Tested by tests/python/imports/discovery.

#include "python/walker/import_collector.h"

#include <algorithm>

#include "python/runtime/compat.h"
#include "python/runtime/modules.h"
#include "python/runtime/text.h"

namespace waybill::py {

namespace {

Ref join(PyObject* package, PyObject* name) {
  if (PyUnicode_GET_LENGTH(name) == 0) return Ref::share(package);
  if (PyUnicode_GET_LENGTH(package) == 0) return Ref::share(name);
  return dotted(package, name);
}

// An import statement finds a module of this name, and in it what has that one.
void need(const State& state, ImportCollector& imports, PyObject* module_name,
          PyObject* name) {
  PyObject* module = find_module(state, module_name);
  if (module != nullptr) imports.need(module, name);
}

}  // namespace

Ref absolute_name(const State& state, PyObject* function, const CodeInfo& info,
                  const BodyImport& statement) {
  PyObject* name = info.name_at(statement.name);
  if (statement.level == 0) return Ref::share(name);
  PyObject* globals = PyFunction_GET_GLOBALS(function);
  PyObject* package = raw_get(globals, state.names.package.get());
  Ref base;
  if (package != nullptr && PyUnicode_Check(package)) {
    base = Ref::share(package);
  } else {
    PyObject* own = raw_get(globals, state.names.name.get());
    if (own == nullptr || !PyUnicode_Check(own)) return {};
    const bool is_package = raw_get(globals, state.names.path.get()) != nullptr;
    base = is_package ? Ref::share(own) : parent_of(own);
  }
  for (std::uint32_t up = 1; up < statement.level && base; ++up) {
    base = parent_of(base.get());
  }
  return base ? join(base.get(), name) : Ref();
}

void note_body_imports(const State& state, ImportCollector& imports, PyObject* function,
                       const CodeInfo& info) {
  for (const BodyImport& statement : info.summary.imports) {
    imports.note_other();
    PyObject* name = info.name_at(statement.name);
    const CodeSpot spot{&info, statement.offset};
    const std::string dots(std::min<std::uint32_t>(statement.level, 64), '.');
    Ref written = Ref::steal(PyUnicode_FromFormat("%s%U", dots.c_str(), name));
    imports.add(written.get(), ImportTime::kCall, "import " + text_of(written.get()),
                spot);
    Ref whole = absolute_name(state, function, info, statement);
    for (Ref part = whole; part; part = parent_of(part.get())) {
      imports.note_body_import(text_of(part.get()));
      need(state, imports, part.get(), nullptr);
    }
    if (statement.from_names == kNoIndex || !whole) continue;
    PyObject* names = info.constant_at(statement.from_names);
    if (!PyTuple_Check(names)) continue;
    for (PyObject* item : items_of(names)) {
      if (!PyUnicode_Check(item)) continue;
      need(state, imports, whole.get(), item);
      Ref submodule = join(whole.get(), item);
      if (find_module(state, submodule.get()) == nullptr) continue;
      need(state, imports, submodule.get(), nullptr);
      imports.note_body_import(text_of(submodule.get()));
      const bool ends_in_dot = PyUnicode_GET_LENGTH(name) == 0;
      Ref from = Ref::steal(
          PyUnicode_FromFormat(ends_in_dot ? "%U%U" : "%U.%U", written.get(), item));
      imports.add(from.get(), ImportTime::kCall,
                  "from " + text_of(written.get()) + " import " + text_of(item), spot);
    }
  }
}

PyObject* imported_module(const State& state, PyObject* function, const CodeInfo& info,
                          const BodyImport& statement) {
  Ref name = absolute_name(state, function, info, statement);
  if (!name) return nullptr;
  if (statement.from_names == kNoIndex) name = first_part(name.get());
  return find_module(state, name.get());
}

}  // namespace waybill::py
