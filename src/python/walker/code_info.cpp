// Builds CodeInfo for a tree of code objects, inner ones first, and keeps it on them.
// Tested by tests/python/cache/test_code_cache.py.

#include "python/walker/code_info.h"

#include <algorithm>
#include <array>
#include <unordered_set>

#include "python/runtime/compat.h"
#include "python/runtime/memo.h"
#include "python/walker/code_view.h"

namespace waybill::py {

namespace {

constexpr std::size_t kMaxKnownLines = 32;

// So many are looked through faster than they are looked up.
constexpr std::size_t kFewGlobals = 16;

// Called while the code object dies: must not run Python code.
void free_info(void* info) { delete static_cast<CodeInfo*>(info); }

// What is said of code that the analysis refuses, because a tool wrote instructions
// that no compiler writes: every name may be a global.
CodeSummary pessimistic_summary(const CodeView& view) {
  CodeSummary summary;
  for (std::uint32_t i = 0; i < view.names.size(); ++i) summary.globals.push_back(i);
  for (std::uint32_t i = 0; i < view.constants.size(); ++i) {
    if (view.constants[i].kind == ConstantView::Kind::kCode)
      summary.nested.push_back(i);
  }
  return summary;
}

// Names are interned by the compiler, so equal ones are one object; a name that is not
// is only listed twice, which costs a look-up.
class GlobalList {
 public:
  explicit GlobalList(std::vector<GlobalUse>& uses) : uses_(uses) {}

  void add(const GlobalUse& use) {
    if (has(use.name)) return;
    uses_.push_back(use);
    if (uses_.size() == kFewGlobals) {
      for (const GlobalUse& known : uses_) names_.insert(key_of(known.name), 0);
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
  Memo names_;  // Of all uses, once there are kFewGlobals.
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

  // The byte where the name with this index is; kNoIndex if it is loaded nowhere.
  std::uint32_t of(std::uint32_t index) const {
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
  std::vector<std::uint32_t> offsets_;  // Of many names, by index.
};

void collect_globals(CodeInfo& info) {
  GlobalList list(info.globals);
  const FirstLoads loads(info);
  for (std::uint32_t index : info.summary.globals) {
    list.add({info.name_at(index), &info, loads.of(index)});
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

void note_readers(CodeInfo& info) {
  const auto is_attribute_reader = [&](const Value& value) {
    return value.kind == Value::Kind::kAttribute &&
           is_reader(info.name_at(value.index));
  };
  info.names_readers = std::ranges::any_of(info.globals, is_reader, &GlobalUse::name) ||
                       std::ranges::any_of(info.summary.values, is_attribute_reader) ||
                       std::ranges::any_of(info.nested, &CodeInfo::names_readers);
}

void note_kinds(CodeInfo& info) {
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

bool keeps_extras(const State& state) {
  return state.uses_caches && state.code_extra_index >= 0 && code_extra_is_safe();
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
  for (const KnownLine& known : lines_) {
    if (known.offset == offset) return known.line;
  }
  const int found = PyCode_Addr2Line(code, static_cast<int>(offset));
  const auto line = static_cast<std::uint32_t>(found > 0 ? found : 0);
  if (lines_.size() < kMaxKnownLines) lines_.push_back({offset, line});
  return line;
}

std::vector<const CodeInfo*> with_nested(const CodeInfo& info) {
  std::vector<const CodeInfo*> found{&info};
  std::unordered_set<const CodeInfo*> seen;
  for (std::size_t i = 0; i < found.size(); ++i) {
    const auto& all_nested = found[i]->nested;
    for (const CodeInfo* nested : all_nested) {
      if (seen.insert(nested).second) found.push_back(nested);
    }
  }
  return found;
}

CodeInfos::CodeInfos(const State& state, Arena* arena)
    : state_(state),
      index_(state.code_extra_index),
      keeps_extras_(keeps_extras(state)),
      held_(arena) {}

CodeInfo* CodeInfos::find(PyObject* code) const {
  if (!keeps_extras_) {
    const auto found = own_.find(code);
    return found == own_.end() ? nullptr : found->second.get();
  }
  return info_on(code, index_);
}

CodeInfo* kept_info(const State& state, PyObject* code) {
  return keeps_extras(state) ? info_on(code, state.code_extra_index) : nullptr;
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
  note_kinds(*info);
  note_readers(*info);
  CodeInfo& result = *info;
  if (keeps_extras_) {
    check(code_set_extra(code, index_, info.get()));
    static_cast<void>(info.release());
  } else {
    own_.emplace(code, std::move(info));
  }
  result.came_as_source = came_with_source(code);
  return result;
}

// Python's half knows it of code that had nothing put on it then.
bool CodeInfos::came_with_source(PyObject* code) const {
  PyObject* ask = state_.late.came_with_source.get();
  if (ask == nullptr) return false;
  return call(ask, code).get() == Py_True;
}

void CodeInfos::hold(PyObject* code) {
  // Code is asked for several times in a row; other repetitions only cost a pointer.
  if (held_.empty() || held_.back().get() != code) held_.push_back(Ref::share(code));
}

CodeInfo& CodeInfos::get(PyObject* code) {
  hold(code);
  if (CodeInfo* known = find(code)) return *known;
  // Inner code first, without recursion: a code object stays on the stack until all
  // code in its constants has an info.
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
    CodeInfo* known = find(top);
    result = known != nullptr ? known : &build(top);
  }
  return *result;
}

}  // namespace waybill::py
