// Builds CodeInfo for a tree of code objects, inner code first, and stores it on them.
// Tested by tests/python/cache/test_code_cache.py.

#include "python/walker/code_info.h"

#include <algorithm>
#include <array>
#include <unordered_set>

#include "python/runtime/compat.h"
#include "python/runtime/memo.h"
#include "python/runtime/text.h"

namespace waybill::py {

namespace {

constexpr std::size_t kMaxCachedLines = 32;

// Up to this number, a linear search is faster than a hash table.
constexpr std::size_t kFewGlobals = 16;

// Depth of nested tuples that the analysis sees.
constexpr int kConstantDepth = 4;

// Called while the code object dies: must not run Python code.
void free_info(void* info) { delete static_cast<CodeInfo*>(info); }

// The summary of code that the analysis refuses, because a bytecode tool wrote it:
// every name may be a global.
CodeSummary pessimistic_summary(const CodeView& view) {
  CodeSummary summary;
  for (std::uint32_t i = 0; i < view.names.size(); ++i) summary.globals.push_back(i);
  for (std::uint32_t i = 0; i < view.constants.size(); ++i) {
    if (view.constants[i].kind == ConstantView::Kind::kCode)
      summary.nested.push_back(i);
  }
  return summary;
}

// The compiler interns names, so equal names are one object. A name that is not
// interned may be listed twice, which only costs a look-up.
class GlobalList {
 public:
  explicit GlobalList(std::vector<GlobalUse>& uses) : uses_(uses) {}

  void add(const GlobalUse& use) {
    if (has(use.name)) return;
    uses_.push_back(use);
    if (uses_.size() == kFewGlobals) {
      for (const GlobalUse& one : uses_) names_.insert(key_of(one.name), 0);
    } else if (uses_.size() > kFewGlobals) {
      names_.insert(key_of(use.name), 0);
    }
  }

 private:
  bool has(PyObject* name) {
    if (uses_.size() >= kFewGlobals) return names_.find(key_of(name)) != nullptr;
    return std::ranges::find(uses_, name, &GlobalUse::name) != uses_.end();
  }

  std::vector<GlobalUse>& uses_;
  Memo names_;  // The names of all uses, once there are kFewGlobals.
};

// Where each name of a code object is first loaded as a global.
class FirstLoads {
 public:
  explicit FirstLoads(const CodeInfo& info) : values_(info.summary.values) {
    if (info.summary.globals.size() <= kFewGlobals) return;
    const Py_ssize_t count = PyTuple_GET_SIZE(info.code->co_names);
    offsets_.assign(static_cast<std::size_t>(count), kNoIndex);
    for (const Value& value : values_) {
      if (value.kind != Value::Kind::kGlobal) continue;
      std::uint32_t& offset = offsets_[value.index];
      if (offset == kNoIndex) offset = value.offset;
    }
  }

  // The byte that first loads the name with this index; kNoIndex if none does.
  std::uint32_t offset_of(std::uint32_t index) const {
    if (!offsets_.empty()) return offsets_[index];
    for (const Value& value : values_) {
      if (value.kind == Value::Kind::kGlobal && value.index == index) {
        return value.offset;
      }
    }
    return kNoIndex;
  }

 private:
  const std::vector<Value>& values_;
  std::vector<std::uint32_t> offsets_;  // By index of the name; empty for few names.
};

void collect_globals(CodeInfo& info) {
  GlobalList list(info.globals);
  const FirstLoads loads(info);
  for (std::uint32_t index : info.summary.globals) {
    list.add({info.name_at(index), &info, loads.offset_of(index)});
  }
  for (const CodeInfo* nested : info.nested) {
    for (const GlobalUse& use : nested->globals) list.add(use);
  }
}

bool is_reader(PyObject* name) {
  constexpr std::array kReaders = {"getattr", "hasattr",          "attrgetter",
                                   "vars",    "__getattribute__", "__getattr__"};
  return std::ranges::any_of(kReaders, [&](const char* reader) {
    return PyUnicode_CompareWithASCIIString(name, reader) == 0;
  });
}

void find_attribute_readers(CodeInfo& info) {
  const auto is_attribute_reader = [&](const Value& value) {
    return value.kind == Value::Kind::kAttribute &&
           is_reader(info.name_at(value.index));
  };
  info.uses_attribute_readers =
      std::ranges::any_of(info.globals, is_reader, &GlobalUse::name) ||
      std::ranges::any_of(info.summary.values, is_attribute_reader) ||
      std::ranges::any_of(info.nested, &CodeInfo::uses_attribute_readers);
}

void set_flags(CodeInfo& info) {
  const CodeSummary& summary = info.summary;
  const auto is_step = [](const Value& value) {
    return value.kind == Value::Kind::kAttribute ||
           value.kind == Value::Kind::kGetattr || value.kind == Value::Kind::kItem;
  };
  info.has_escapes = !summary.escapes.empty() || !summary.cell_stores.empty() ||
                     std::ranges::any_of(info.nested, &CodeInfo::has_escapes);
  info.has_steps = !summary.imports.empty() || !summary.global_stores.empty() ||
                   std::ranges::any_of(summary.values, is_step) ||
                   std::ranges::any_of(info.nested, &CodeInfo::has_steps);
}

bool stores_extras(const State& state) {
  return state.uses_caches && state.code_extra_index >= 0 && can_store_code_extras();
}

CodeInfo* info_on(PyObject* code, Py_ssize_t index) {
  void* extra = nullptr;
  check(code_get_extra(code, index, &extra));
  return static_cast<CodeInfo*>(extra);
}

}  // namespace

Py_ssize_t code_info_index() { return request_code_extra_index(free_info); }

std::uint32_t CodeInfo::line_of(std::uint32_t offset) const {
  if (offset == kNoIndex) return static_cast<std::uint32_t>(code->co_firstlineno);
  for (const CachedLine& cached : lines_) {
    if (cached.offset == offset) return cached.line;
  }
  const int found = PyCode_Addr2Line(code, static_cast<int>(offset));
  const auto line = static_cast<std::uint32_t>(found > 0 ? found : 0);
  if (lines_.size() < kMaxCachedLines) lines_.push_back({offset, line});
  return line;
}

std::vector<const CodeInfo*> with_nested(const CodeInfo& info) {
  std::vector<const CodeInfo*> found{&info};
  std::unordered_set<const CodeInfo*> visited;
  for (std::size_t i = 0; i < found.size(); ++i) {
    const auto& all_nested = found[i]->nested;
    for (const CodeInfo* nested : all_nested) {
      if (visited.insert(nested).second) found.push_back(nested);
    }
  }
  return found;
}

CodeInfos::CodeInfos(const State& state, Arena* arena)
    : state_(state),
      index_(state.code_extra_index),
      stores_extras_(stores_extras(state)),
      held_(arena) {}

CodeInfo* CodeInfos::find(PyObject* code) const {
  if (!stores_extras_) {
    const auto found = own_.find(code);
    return found == own_.end() ? nullptr : found->second.get();
  }
  return info_on(code, index_);
}

CodeInfo* cached_info(const State& state, PyObject* code) {
  return stores_extras(state) ? info_on(code, state.code_extra_index) : nullptr;
}

CodeInfo& CodeInfos::build(PyObject* code) {
  auto info = std::make_unique<CodeInfo>();
  info->code = as_code(code);
  {
    const CodeTables tables(info->code);
    Result<CodeSummary> summary = summarize(tables.view());
    info->summary = summary ? std::move(*summary) : pessimistic_summary(tables.view());
  }
  for (std::uint32_t index : info->summary.nested) {
    info->nested.push_back(find(info->constant_at(index)));
  }
  collect_globals(*info);
  set_flags(*info);
  find_attribute_readers(*info);
  CodeInfo& result = *info;
  if (stores_extras_) {
    check(code_set_extra(code, index_, info.get()));
    static_cast<void>(info.release());
  } else {
    own_.emplace(code, std::move(info));
  }
  result.was_received_as_source = is_from_source(code);
  return result;
}

// Whether code was received with source before it had an info. waybill._source.by_code
// keeps such source.
bool CodeInfos::is_from_source(PyObject* code) const {
  PyObject* helper = state_.lazy_helpers.is_from_source.get();
  if (helper == nullptr) return false;
  return call(helper, code).get() == Py_True;
}

void CodeInfos::hold(PyObject* code) {
  // Repeated requests usually follow each other; others only cost a pointer.
  if (held_.empty() || held_.back().get() != code) held_.push_back(Ref::share(code));
}

CodeInfo& CodeInfos::get(PyObject* code) {
  hold(code);
  if (CodeInfo* existing = find(code)) return *existing;
  // Without recursion: a code object stays on the stack until all code in its constants
  // has an info.
  std::vector<PyObject*> stack{code};
  CodeInfo* result = nullptr;
  while (!stack.empty()) {
    PyObject* top = stack.back();
    const std::size_t depth = stack.size();
    PyObject* constants = as_code(top)->co_consts;
    for (PyObject* constant : items_of(constants)) {
      if (PyCode_Check(constant) && find(constant) == nullptr)
        stack.push_back(constant);
    }
    if (stack.size() != depth) continue;
    stack.pop_back();
    CodeInfo* existing = find(top);
    result = existing != nullptr ? existing : &build(top);
  }
  return *result;
}

CodeTables::CodeTables(PyCodeObject* code)
    : instructions_(Ref::steal(PyCode_GetCode(code))) {
  for (PyObject* name : items_of(code->co_names)) names_.push_back(text_of(name));
  for (PyObject* name : items_of(code->co_localsplusnames)) {
    local_names_.push_back(text_of(name));
  }
  for (PyObject* object : items_of(code->co_consts)) {
    constants_.push_back(constant(object, kConstantDepth));
  }
  view_.version = kPythonVersion;
  view_.instructions = bytes_of(instructions_.get());
  view_.exception_table = bytes_of(code->co_exceptiontable);
  view_.names = names_;
  view_.local_names = local_names_;
  view_.local_kinds = bytes_of(code->co_localspluskinds);
  view_.constants = constants_;
  view_.argument_count = static_cast<std::uint32_t>(
      code->co_argcount + code->co_kwonlyargcount +
      ((code->co_flags & CO_VARARGS) != 0) + ((code->co_flags & CO_VARKEYWORDS) != 0));
}

std::string_view CodeTables::text_of(PyObject* text) {
  Ref storage;
  const std::string_view view = utf8_of(text, storage);
  if (storage) texts_.push_back(std::move(storage));
  return view;
}

ConstantView CodeTables::constant(PyObject* object, int depth) {
  using Kind = ConstantView::Kind;
  ConstantView view;
  if (object == Py_None) {
    view.kind = Kind::kNone;
  } else if (PyUnicode_CheckExact(object)) {
    view.kind = Kind::kText;
    view.text = text_of(object);
  } else if (PyLong_CheckExact(object)) {
    int overflow = 0;
    const long long value = PyLong_AsLongLongAndOverflow(object, &overflow);
    if (overflow == 0) {
      view.kind = Kind::kInteger;
      view.integer = value;
    }
  } else if (PyTuple_CheckExact(object) && depth > 0) {
    auto items = std::make_unique<std::vector<ConstantView>>();
    for (PyObject* item : items_of(object)) {
      items->push_back(constant(item, depth - 1));
    }
    view.kind = Kind::kTuple;
    view.items = *items;
    tuples_.push_back(std::move(items));
  } else if (PyCode_Check(object)) {
    view.kind = Kind::kCode;
  }
  return view;
}

}  // namespace waybill::py
