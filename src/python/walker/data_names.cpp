// Tested by tests/python/imports/discovery.

#include "python/walker/function_flow.h"

#include <algorithm>
#include <cstring>

namespace waybill::py {

namespace {

constexpr std::size_t kMaxNames = 1000;

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

bool DataNames::are_read() {
  if (has_names_) return !names_.empty();
  const CodeInfo& info = *scopes_[0]->info;
  const auto is_reader = [&](const GlobalUse& use) {
    PyObject* value = raw_get(function_->func_globals, use.name);
    return value != nullptr &&
           (is_attribute_getter(value) || is_reading_function(value));
  };
  if (info.names_readers || std::ranges::any_of(info.globals, is_reader)) {
    return !all().empty();
  }
  has_names_ = true;  // And there are none.
  return false;
}

void DataNames::add(PyObject* constant, int depth) {
  if (names_.size() >= kMaxNames) return;
  if (PyTuple_CheckExact(constant) && depth < 4) {
    for (PyObject* item : items_of(constant)) add(item, depth + 1);
  }
  if (!PyUnicode_CheckExact(constant)) return;
  Ref dot = Ref::steal(PyUnicode_FromString("."));
  Ref parts = Ref::steal(PyUnicode_Split(constant, dot.get(), -1));
  for (PyObject* part : items_of(parts.get())) {
    if (PyUnicode_IsIdentifier(part) == 1) names_.push_back(Ref::share(part));
  }
}

const std::vector<Ref>& DataNames::all() {
  if (has_names_) return names_;
  has_names_ = true;
  for (const auto& scope : scopes_) {
    for (PyObject* constant : items_of(scope->info->code->co_consts)) add(constant, 0);
  }
  for (const GlobalUse& use : scopes_[0]->info->globals) {
    PyObject* value = raw_get(function_->func_globals, use.name);
    if (value == nullptr) continue;
    add(value, 0);
    if (!is_attribute_getter(value)) continue;
    Ref parts = Ref::steal(PyObject_CallMethod(value, "__reduce__", nullptr));
    if (PyTuple_Check(parts.get()) && PyTuple_GET_SIZE(parts.get()) > 1) {
      add(PyTuple_GET_ITEM(parts.get(), 1), 0);
    }
  }
  return names_;
}

}  // namespace waybill::py
