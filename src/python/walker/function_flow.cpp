// A points-to analysis over the values of a function. Each value of each code object
// gets the set of objects that it may be, computed from the sets of its operands. The
// passes repeat until no set grows. Operands precede their value except at joins of
// loops, through variables and into nested code, so most functions need a single pass.
//
// The sets hold real objects, which are looked up without calling anything. Knowingly
// missed: results of calls (they may be any module that escaped, see
// import_collector.cpp), results of properties, and names that are computed at run
// time.
//
// Tested by tests/python/imports/discovery.

#include "python/walker/function_flow.h"

#include <algorithm>
#include <set>

#include "python/runtime/compat.h"

namespace waybill::py {

namespace {

using Kind = Value::Kind;

constexpr std::size_t kMaxObjects = 256;  // Per value.
// Sets grow and are bounded, so passes end anyway. This bounds the time for hostile
// code.
constexpr int kMaxPasses = 100;

bool is_free(const CodeInfo& info, std::uint32_t index) {
  const BytesView kinds = bytes_of(info.code->co_localspluskinds);
  return (kinds[index] & kLocalFree) != 0;
}

std::uint32_t argument_count(const PyCodeObject* code) {
  return static_cast<std::uint32_t>(code->co_argcount + code->co_kwonlyargcount);
}

bool has_forward_operands(const CodeSummary& summary) {
  for (ValueId id = 0; id < summary.values.size(); ++id) {
    const Value& value = summary.values[id];
    if (value.kind == Kind::kVariable) return true;
    if (value.kind != Kind::kUnion) continue;
    for (std::uint32_t i = 0; i < value.operand_count; ++i) {
      if (summary.operands[value.first_operand + i] >= id) return true;
    }
  }
  return !summary.global_stores.empty();
}

}  // namespace

void PointsToSet::add(PyObject* object, bool is_imported) {
  for (const Target& target : objects) {
    if (target.object.get() == object && target.is_imported == is_imported) return;
  }
  objects.push_back({Ref::share(object), is_imported});
}

bool PointsToSet::merge(const PointsToSet& from) {
  bool has_grown = from.is_unknown && !is_unknown;
  is_unknown = is_unknown || from.is_unknown;
  for (const Target& target : from.objects) {
    const std::size_t before = objects.size();
    if (before < kMaxObjects) add(target.object.get(), target.is_imported);
    has_grown |= objects.size() != before;
  }
  for (const Pack& pack : from.packs) {
    const bool is_present = std::ranges::any_of(packs, [&](const Pack& other) {
      return other.scope == pack.scope && other.value == pack.value;
    });
    if (is_present || packs.size() >= kMaxObjects) continue;
    packs.push_back(pack);
    has_grown = true;
  }
  return has_grown;
}

FunctionFlow::FunctionFlow(const State& state, ImportCollector& imports,
                           PyObject* function, const CodeInfo& info)
    : state_(state),
      imports_(imports),
      function_(as_function(function)),
      names_(function_, scopes_) {
  add_scopes(info);
  for (const auto& scope : scopes_) {
    record_body_imports(state_, imports_, this->function(), *scope->info);
    record_stores(*scope);
  }
}

// Records the stores that other functions can see: into globals, and into cells of the
// closure.
void FunctionFlow::record_stores(const Scope& scope) {
  const CodeSummary& summary = scope.info->summary;
  for (const Store& store : summary.global_stores) {
    imports_.record_store(scope.info->name_at(store.index));
  }
  for (const Store& store : summary.cell_stores) {
    if (owner_of(scope, store.index) != nullptr) continue;
    if (PyObject* cell = closure_cell(scope.info->local_at(store.index))) {
      imports_.record_store(cell);
    }
  }
}

// The cell of the function's closure under a name; null if there is none.
PyObject* FunctionFlow::closure_cell(PyObject* name) const {
  PyObject* closure = function_->func_closure;
  if (closure == nullptr) return nullptr;
  Ref names = Ref::steal(PyCode_GetFreevars(scopes_[0]->info->code));
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(closure); ++i) {
    if (i >= PyTuple_GET_SIZE(names.get())) break;
    if (PyUnicode_Compare(PyTuple_GET_ITEM(names.get(), i), name) == 0) {
      return PyTuple_GET_ITEM(closure, i);
    }
  }
  return nullptr;
}

void FunctionFlow::add_scopes(const CodeInfo& info) {
  scopes_.push_back(std::make_unique<Scope>(Scope{&info, nullptr, kNoIndex, {}}));
  if (info.nested.empty()) {  // The common case.
    needs_iteration_ = has_forward_operands(info.summary);
    return;
  }
  std::unordered_set<const CodeInfo*> visited{&info};
  for (std::size_t i = 0; i < scopes_.size(); ++i) {
    const Scope* outer = scopes_[i].get();
    needs_iteration_ = needs_iteration_ || has_forward_operands(outer->info->summary);
    for (std::size_t n = 0; n < outer->info->nested.size(); ++n) {
      const CodeInfo* nested = outer->info->nested[n];
      if (!visited.insert(nested).second) continue;
      scopes_.push_back(std::make_unique<Scope>(
          Scope{nested, outer, outer->info->summary.nested[n], {}}));
      needs_iteration_ = true;
    }
  }
}

void FunctionFlow::follow() {
  for (int passes = 0; passes < kMaxPasses; ++passes) {
    if (!run_pass() || !needs_iteration_) break;
  }
  for (const auto& scope : scopes_) {
    const CodeSummary& summary = scope->info->summary;
    for (ValueId id : summary.escapes) {
      escape(scope->points_to[id]);
      if (!reads_names()) continue;
      for (const Target& target : scope->points_to[id].objects) {
        if (PyModule_Check(target.object.get())) escape_to_names(*scope, id, target);
      }
    }
    for (const Store& store : summary.global_stores) {
      escape(scope->points_to[store.value]);
    }
    for (const Store& store : summary.cell_stores) {
      if (owner_of(*scope, store.index) == nullptr)
        escape(scope->points_to[store.value]);
    }
  }
}

bool FunctionFlow::run_pass() {
  bool has_grown = false;
  for (const auto& scope : scopes_) {
    scope->points_to.resize(scope->info->summary.values.size());
    for (ValueId id = 0; id < scope->points_to.size(); ++id) {
      has_grown |= update(*scope, id);
    }
  }
  return has_grown;
}

PointsToSet FunctionFlow::evaluate(Scope& scope, ValueId id) {
  const CodeSummary& summary = scope.info->summary;
  const Value& value = summary.values[id];
  PointsToSet found;
  switch (value.kind) {
    case Kind::kUnknown:
    case Kind::kFunction:
      found.is_unknown = true;
      break;
    case Kind::kConstant:
      found.add(scope.info->constant_at(value.index), false);
      break;
    case Kind::kInteger: {
      // A new int for each pass would make the set grow each time.
      if (!scope.points_to[id].objects.empty()) break;
      const Ref integer =
          Ref::steal(PyLong_FromLong(static_cast<std::int32_t>(value.index)));
      found.add(integer.get(), false);
      break;
    }
    case Kind::kGlobal:
      found = evaluate_global(scope, value);
      break;
    case Kind::kParameter:
      found = evaluate_parameter(scope, value.index);
      break;
    case Kind::kVariable:
      found = evaluate_variable(scope, value);
      break;
    case Kind::kImport:
      imports_.mark_untraceable();
      if (PyObject* module = imported_module(state_, function(), *scope.info,
                                             summary.imports[value.index])) {
        found.add(module, true);
      }
      break;
    case Kind::kImportFrom:
    case Kind::kAttribute:
      found = evaluate_attribute(scope, id, value);
      break;
    case Kind::kGetattr:
      found = evaluate_getattr(scope, id, value);
      break;
    case Kind::kItem:
      found = evaluate_item(scope, id, value);
      break;
    case Kind::kElement:
      found = evaluate_element(scope, value);
      break;
    case Kind::kPack:
      found.packs.push_back({&scope, id});
      break;
    case Kind::kUnion:
      for (std::uint32_t i = 0; i < value.operand_count; ++i) {
        found.merge(scope.points_to[summary.operands[value.first_operand + i]]);
      }
      break;
  }
  return found;
}

bool FunctionFlow::update(Scope& scope, ValueId id) {
  const PointsToSet found = evaluate(scope, id);
  for (const Target& target : found.objects) {
    record_importer(target.object.get());
  }
  return scope.points_to[id].merge(found);
}

PointsToSet FunctionFlow::evaluate_global(const Scope& scope,
                                          const Value& value) const {
  PointsToSet result;
  PyObject* name = scope.info->name_at(value.index);
  if (PyObject* object = raw_get(function_->func_globals, name)) {
    result.add(object, false);
  }
  result.is_unknown = imports_.is_stored(name);
  for (const auto& other : scopes_) {
    for (const Store& store : other->info->summary.global_stores) {
      if (other->info->name_at(store.index) != name || other->points_to.empty())
        continue;
      result.merge(other->points_to[store.value]);
    }
  }
  return result;
}

PyObject* FunctionFlow::default_of(std::uint32_t parameter) const {
  const PyCodeObject* code = scopes_[0]->info->code;
  const auto positional = static_cast<std::uint32_t>(code->co_argcount);
  if (parameter < positional) {
    PyObject* defaults = function_->func_defaults;
    if (defaults == nullptr) return nullptr;
    const Py_ssize_t index = static_cast<Py_ssize_t>(parameter) - code->co_argcount +
                             PyTuple_GET_SIZE(defaults);
    return index < 0 ? nullptr : PyTuple_GET_ITEM(defaults, index);
  }
  if (function_->func_kwdefaults == nullptr || parameter >= argument_count(code)) {
    return nullptr;
  }
  return raw_get(function_->func_kwdefaults, scopes_[0]->info->local_at(parameter));
}

PointsToSet FunctionFlow::evaluate_parameter(const Scope& scope, std::uint32_t index) {
  PointsToSet result;
  result.is_unknown = true;
  if (scope.outer == nullptr) {
    if (PyObject* object = default_of(index)) result.add(object, false);
    return result;
  }
  if (scope.outer->points_to.empty()) return result;
  const CodeSummary& outer = scope.outer->info->summary;
  const PyCodeObject* code = scope.info->code;
  const bool is_rest =
      (code->co_flags & CO_VARARGS) != 0 && index == argument_count(code);
  for (const Binding& binding : outer.bindings) {
    if (binding.code != scope.constant) continue;
    if (is_rest && static_cast<int>(binding.parameter) >= code->co_argcount) {
      // These arguments go into the tuple of *args, which is not followed.
      escape(scope.outer->points_to[binding.value]);
    } else if (!is_rest && binding.parameter == index) {
      result.merge(scope.outer->points_to[binding.value]);
    }
  }
  for (const Default& value : outer.defaults) {
    if (value.code != scope.constant || !is_default_of(scope, value, index)) continue;
    result.merge(scope.outer->points_to[value.value]);
  }
  return result;
}

// Whether a default of a nested function belongs to this parameter.
bool FunctionFlow::is_default_of(const Scope& scope, const Default& value,
                                 std::uint32_t parameter) const {
  const auto* code = scope.info->code;
  if (value.keyword_names == kNoIndex) {
    return value.position + parameter + 1 ==
           static_cast<std::uint32_t>(code->co_argcount);
  }
  PyObject* name = scope.outer->info->constant_at(value.keyword_names);
  if (PyTuple_CheckExact(name)) {
    if (static_cast<Py_ssize_t>(value.position) >= PyTuple_GET_SIZE(name)) return false;
    name = PyTuple_GET_ITEM(name, value.position);
  }
  return PyUnicode_Check(name) &&
         PyUnicode_Compare(scope.info->local_at(parameter), name) == 0;
}

const Scope* FunctionFlow::owner_of(const Scope& scope, std::uint32_t local) const {
  if (!is_free(*scope.info, local)) return &scope;
  PyObject* name = scope.info->local_at(local);
  for (const Scope* outer = scope.outer; outer != nullptr; outer = outer->outer) {
    const Py_ssize_t count = PyTuple_GET_SIZE(outer->info->code->co_localsplusnames);
    for (Py_ssize_t i = 0; i < count; ++i) {
      const auto index = static_cast<std::uint32_t>(i);
      if (PyUnicode_Compare(outer->info->local_at(index), name) != 0) continue;
      if (!is_free(*outer->info, index)) return outer;
      break;
    }
  }
  return nullptr;
}

PointsToSet FunctionFlow::evaluate_variable(const Scope& scope, const Value& value) {
  PointsToSet result;
  PyObject* name = scope.info->local_at(value.index);
  const Scope* owner = owner_of(scope, value.index);
  for (const auto& other : scopes_) {
    if (other->points_to.empty()) continue;
    for (const Store& store : other->info->summary.cell_stores) {
      if (PyUnicode_Compare(other->info->local_at(store.index), name) != 0) continue;
      if (owner_of(*other, store.index) != owner) continue;
      result.merge(other->points_to[store.value]);
    }
  }
  if (owner != nullptr) {
    const std::uint32_t arguments = argument_count(owner->info->code) + 2;
    for (std::uint32_t i = 0; i < arguments; ++i) {
      if (i >= PyTuple_GET_SIZE(owner->info->code->co_localsplusnames)) break;
      if (PyUnicode_Compare(owner->info->local_at(i), name) != 0) continue;
      result.merge(evaluate_parameter(*owner, i));
    }
    return result;
  }
  if (PyObject* cell = closure_cell(name)) {
    if (PyObject* content = PyCell_GET(cell)) result.add(content, false);
    result.is_unknown = result.is_unknown || imports_.is_stored(cell);
  }
  return result;
}

void FunctionFlow::escape(const PointsToSet& escaping) {
  // Displays can be nested, and a loop can put a display into itself, so each is
  // visited once.
  std::set<std::pair<const Scope*, ValueId>> visited;
  std::vector<const PointsToSet*> open{&escaping};
  while (!open.empty()) {
    const PointsToSet& top = *open.back();
    open.pop_back();
    for (const Target& target : top.objects) {
      if (PyModule_Check(target.object.get())) {
        imports_.escape(target.object.get(), target.is_imported);
      }
    }
    for (const Pack& pack : top.packs) {
      if (!visited.emplace(pack.scope, pack.value).second) continue;
      const CodeSummary& summary = pack.scope->info->summary;
      const Value& value = summary.values[pack.value];
      for (std::uint32_t i = 0; i < value.operand_count; ++i) {
        const ValueId operand = summary.operands[value.first_operand + i];
        open.push_back(&pack.scope->points_to[operand]);
      }
    }
  }
}

}  // namespace waybill::py
