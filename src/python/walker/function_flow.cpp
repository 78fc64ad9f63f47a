// The pass over a function's values: every value of every code object gets the set of
// objects that it may be, from the sets of the values before it, again and again until
// no set grows. Values only point back, except at joins of loops, through variables and
// into nested code, so most functions need one pass and a second to see that.
//
// What the sets hold are real objects, looked up raw; nothing is called. Knowingly
// missed: what a call returns (any module that escaped may come back, see
// import_collector.cpp), what an attribute of a value computes (properties), and names
// that are put together at run time.
//
// Tested by tests/python/imports/discovery.

#include "python/walker/function_flow.h"

#include <algorithm>
#include <set>

#include "python/runtime/compat.h"

namespace waybill::py {

namespace {

using Kind = Value::Kind;

constexpr std::size_t kMaxObjects = 256;  // Of one value.
// Sets only grow and are bounded; this bounds the time for code made to be slow.
constexpr int kMaxPasses = 100;

bool is_free(const CodeInfo& info, std::uint32_t index) {
  const BytesView kinds = bytes_of(info.code->co_localspluskinds);
  return (kinds[index] & kLocalFree) != 0;
}

std::uint32_t argument_count(const PyCodeObject* code) {
  return static_cast<std::uint32_t>(code->co_argcount + code->co_kwonlyargcount);
}

bool points_ahead(const CodeSummary& summary) {
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

void Facts::add(PyObject* object, bool imported) {
  for (const Fact& fact : objects) {
    if (fact.object.get() == object && fact.imported == imported) return;
  }
  objects.push_back({Ref::share(object), imported});
}

bool Facts::merge(const Facts& from) {
  bool has_grown = from.unknown && !unknown;
  unknown = unknown || from.unknown;
  for (const Fact& fact : from.objects) {
    const std::size_t before = objects.size();
    if (before < kMaxObjects) add(fact.object.get(), fact.imported);
    has_grown |= objects.size() != before;
  }
  for (const Pack& pack : from.packs) {
    const bool known = std::ranges::any_of(packs, [&](const Pack& other) {
      return other.scope == pack.scope && other.value == pack.value;
    });
    if (known || packs.size() >= kMaxObjects) continue;
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
    note_body_imports(state_, imports_, this->function(), *scope->info);
    note_stores(*scope);
  }
}

// Stores that other functions can see: into globals, and into cells that came with the
// closure.
void FunctionFlow::note_stores(const Scope& scope) {
  const CodeSummary& summary = scope.info->summary;
  for (const Store& store : summary.global_stores) {
    imports_.note_store(scope.info->name_at(store.index));
  }
  for (const Store& store : summary.cell_stores) {
    if (owner_of(scope, store.index) != nullptr) continue;
    if (PyObject* cell = closure_cell(scope.info->local_at(store.index))) {
      imports_.note_store(cell);
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
  if (info.nested.empty()) {  // As of most.
    needs_rounds_ = points_ahead(info.summary);
    return;
  }
  std::unordered_set<const CodeInfo*> seen{&info};
  for (std::size_t i = 0; i < scopes_.size(); ++i) {
    const Scope* outer = scopes_[i].get();
    needs_rounds_ = needs_rounds_ || points_ahead(outer->info->summary);
    for (std::size_t n = 0; n < outer->info->nested.size(); ++n) {
      const CodeInfo* nested = outer->info->nested[n];
      if (!seen.insert(nested).second) continue;
      scopes_.push_back(std::make_unique<Scope>(
          Scope{nested, outer, outer->info->summary.nested[n], {}}));
      needs_rounds_ = true;
    }
  }
}

void FunctionFlow::follow() {
  for (int passes = 0; passes < kMaxPasses; ++passes) {
    if (!pass() || !needs_rounds_) break;
  }
  for (const auto& scope : scopes_) {
    const CodeSummary& summary = scope->info->summary;
    for (ValueId id : summary.escapes) {
      escape(scope->facts[id]);
      if (!reads_names()) continue;
      for (const Fact& fact : scope->facts[id].objects) {
        if (PyModule_Check(fact.object.get())) escape_to_names(*scope, id, fact);
      }
    }
    for (const Store& store : summary.global_stores) {
      escape(scope->facts[store.value]);
    }
    for (const Store& store : summary.cell_stores) {
      if (owner_of(*scope, store.index) == nullptr) escape(scope->facts[store.value]);
    }
  }
}

bool FunctionFlow::pass() {
  bool has_grown = false;
  for (const auto& scope : scopes_) {
    scope->facts.resize(scope->info->summary.values.size());
    for (ValueId id = 0; id < scope->facts.size(); ++id) {
      has_grown |= evaluate(*scope, id);
    }
  }
  return has_grown;
}

Facts FunctionFlow::facts_of(Scope& scope, ValueId id) {
  const CodeSummary& summary = scope.info->summary;
  const Value& value = summary.values[id];
  Facts found;
  switch (value.kind) {
    case Kind::kUnknown:
    case Kind::kFunction:
      found.unknown = true;
      break;
    case Kind::kConstant:
      found.add(scope.info->constant_at(value.index), false);
      break;
    case Kind::kInteger: {
      // Each one made is another object, and would count as news in each pass.
      if (!scope.facts[id].objects.empty()) break;
      const Ref integer =
          Ref::steal(PyLong_FromLong(static_cast<std::int32_t>(value.index)));
      found.add(integer.get(), false);
      break;
    }
    case Kind::kGlobal:
      found = global(scope, value);
      break;
    case Kind::kParameter:
      found = parameter(scope, value.index);
      break;
    case Kind::kVariable:
      found = variable(scope, value);
      break;
    case Kind::kImport:
      imports_.note_other();
      if (PyObject* module = imported_module(state_, function(), *scope.info,
                                             summary.imports[value.index])) {
        found.add(module, true);
      }
      break;
    case Kind::kImportFrom:
    case Kind::kAttribute:
      found = attribute(scope, id, value);
      break;
    case Kind::kGetattr:
      found = getattr(scope, id, value);
      break;
    case Kind::kItem:
      found = item(scope, id, value);
      break;
    case Kind::kElement:
      found = element(scope, value);
      break;
    case Kind::kPack:
      found.packs.push_back({&scope, id});
      break;
    case Kind::kUnion:
      for (std::uint32_t i = 0; i < value.operand_count; ++i) {
        found.merge(scope.facts[summary.operands[value.first_operand + i]]);
      }
      break;
  }
  return found;
}

bool FunctionFlow::evaluate(Scope& scope, ValueId id) {
  const Facts found = facts_of(scope, id);
  for (const Fact& fact : found.objects) {
    note_importer(fact.object.get());
  }
  return scope.facts[id].merge(found);
}

Facts FunctionFlow::global(const Scope& scope, const Value& value) const {
  Facts facts;
  PyObject* name = scope.info->name_at(value.index);
  if (PyObject* object = raw_get(function_->func_globals, name)) {
    facts.add(object, false);
  }
  facts.unknown = imports_.is_stored(name);
  for (const auto& other : scopes_) {
    for (const Store& store : other->info->summary.global_stores) {
      if (other->info->name_at(store.index) != name || other->facts.empty()) continue;
      facts.merge(other->facts[store.value]);
    }
  }
  return facts;
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

Facts FunctionFlow::parameter(const Scope& scope, std::uint32_t index) {
  Facts facts;
  facts.unknown = true;
  if (scope.outer == nullptr) {
    if (PyObject* object = default_of(index)) facts.add(object, false);
    return facts;
  }
  if (scope.outer->facts.empty()) return facts;
  const CodeSummary& outer = scope.outer->info->summary;
  const PyCodeObject* code = scope.info->code;
  const bool is_rest =
      (code->co_flags & CO_VARARGS) != 0 && index == argument_count(code);
  for (const Binding& binding : outer.bindings) {
    if (binding.code != scope.constant) continue;
    if (is_rest && static_cast<int>(binding.parameter) >= code->co_argcount) {
      // They sit in the tuple of *args, which is not followed further.
      escape(scope.outer->facts[binding.value]);
    } else if (!is_rest && binding.parameter == index) {
      facts.merge(scope.outer->facts[binding.value]);
    }
  }
  for (const Default& value : outer.defaults) {
    if (value.code != scope.constant || !is_default_of(scope, value, index)) continue;
    facts.merge(scope.outer->facts[value.value]);
  }
  return facts;
}

// Whether a nested function's default is that of this parameter.
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

Facts FunctionFlow::variable(const Scope& scope, const Value& value) {
  Facts facts;
  PyObject* name = scope.info->local_at(value.index);
  const Scope* owner = owner_of(scope, value.index);
  for (const auto& other : scopes_) {
    if (other->facts.empty()) continue;
    for (const Store& store : other->info->summary.cell_stores) {
      if (PyUnicode_Compare(other->info->local_at(store.index), name) != 0) continue;
      if (owner_of(*other, store.index) != owner) continue;
      facts.merge(other->facts[store.value]);
    }
  }
  if (owner != nullptr) {
    const std::uint32_t arguments = argument_count(owner->info->code) + 2;
    for (std::uint32_t i = 0; i < arguments; ++i) {
      if (i >= PyTuple_GET_SIZE(owner->info->code->co_localsplusnames)) break;
      if (PyUnicode_Compare(owner->info->local_at(i), name) != 0) continue;
      facts.merge(parameter(*owner, i));
    }
    return facts;
  }
  if (PyObject* cell = closure_cell(name)) {
    if (PyObject* content = PyCell_GET(cell)) facts.add(content, false);
    facts.unknown = facts.unknown || imports_.is_stored(cell);
  }
  return facts;
}

void FunctionFlow::escape(const Facts& facts) {
  // Displays hold displays, and loops make them hold themselves: each is taken once.
  std::set<std::pair<const Scope*, ValueId>> seen;
  std::vector<const Facts*> open{&facts};
  while (!open.empty()) {
    const Facts& top = *open.back();
    open.pop_back();
    for (const Fact& fact : top.objects) {
      if (PyModule_Check(fact.object.get())) {
        imports_.escape(fact.object.get(), fact.imported);
      }
    }
    for (const Pack& pack : top.packs) {
      if (!seen.emplace(pack.scope, pack.value).second) continue;
      const CodeSummary& summary = pack.scope->info->summary;
      const Value& value = summary.values[pack.value];
      for (std::uint32_t i = 0; i < value.operand_count; ++i) {
        const ValueId operand = summary.operands[value.first_operand + i];
        open.push_back(&pack.scope->facts[operand]);
      }
    }
  }
}

}  // namespace waybill::py
