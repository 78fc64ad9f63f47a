// The import records, and the order in which code is followed.
//
// Each function is first followed by itself. Its globals, cells and defaults have known
// values; parameters and results of calls are unknown. A module escapes if it leaves a
// function by a call, by return or in a container, or if it is found in data. Any
// unknown value of the payload's code may then be that module. So functions that read
// attributes of unknown values are followed again with the escaped modules, until
// nothing changes.
//
// Tested by tests/python/imports/discovery and tests/python/imports/test_imports.py.

#include "python/walker/import_collector.h"

#include <algorithm>
#include <iterator>

#include "python/runtime/attribute.h"
#include "python/runtime/objects.h"
#include "python/runtime/py_error.h"
#include "python/runtime/text.h"
#include "python/walker/function_flow.h"
#include "python/walker/plain_instances.h"

namespace waybill::py {

namespace {

// Bound of each list in a trace.
constexpr std::size_t kMaxTraced = 64;

// Whether guards that compare an object compare all that code can read from it. An
// object that travels by name or by a call, and a function, may have further
// attributes.
bool is_compared_whole(const State& state, PyObject* object) {
  if (PyType_Check(object) || PyFunction_Check(object) || PyModule_Check(object)) {
    return false;
  }
  return !PyType_HasFeature(Py_TYPE(object), Py_TPFLAGS_HEAPTYPE) ||
         travels_as_members(state, object);
}

// The key of a record in the memo.
std::uintptr_t key_of_record(PyObject* module, ImportTime time) {
  const Py_hash_t hash = PyObject_Hash(module);
  check(hash == -1 ? -1 : 0);
  // Zero means an empty slot.
  return (static_cast<std::uintptr_t>(hash) << 3 | static_cast<std::uintptr_t>(time)
                                                       << 1) |
         1;
}

}  // namespace

ImportCollector::ImportCollector(const State& state, PyObject* by_value)
    : state_(state), by_value_(by_value) {
  if (by_value == nullptr) return;
  // Imported here because a body may be the first to import it.
  const Ref importlib = Ref::steal(PyImport_ImportModule("importlib"));
  import_module_ = Ref::steal(PyObject_GetAttrString(importlib.get(), "import_module"));
}

ImportCollector::~ImportCollector() = default;

std::uint32_t ImportCollector::find(PyObject* module, ImportTime time) {
  const MemoEntry* entry = index_of_.find(key_of_record(module, time));
  if (entry == nullptr) return kNoIndex;
  const auto is_same = [&](std::size_t index) {
    return records_[index].time == time &&
           PyUnicode_Compare(records_[index].module.get(), module) == 0;
  };
  const auto index = static_cast<std::uint32_t>(entry->offset);
  if (is_same(index)) return index;
  // Two names have the same hash.
  for (std::uint32_t i = 0; i < records_.size(); ++i) {
    if (is_same(i)) return i;
  }
  return kNoIndex;
}

std::uint32_t ImportCollector::add(PyObject* module, ImportTime time,
                                   std::string_view chain, CodePosition position) {
  if (time == ImportTime::kLoad && is_by_value(module)) return kNoIndex;
  // No manifest can list an empty name, and Python refuses to import it.
  if (PyUnicode_GET_LENGTH(module) == 0) {
    Culprit culprit;
    culprit.path = position.info == nullptr
                       ? "<payload>"
                       : PrintableText(position.info->code->co_qualname).view();
    raise_encode(state_, culprit, "it imports a module whose name is empty", nullptr);
  }
  const std::uint32_t existing = find(module, time);
  if (existing != kNoIndex) return existing;
  const PrintableText name(module);
  if (position.info == nullptr) {
    return add_new(module, {name.view(), time, chain, {}, {}, 0});
  }
  const PrintableText function(position.info->code->co_qualname);
  const PrintableText file(position.info->code->co_filename);
  return add_new(module, {.module = name.view(),
                          .time = time,
                          .chain = chain,
                          .function = function.view(),
                          .file = file.view(),
                          .line = position.info->line_of(position.offset)});
}

std::uint32_t ImportCollector::add_new(
    PyObject* module, const envelope::ManifestBuilder::Record& record) {
  const std::uintptr_t key = key_of_record(module, record.time);
  if (index_of_.find(key) == nullptr) index_of_.insert(key, records_.size());
  records_.push_back({Ref::share(module), record.time});
  if (records_uses_) {
    uses_.push_back({Ref::share(module), record.time, std::string(record.chain),
                     std::string(record.function), std::string(record.file),
                     record.line});
  }
  return manifest_.add(record);
}

std::uint32_t ImportCollector::add_use(const ModuleUse& use) {
  const std::uint32_t existing = find(use.module.get(), use.time);
  if (existing != kNoIndex) return existing;
  const PrintableText name(use.module.get());
  return add_new(use.module.get(),
                 {name.view(), use.time, use.chain, use.function, use.file, use.line});
}

std::vector<FollowedCode> ImportCollector::followed_code() const {
  std::vector<FollowedCode> code;
  for (const auto& flow : flows_) code.push_back({flow->function(), &flow->info()});
  return code;
}

void ImportCollector::write_names(wire::Writer& out) const {
  for (const WrittenRecord& record : records_) {
    out.text(PrintableText(record.module.get()).view());
    out.unsigned_integer(static_cast<std::uint64_t>(record.time));
  }
}

std::uint32_t ImportCollector::add_reference(PyObject* module, PyObject* path) {
  PrintableText root(module), steps(path);
  std::string chain;
  chain.reserve(root.view().size() + 1 + steps.view().size());
  chain.append(root.view()).append(1, '.').append(steps.view());
  return add(module, ImportTime::kLoad, chain, {});
}

std::uint32_t ImportCollector::add_module_value(PyObject* module, PyObject* name) {
  escape(module, false);
  if (records_uses_) module_values_.push_back(Ref::share(name));
  return add(name, ImportTime::kLoad, {}, {});
}

void ImportCollector::add_lazy(const LazyTarget& target) {
  add(target.import.get(), ImportTime::kLazy, {}, {});
}

// Null for a module that neither travels by value nor is the script's.
ModuleNeed* ImportCollector::need_of(PyObject* module) {
  if (!is_script(state_, module)) {
    PyObject* name = by_value_ == nullptr ? nullptr : module_name(state_, module);
    if (name == nullptr || !is_by_value(name)) return nullptr;
  }
  for (ModuleNeed& need : needs_) {
    if (need.module.get() == module) return &need;
  }
  return &needs_.emplace_back(ModuleNeed{Ref::share(module), {}, false});
}

void ImportCollector::need(PyObject* module, PyObject* name) {
  ModuleNeed* need = need_of(module);
  if (need != nullptr && name != nullptr) need->names.push_back(Ref::share(name));
}

void ImportCollector::need_whole(PyObject* module) {
  if (ModuleNeed* need = need_of(module)) need->is_whole = true;
}

void ImportCollector::record_importer(PyObject* globals) {
  PyObject* name = raw_get(globals, state_.names.name.get());
  if (name == nullptr || !PyUnicode_CheckExact(name) ||
      !has_name_or_parent(by_value_, name)) {
    return;
  }
  Ref package = first_part(name);
  const auto is_same = [&](const Ref& other) {
    return PyUnicode_Compare(other.get(), package.get()) == 0;
  };
  if (std::ranges::none_of(importing_packages_, is_same)) {
    importing_packages_.push_back(std::move(package));
  }
}

void ImportCollector::escape(PyObject* module, bool is_imported) {
  need_whole(module);
  for (const Target& target : escaped_) {
    if (target.object.get() == module && target.is_imported == is_imported) return;
  }
  escaped_.push_back({Ref::share(module), is_imported});
}

void ImportCollector::record_step(PyObject* package, PyObject* name, PyObject* found) {
  if (!is_tracing_ || !is_replayable_) return;
  // A subclass of str may run code when it is compared or destroyed.
  if (!PyUnicode_CheckExact(package) ||
      (found != nullptr && !PyUnicode_CheckExact(found))) {
    return mark_untraceable();
  }
  const Ref full_name = submodule_name(package, name);
  // Each pass of a flow repeats its steps.
  for (const TracedStep& step : trace_.steps) {
    if (step.name.get() == name &&
        PyUnicode_Compare(step.full_name.get(), full_name.get()) == 0) {
      return;
    }
  }
  if (trace_.steps.size() == kMaxTraced) return mark_untraceable();
  trace_.steps.push_back(
      {Ref::share(package), Ref::share(name), full_name, Ref::share(found)});
}

// Constants and tuples cannot change; a class has another version once it has changed.
void ImportCollector::record_access(PyObject* object) {
  if (!is_tracing_ || !is_replayable_ || is_simple(object) ||
      PyTuple_CheckExact(object)) {
    return;
  }
  if (is_compared_whole(state_, object)) {
    if (traced_containers_.size() == kMaxTraced) return mark_untraceable();
    return traced_containers_.push_back(Ref::share(object));
  }
  if (!PyType_Check(object) || trace_.types.size() == kMaxTraced)
    return mark_untraceable();
  auto* type = as_type(object);
  const std::uint32_t version = assigned_version(type, state_.names.reduce_ex.get());
  if (version == 0) return mark_untraceable();
  trace_.types.push_back({weak_reference(object), version});
}

std::vector<std::uintptr_t> ImportCollector::take_traced_containers() {
  std::vector<std::uintptr_t> keys;
  for (const Ref& container : traced_containers_)
    keys.push_back(key_of(container.get()));
  traced_containers_.clear();
  flows_.clear();
  return keys;
}

void ImportCollector::need_package(PyObject* name) {
  if (name == nullptr || !PyUnicode_CheckExact(name)) return;
  for (Ref part = Ref::share(name); part; part = parent_of(part.get())) {
    if (!is_by_value(part.get())) return;
    PyObject* module = find_module(state_, part.get());
    const bool is_package =
        module != nullptr &&
        raw_get(PyModule_GetDict(module), state_.names.path.get()) != nullptr;
    if (!is_package) return;
    need(module, nullptr);
  }
}

// Code may name a package to read its files: pkgutil.get_data(__package__, …). The
// receiver needs the package in order to report that its files did not travel.
void ImportCollector::need_named_packages(PyObject* function, const CodeInfo& info) {
  const Names& names = state_.names;
  PyObject* globals = PyFunction_GET_GLOBALS(function);
  for (const GlobalUse& use : info.globals) {
    for (PyObject* name : {names.name.get(), names.package.get()}) {
      if (PyUnicode_Compare(use.name, name) == 0) need_package(raw_get(globals, name));
    }
  }
  for (const CodeInfo* code : with_nested(info)) {
    const Ref constants = Ref::share(code->code->co_consts);
    std::ranges::for_each(items_of(constants.get()),
                          [&](PyObject* constant) { need_package(constant); });
  }
}

void ImportCollector::add_function(PyObject* function, const CodeInfo& info) {
  if (by_value_ != nullptr) need_named_packages(function, info);
  // The summary shows that there is nothing to follow.
  if (!info.has_steps && !info.has_escapes) return;
  flows_.push_back(std::make_unique<FunctionFlow>(state_, *this, function, info));
  // Its needs of modules by value are sent together with the function.
  if (by_value_ != nullptr) flows_.back()->follow();
}

void ImportCollector::follow(PyObject* function) {
  if (!flows_.empty() && flows_.back()->function() == function) {
    has_followed_early_ = true;
    flows_.back()->follow();
  }
}

void ImportCollector::add_annotation(PyObject* owner, const CodeInfo& info) {
  std::vector<ModuleNeed> saved_needs = needs_;
  std::vector<Ref> importing = importing_packages_;
  add_function(owner, info);
  needs_ = std::move(saved_needs);
  importing_packages_ = std::move(importing);
}

void ImportCollector::fork_from(const ImportCollector& first) {
  first_ = &first;
  manifest_.fork_from(first.manifest_);
  records_ = first.records_;
  index_of_ = first.index_of_;
  escaped_ = first.escaped_;
  body_imports_ = first.body_imports_;
  stored_ = first.stored_;
  importing_packages_ = first.importing_packages_;
}

void ImportCollector::finish() {
  if (first_ == nullptr) return follow_flows();
  const bool has_needs = first_->needs_of_code_.has_value();
  // Without new functions or module values, the functions of `first_` need the same
  // modules as before.
  if (!has_needs || !flows_.empty() || escaped_.size() != first_->escaped_.size()) {
    records_uses_ = !has_needs;
    std::vector<std::unique_ptr<FunctionFlow>> later = std::move(flows_);
    flows_.clear();
    for (const auto& flow : first_->flows_) {
      flows_.push_back(std::make_unique<FunctionFlow>(state_, *this, flow->function(),
                                                      flow->info()));
    }
    std::ranges::move(later, std::back_inserter(flows_));
    follow_flows();
  }
  if (!has_needs) return;
  for (const ModuleUse& need : *first_->needs_of_code_) {
    if (need.time != ImportTime::kLoad || !is_by_value(need.module.get())) {
      add_use(need);
    }
  }
}

void ImportCollector::follow_flows() {
  bool has_reader = false;
  std::vector<FunctionFlow*> rest;
  for (const auto& flow : flows_) {
    if (!flow->has_steps() && !flow->reads_names()) {
      rest.push_back(flow.get());
      continue;
    }
    flow->follow();
    has_reader = has_reader || flow->reads_unknown();
  }
  if (!has_reader) return;
  // Functions that only let modules escape matter only if some code reads attributes of
  // unknown values.
  for (FunctionFlow* flow : rest) flow->follow();
  std::size_t followed = 0;
  while (followed != escaped_.size()) {
    followed = escaped_.size();
    for (const auto& flow : flows_) {
      if (flow->reads_unknown()) flow->follow();
    }
  }
}

}  // namespace waybill::py
