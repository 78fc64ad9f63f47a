// Steps to modules: by an attribute of a module, or by an import statement of a
// function body. They report the imports that the code needs. Tested by
// tests/python/imports/discovery.

#include "python/walker/function_flow.h"

#include <algorithm>
#include <string>

#include "python/runtime/compat.h"
#include "python/runtime/modules.h"
#include "python/runtime/text.h"

namespace waybill::py {

namespace {

using Kind = Value::Kind;

constexpr int kMaxChain = 16;  // Steps of a chain that a record spells out.

bool is_pending(const State& state, PyObject* name) {
  if (!kHasLazyImports) return false;
  PyObject* pending = raw_get(state.sys_dict.get(), state.names.lazy_modules.get());
  if (pending == nullptr || !PyAnySet_Check(pending)) return false;
  return check(PySet_Contains(pending, name)) == 1;
}

// The name of the module that a lazy import binds, if it binds one: `import a.b` binds
// a, `from a import b` binds b. Null if the placeholder does not show it.
Ref lazy_module_name(PyObject* placeholder) {
  const LazyTarget target = lazy_target(placeholder);
  if (!target.module) return {};
  PyObject* name = target.module.get();
  if (target.attribute) return submodule_name(name, target.attribute.get());
  return first_part(name);
}

// The expression by which the code reaches a value: "xml.dom".
std::string chain_of(const CodeInfo& info, ValueId id) {
  const CodeSummary& summary = info.summary;
  std::string text;
  for (int steps = 0; steps < kMaxChain; ++steps) {
    const Value& value = summary.values[id];
    switch (value.kind) {
      case Kind::kGlobal:
        return text_of(info.name_at(value.index)) + text;
      case Kind::kParameter:
      case Kind::kVariable:
        return text_of(info.local_at(value.index)) + text;
      case Kind::kImport: {
        const BodyImport& statement = summary.imports[value.index];
        std::string name = text_of(info.name_at(statement.name));
        // Without a list of names, `import a.b` binds a.
        if (statement.from_names == kNoIndex) name = name.substr(0, name.find('.'));
        return name + text;
      }
      case Kind::kAttribute:
      case Kind::kImportFrom:
        text = "." + text_of(info.name_at(value.index)) + text;
        id = value.parent;
        continue;
      case Kind::kGetattr:
      case Kind::kItem: {
        const Value& key = summary.values[summary.operands[value.first_operand]];
        std::string name = "…";
        if (key.kind == Kind::kConstant) {
          Ref repr = Ref::steal(PyObject_Repr(info.constant_at(key.index)));
          name = text_of(repr.get());
        }
        if (value.kind == Kind::kItem) {
          text = "[" + name + "]" + text;
        } else {
          text = ".getattr(" + name + ")" + text;
        }
        id = value.parent;
        continue;
      }
      case Kind::kUnion:
        if (value.operand_count == 0) return "…" + text;
        id = summary.operands[value.first_operand];
        continue;
      default:
        return "…" + text;
    }
  }
  return "…" + text;
}

CodePosition position_of(const Scope& scope, ValueId id) {
  return {scope.info, scope.info->summary.values[id].offset};
}

Ref join(PyObject* package, PyObject* name) {
  if (PyUnicode_GET_LENGTH(name) == 0) return Ref::share(package);
  if (PyUnicode_GET_LENGTH(package) == 0) return Ref::share(name);
  return submodule_name(package, name);
}

// Records that an import statement needs a module, and `name` in it unless that is
// null.
void record_need(const State& state, ImportCollector& imports, PyObject* module_name,
                 PyObject* name) {
  PyObject* module = find_module(state, module_name);
  if (module != nullptr) imports.need(module, name);
}

}  // namespace

void FunctionFlow::step(const Scope& scope, ValueId id, const Target& from,
                        PyObject* name, PointsToSet& result) {
  PyObject* module = from.object.get();
  PyObject* package = module_name(state_, module);
  PyObject* found = raw_get(PyModule_GetDict(module), name);
  // A body that imports __main__ gets the script of the receiver.
  if (!from.is_imported || !is_script(state_, module)) imports_.need(module, name);
  if (package == nullptr) {
    imports_.mark_untraceable();
    // A module that is not in sys.modules has no submodules to import.
    if (found != nullptr && PyModule_Check(found)) result.add(found, from.is_imported);
    return;
  }
  const Ref full_name = submodule_name(package, name);
  if (found != nullptr && is_lazy_import(state_, found)) {
    if (resolve_placeholder(found, full_name.get(), from.is_imported, result)) return;
    found = nullptr;
  }
  if (found != nullptr && found == sys_modules(state_)) {
    // sys.modules is the only other attribute that leads to modules by name.
    imports_.mark_untraceable();
    return result.add(found, from.is_imported);
  }
  if (found == nullptr) {
    if (kHasLazyImports) imports_.mark_untraceable();  // The import may be pending.
    found = find_module(state_, full_name.get());
    if (found == nullptr) record_pending(scope, id, full_name.get());
  }
  if (found == nullptr || !PyModule_Check(found)) {
    imports_.record_step(package, name, nullptr);
    result.is_unknown = true;
    return;
  }
  const bool is_listed = find_module(state_, full_name.get()) == found;
  PyObject* own_name = is_listed ? module_name(state_, found) : nullptr;
  if (own_name == nullptr) {
    imports_.mark_untraceable();
  } else {
    imports_.record_step(package, name, own_name);
  }
  if (is_listed) {
    record(scope, id, full_name.get(), from.is_imported);
  } else {
    record_unlisted(scope, id, found, full_name.get(), from.is_imported);
  }
  result.add(found, from.is_imported);
}

// Resolves a lazy import that a package binds under `full_name`. False if the package
// of the receiver resolves it by itself.
bool FunctionFlow::resolve_placeholder(PyObject* found, PyObject* full_name,
                                       bool is_imported, PointsToSet& result) {
  imports_.mark_untraceable();
  const Ref target = lazy_module_name(found);
  if (!target) return false;
  if (PyUnicode_Compare(target.get(), full_name) != 0) {
    // Not recorded, but the chain continues.
    PyObject* loaded = find_module(state_, target.get());
    result.add(loaded != nullptr ? loaded : found, is_imported);
    result.is_unknown = true;
    return true;
  }
  if (find_module(state_, full_name) == nullptr) result.add(found, is_imported);
  return false;
}

void FunctionFlow::step_from_placeholder(const Scope& scope, ValueId id,
                                         const Target& from, PyObject* name,
                                         PointsToSet& result) {
  const Ref full_name = lazy_module_name(from.object.get());
  if (!full_name) return;
  if (PyObject* module = find_module(state_, full_name.get())) {
    return step(scope, id, {Ref::share(module), from.is_imported}, name, result);
  }
  record_pending(scope, id, submodule_name(full_name.get(), name).get());
}

void FunctionFlow::record(const Scope& scope, ValueId id, PyObject* module,
                          bool is_imported) {
  if (is_imported && imports_.is_body_import(text_of(module))) return;
  imports_.add(module, ImportTime::kLoad, chain_of(*scope.info, id),
               position_of(scope, id));
}

// Records a module that a package binds under a name that sys.modules does not give it.
void FunctionFlow::record_unlisted(const Scope& scope, ValueId id, PyObject* found,
                                   PyObject* full_name, bool is_imported) {
  if (module_name(state_, found) == nullptr) {
    if (spec_of(state_, found)) record(scope, id, full_name, is_imported);
    return;
  }
  PyObject* real = importable_name(state_, found);
  if (real != nullptr) record(scope, id, real, is_imported);
}

void FunctionFlow::record_pending(const Scope& scope, ValueId id, PyObject* module) {
  if (!is_pending(state_, module)) return;
  imports_.add(module, ImportTime::kLazy, chain_of(*scope.info, id),
               position_of(scope, id));
}

// ---- Import statements in bodies -------------------------------------------------

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

void record_body_imports(const State& state, ImportCollector& imports,
                         PyObject* function, const CodeInfo& info) {
  for (const BodyImport& statement : info.summary.imports) {
    imports.mark_untraceable();
    PyObject* name = info.name_at(statement.name);
    const CodePosition position{&info, statement.offset};
    const std::string dots(std::min<std::uint32_t>(statement.level, 64), '.');
    Ref written = Ref::steal(PyUnicode_FromFormat("%s%U", dots.c_str(), name));
    imports.add(written.get(), ImportTime::kCall, "import " + text_of(written.get()),
                position);
    Ref full_name = absolute_name(state, function, info, statement);
    for (Ref part = full_name; part; part = parent_of(part.get())) {
      imports.record_body_import(text_of(part.get()));
      record_need(state, imports, part.get(), nullptr);
    }
    if (statement.from_names == kNoIndex || !full_name) continue;
    PyObject* names = info.constant_at(statement.from_names);
    if (!PyTuple_Check(names)) continue;
    for (PyObject* item : items_of(names)) {
      if (!PyUnicode_Check(item)) continue;
      record_need(state, imports, full_name.get(), item);
      Ref submodule = join(full_name.get(), item);
      if (find_module(state, submodule.get()) == nullptr) continue;
      record_need(state, imports, submodule.get(), nullptr);
      imports.record_body_import(text_of(submodule.get()));
      const bool ends_in_dot = PyUnicode_GET_LENGTH(name) == 0;
      Ref from = Ref::steal(
          PyUnicode_FromFormat(ends_in_dot ? "%U%U" : "%U.%U", written.get(), item));
      imports.add(from.get(), ImportTime::kCall,
                  "from " + text_of(written.get()) + " import " + text_of(item),
                  position);
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
