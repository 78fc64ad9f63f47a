// Modules by value, and the namespaces of functions.
// Tested by tests/python/modules/test_modules_by_value.py.

#include <algorithm>
#include <iterator>

#include "python/encode/codec.h"
#include "python/encode/plain_writer.h"
#include "python/runtime/compat.h"
#include "python/runtime/modules.h"

namespace waybill::py {

namespace {

void write_text_or_nil(PyObject* text, wire::Writer& out) {
  if (text != nullptr && PyUnicode_CheckExact(text)) {
    write_text(text, out);
  } else {
    out.nil();
  }
}

// A module that is needed whole has its submodules whole; of others that it imports
// comes what code asks of them.
bool is_submodule(const State& state, PyObject* package, PyObject* module) {
  PyObject* outer = module_name(state, package);
  PyObject* inner = module_name(state, module);
  if (outer == nullptr || inner == nullptr) return true;
  const Ref start = Ref::steal(PyUnicode_FromFormat("%U.", outer));
  return PyUnicode_Tailmatch(inner, start.get(), 0, PY_SSIZE_T_MAX, -1) == 1;
}

}  // namespace

// Functions that share a globals dict share a namespace.
void GraphEncoder::write_namespace(PyObject* globals, bool is_of_module) {
  if (known(key_of_namespace(globals))) return;
  namespaces_.push_back(globals);
  if (is_of_module) module_dicts_.push_back(globals);
  const Names& names = state_.names;
  out_.node(wire::NodeTag::kNamespace, 4);
  write_text_or_nil(raw_get(globals, names.name.get()), out_);
  write_text_or_nil(raw_get(globals, names.package.get()), out_);
  out_.boolean(raw_get(globals, names.path.get()) != nullptr);
  out_.boolean(is_of_module);
}

bool GraphEncoder::has_plain_namespace(PyObject* globals) {
  const std::uintptr_t key = key_of_namespace(globals);
  if (memo_.find(key) == nullptr) return place_in_stream(key) != nullptr;
  return std::find(module_dicts_.begin(), module_dicts_.end(), globals) ==
         module_dicts_.end();
}

std::vector<std::pair<Ref, Ref>> GraphEncoder::unwritten(PyObject* module) {
  PyObject* dict = PyModule_GetDict(module);
  const Names& names = state_.names;
  // What a module has without its code.
  const Ref* const given[] = {&names.name,     &names.package, &names.path,
                              &names.builtins, &names.spec,    &names.loader,
                              &names.cached};
  WrittenNames& written = written_globals(dict);
  std::vector<std::pair<Ref, Ref>> found;
  const auto look_at = [&](PyObject* name, PyObject* value) {
    const auto is_name = [&](const Ref* other) {
      return PyUnicode_Compare(name, other->get()) == 0;
    };
    if (!written.has(name) && std::ranges::none_of(given, is_name)) {
      found.emplace_back(Ref::share(name), Ref::share(value));
    }
  };
  OwnModule& own = own_module_entry(module);
  if (own.is_whole) {
    Py_ssize_t position = 0;
    PyObject *name, *value;
    while (PyDict_Next(dict, &position, &name, &value)) {
      if (PyUnicode_CheckExact(name)) look_at(name, value);
    }
    return found;
  }
  std::erase_if(own.waiting, [&](const Ref& name) { return written.has(name.get()); });
  for (const Ref& name : own.waiting) {
    if (PyObject* value = raw_get(dict, name.get())) look_at(name.get(), value);
  }
  return found;
}

void describe_module(GraphEncoder& encoder, PyObject* module, Plan& plan) {
  PyObject* dict = PyModule_GetDict(module);
  // Functions of it came first, when nothing told that a module has their namespace.
  if (encoder.has_plain_namespace(dict)) return describe_reduced(encoder, module, plan);
  encoder.out().node(wire::NodeTag::kModule, 3);
  encoder.write_namespace(dict, true);
  const bool is_by_value = encoder.is_by_value(module);
  const bool is_part = !encoder.is_needed_whole(module);
  std::vector<std::pair<Ref, Ref>> found = encoder.unwritten(module);
  if (is_by_value) {
    for (const auto& [key, held] : found) encoder.add_companion(held.get());
  }
  plan.raw().map(found.size());
  for (auto& [key, held] : found) {
    write_text(key.get(), plan.raw());
    const bool is_module =
        PyModule_Check(held.get()) && encoder.is_by_value(held.get()) &&
        (is_part || !is_submodule(encoder.state(), module, held.get()));
    plan.child(std::move(held), Label::of_attribute(key.get()));
    plan.last_is_global();
    if (is_module) plan.last_is_part();
  }
  plan.raw().boolean(is_part);
}

}  // namespace waybill::py
