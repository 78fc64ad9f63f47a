// Attributes that are asked for by names which are data: getattr under another name,
// attrgetter, vars(module)["name"], functools.reduce(getattr, …). Where a module goes
// into a call in code that can do such a thing, the code's text constants count as
// names. Tested by tests/python/imports/discovery.

#include <cstring>

#include "python/discovery/code_view.h"
#include "python/discovery/function_flow.h"
#include "python/runtime/modules.h"

namespace waybill::py {

namespace {

constexpr std::size_t kMaxTexts = 1000;

bool is_attribute_getter(PyObject* object) {
  return std::strcmp(Py_TYPE(object)->tp_name, "operator.attrgetter") == 0;
}

// The builtin getattr or hasattr, whatever name it goes by.
bool is_reading_function(PyObject* object) {
  if (!PyCFunction_CheckExact(object)) return false;
  const char* name = reinterpret_cast<PyCFunctionObject*>(object)->m_ml->ml_name;
  return std::strcmp(name, "getattr") == 0 || std::strcmp(name, "hasattr") == 0;
}

}  // namespace

bool FunctionFlow::reads_names() {
  if (has_texts_) return !texts_.empty();
  if (scopes_[0]->info->names_readers) return !texts().empty();
  for (const GlobalUse& use : scopes_[0]->info->globals) {
    PyObject* value = raw_get(function_->func_globals, use.name);
    if (value == nullptr) continue;
    if (is_attribute_getter(value) || is_reading_function(value)) {
      return !texts().empty();
    }
  }
  has_texts_ = true;  // And there are none.
  return false;
}

void FunctionFlow::add_texts(PyObject* constant, int depth) {
  if (texts_.size() >= kMaxTexts) return;
  if (PyTuple_CheckExact(constant) && depth < 4) {
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(constant); ++i) {
      add_texts(PyTuple_GET_ITEM(constant, i), depth + 1);
    }
  }
  if (!PyUnicode_CheckExact(constant)) return;
  Ref dot = Ref::steal(PyUnicode_FromString("."));
  Ref parts = Ref::steal(PyUnicode_Split(constant, dot.get(), -1));
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(parts.get()); ++i) {
    PyObject* part = PyList_GET_ITEM(parts.get(), i);
    if (PyUnicode_IsIdentifier(part) == 1) texts_.push_back(Ref::share(part));
  }
}

const std::vector<Ref>& FunctionFlow::texts() {
  if (has_texts_) return texts_;
  has_texts_ = true;
  for (const auto& scope : scopes_) {
    PyObject* constants = scope->info->code->co_consts;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(constants); ++i) {
      add_texts(PyTuple_GET_ITEM(constants, i), 0);
    }
  }
  for (const GlobalUse& use : scopes_[0]->info->globals) {
    PyObject* value = raw_get(function_->func_globals, use.name);
    if (value == nullptr) continue;
    add_texts(value, 0);
    if (!is_attribute_getter(value)) continue;
    Ref parts = Ref::steal(PyObject_CallMethod(value, "__reduce__", nullptr));
    if (PyTuple_Check(parts.get()) && PyTuple_GET_SIZE(parts.get()) > 1) {
      add_texts(PyTuple_GET_ITEM(parts.get(), 1), 0);
    }
  }
  return texts_;
}

void FunctionFlow::escape_to_names(const Scope& scope, ValueId id, const Fact& from) {
  Facts reached;
  reached.objects.push_back(from);
  // Grows while it is walked: names may lead on from what names led to.
  for (std::size_t i = 0; i < reached.objects.size(); ++i) {
    const Fact fact = reached.objects[i];
    if (!PyModule_Check(fact.object.get())) continue;
    for (const Ref& name : texts()) step(scope, id, fact, name.get(), reached);
  }
}

}  // namespace waybill::py
