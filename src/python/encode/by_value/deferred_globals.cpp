// Tested by tests/python/imports/test_order_of_need.py.

#include "python/encode/by_value/by_value.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "python/runtime/compat.h"
#include "python/walker/class_attributes.h"

namespace waybill::py {

namespace {

// Moves modules, and globals whose turn is not 0, from `named` to `deferred`.
void defer(NamedValues& deferred, NamedValues& named) {
  std::vector<Global> rest;
  for (Global& global : named.globals) {
    const auto is_same = [&](const Global& other) {
      return PyUnicode_Compare(other.use->name, global.use->name) == 0;
    };
    if (global.turn == 0) {
      rest.push_back(std::move(global));
    } else if (std::ranges::none_of(deferred.globals, is_same)) {
      deferred.globals.push_back(std::move(global));
    }
  }
  named.globals = std::move(rest);
  std::ranges::move(named.modules, std::back_inserter(deferred.modules));
  named.modules.clear();
}

// Moves the modules, and the globals that are not written, from `deferred` to `named`.
void take_deferred(NamedValues& deferred, WrittenNames& written, NamedValues& named) {
  named.globals.clear();  // Those of the method whose code the carrier has.
  for (Global& global : deferred.globals) {
    if (!written.has(global.use->name)) named.globals.push_back(std::move(global));
  }
  named.sort_by_turn();
  for (Ref& module : deferred.modules) {
    const auto is_same = [&](const Ref& other) { return other.get() == module.get(); };
    if (std::ranges::none_of(named.modules, is_same)) {
      named.modules.push_back(std::move(module));
    }
  }
  deferred = {};
}

}  // namespace

void NamedValues::sort_by_turn() {
  if (std::ranges::is_sorted(globals, {}, &Global::turn)) return;
  std::ranges::stable_sort(globals, {}, &Global::turn);
}

// A new function with the globals and the code of a method of a module by value that
// has no closure; null if the class has no such method.
Ref DeferredGlobals::new_carrier(PyObject* attributes) const {
  for (const auto& [name, value] : DictItems(attributes)) {
    if (!PyFunction_Check(value)) continue;
    auto* method = as_function(value);
    if (method->func_closure != nullptr) continue;
    if (by_value_.module_with_globals(method->func_globals) == nullptr) continue;
    const Ref code = Ref::share(method->func_code);
    const Ref globals = Ref::share(method->func_globals);
    return Ref::steal(PyFunction_New(code.get(), globals.get()));
  }
  return {};
}

Ref DeferredGlobals::with_carrier(PyObject* type, const Ref& attributes) {
  if (!by_value_.any()) return attributes;
  PyObject* module = state_.names.module.get();
  if (raw_get(attributes.get(), module) != nullptr) return attributes;
  Ref carrier = new_carrier(attributes.get());
  if (!carrier) return attributes;
  const Ref items = Ref::steal(PyDict_Items(attributes.get()));
  PyObject* last = PyList_GET_ITEM(items.get(), 0);
  for (PyObject* item : items_of(items.get())) {
    if (is_method(PyTuple_GET_ITEM(item, 1))) last = item;
  }
  Ref whole = Ref::steal(PyDict_New());
  for (PyObject* item : items_of(items.get())) {
    check(PyDict_SetItem(whole.get(), PyTuple_GET_ITEM(item, 0),
                         PyTuple_GET_ITEM(item, 1)));
    // The class has __module__ already, so setting it again does nothing.
    if (item == last) check(PyDict_SetItem(whole.get(), module, carrier.get()));
  }
  of_classes_[type].carrier = std::move(carrier);
  return whole;
}

DeferredGlobals::DeferredValues* DeferredGlobals::innermost() {
  if (of_classes_.empty()) return nullptr;
  const auto found = of_classes_.find(stack_.innermost_class());
  return found == of_classes_.end() ? nullptr : &found->second;
}

void DeferredGlobals::arrange(PyFunctionObject* function, NamedValues& named,
                              WrittenNames& written) {
  DeferredValues* deferred = innermost();
  if (deferred == nullptr) return;
  PyObject* carrier = deferred->carrier.get();
  if (carrier == as_object(function)) {
    take_deferred(deferred->named, written, named);
  } else if (!deferred->is_closed &&
             PyFunction_GET_GLOBALS(carrier) == function->func_globals) {
    defer(deferred->named, named);
  }
}

DeferredGlobals::CarrierReplacement DeferredGlobals::close_class() {
  DeferredValues& deferred = *innermost();
  const Ref type = Ref::share(stack_.innermost_class());
  Ref name = Ref::share(raw_get(as_type(type.get()), state_.names.module.get()));
  if (!name) name = Ref::share(Py_None);
  deferred.is_closed = true;
  if (deferred.named.globals.empty() && deferred.named.modules.empty()) {
    return {std::move(name), {}};
  }
  const Ref arguments = Ref::steal(PyTuple_Pack(2, name.get(), deferred.carrier.get()));
  Ref reduction =
      Ref::steal(PyTuple_Pack(2, state_.with_globals.get(), arguments.get()));
  return {std::move(name), std::move(reduction)};
}

}  // namespace waybill::py
