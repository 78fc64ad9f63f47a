// Steps from a module to what it has under a name, and what they report of imports.
// Tested by tests/python/imports/discovery.

#include "python/walker/function_flow.h"

#include <string>

#include "python/runtime/compat.h"
#include "python/runtime/modules.h"
#include "python/runtime/text.h"

namespace waybill::py {

namespace {

using Kind = Value::Kind;

constexpr int kMaxChain = 16;  // Steps of a chain that are spelled out.

bool is_pending(const State& state, PyObject* name) {
  if (!kHasLazyImports) return false;
  PyObject* pending = raw_get(state.sys_dict.get(), state.names.lazy_modules.get());
  if (pending == nullptr || !PyAnySet_Check(pending)) return false;
  return check(PySet_Contains(pending, name)) == 1;
}

// The name of what a lazy import binds, if that is a module: `import a.b` binds a,
// `from a import b` binds b. Null if the placeholder does not tell.
Ref lazy_module_name(const State& state, PyObject* placeholder) {
  const LazyTarget target = lazy_target(state, placeholder);
  if (!target.module) return {};
  PyObject* name = target.module.get();
  if (target.attribute) return dotted(name, target.attribute.get());
  return first_part(name);
}

// How the code comes to a value: "xml.dom".
std::string chain(const CodeInfo& info, ValueId id) {
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
        // Without names to take from it, `import a.b` gives a.
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

CodeSpot spot_of(const Scope& scope, ValueId id) {
  return {scope.info, scope.info->summary.values[id].offset};
}

}  // namespace

void FunctionFlow::step(const Scope& scope, ValueId id, const Fact& from,
                        PyObject* name, Facts& result) {
  PyObject* module = from.object.get();
  PyObject* package = module_name(state_, module);
  PyObject* found = raw_get(PyModule_GetDict(module), name);
  // What a body imports as __main__ is the receiver's.
  if (!from.imported || !is_script(state_, module)) imports_.need(module, name);
  if (package == nullptr) {
    imports_.note_other();
    // A module that sys.modules does not know has no submodules to import.
    if (found != nullptr && PyModule_Check(found)) result.add(found, from.imported);
    return;
  }
  const Ref whole = dotted(package, name);
  if (found != nullptr && is_lazy_import(state_, found)) {
    if (take_placeholder(found, whole.get(), from.imported, result)) return;
    found = nullptr;
  }
  if (found != nullptr && found == sys_modules(state_)) {
    // The only attribute of a module that is no module and leads on to modules by name.
    imports_.note_other();
    return result.add(found, from.imported);
  }
  if (found == nullptr) {
    if (kHasLazyImports) imports_.note_other();  // It may be pending.
    found = find_module(state_, whole.get());
    if (found == nullptr) record_pending(scope, id, whole.get());
  }
  if (found == nullptr || !PyModule_Check(found)) {
    imports_.note_step(package, name, nullptr);
    result.unknown = true;
    return;
  }
  const bool is_listed = find_module(state_, whole.get()) == found;
  PyObject* own_name = is_listed ? module_name(state_, found) : nullptr;
  if (own_name == nullptr) {
    imports_.note_other();
  } else {
    imports_.note_step(package, name, own_name);
  }
  if (is_listed) {
    record(scope, id, whole.get(), from.imported);
  } else {
    record_unlisted(scope, id, found, whole.get(), from.imported);
  }
  result.add(found, from.imported);
}

// What a package has bound lazily, under its name `whole` there. False: nothing but
// what the receiver's package finds by itself.
bool FunctionFlow::take_placeholder(PyObject* found, PyObject* whole, bool imported,
                                    Facts& result) {
  imports_.note_other();
  const Ref target = lazy_module_name(state_, found);
  if (!target) return false;
  if (PyUnicode_Compare(target.get(), whole) != 0) {
    // It is not listed, but the chain goes on.
    PyObject* loaded = find_module(state_, target.get());
    result.add(loaded != nullptr ? loaded : found, imported);
    result.unknown = true;
    return true;
  }
  if (find_module(state_, whole) == nullptr) result.add(found, imported);
  return false;
}

void FunctionFlow::step_from_placeholder(const Scope& scope, ValueId id,
                                         const Fact& from, PyObject* name,
                                         Facts& result) {
  const Ref whole = lazy_module_name(state_, from.object.get());
  if (!whole) return;
  if (PyObject* module = find_module(state_, whole.get())) {
    return step(scope, id, {Ref::share(module), from.imported}, name, result);
  }
  record_pending(scope, id, dotted(whole.get(), name).get());
}

void FunctionFlow::record(const Scope& scope, ValueId id, PyObject* module,
                          bool imported) {
  if (imported && imports_.is_body_import(text_of(module))) return;
  imports_.add(module, ImportTime::kLoad, chain(*scope.info, id), spot_of(scope, id));
}

// A module that is bound, but not, or no longer, listed under that name.
void FunctionFlow::record_unlisted(const Scope& scope, ValueId id, PyObject* found,
                                   PyObject* whole, bool imported) {
  if (module_name(state_, found) == nullptr) {
    if (spec_of(state_, found)) record(scope, id, whole, imported);
    return;
  }
  PyObject* real = importable_name(state_, found);
  if (real != nullptr) record(scope, id, real, imported);
}

void FunctionFlow::record_pending(const Scope& scope, ValueId id, PyObject* module) {
  if (!is_pending(state_, module)) return;
  imports_.add(module, ImportTime::kLazy, chain(*scope.info, id), spot_of(scope, id));
}

}  // namespace waybill::py
