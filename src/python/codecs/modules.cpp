// Modules by value, and the namespaces of functions.
// Tested by tests/python/test_modules_by_value.py.

#include <algorithm>
#include <iterator>

#include "python/codec.h"
#include "python/compat.h"
#include "python/modules.h"
#include "python/plain_writer.h"

namespace waybill::py {

namespace {

void write_text_or_nil(PyObject* text, wire::Writer& out) {
  if (text != nullptr && PyUnicode_CheckExact(text)) {
    write_text(text, out);
  } else {
    out.nil();
  }
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

void describe_module(GraphEncoder& encoder, PyObject* module, Plan& plan) {
  PyObject* dict = PyModule_GetDict(module);
  const Names& names = encoder.state().names;
  // Functions of it came first, when nothing told that a module has their namespace.
  if (encoder.has_plain_namespace(dict)) return describe_reduced(encoder, module, plan);
  encoder.out().node(wire::NodeTag::kModule, 2);
  encoder.write_namespace(dict, true);
  PyObject* const given[] = {
      names.name.get(), names.package.get(), names.path.get(),  names.builtins.get(),
      names.spec.get(), names.loader.get(),  names.cached.get()};
  Memo& written = encoder.written_globals(dict);
  std::vector<std::pair<Ref, Ref>> found;
  Py_ssize_t position = 0;
  PyObject *name, *value;
  while (PyDict_Next(dict, &position, &name, &value)) {
    const auto is_same = [name = name](PyObject* other) {
      return PyUnicode_Compare(name, other) == 0;
    };
    if (!PyUnicode_CheckExact(name)) continue;
    if (std::any_of(std::begin(given), std::end(given), is_same)) continue;
    const std::uintptr_t key = encoder.key_of_name(name);
    if (written.find(key) != nullptr) continue;
    written.insert(key, 0);
    found.emplace_back(Ref::share(name), Ref::share(value));
  }
  if (encoder.is_by_value(module)) {
    for (const auto& [key, held] : found) encoder.add_companion(held.get());
  }
  plan.raw().map(found.size());
  for (auto& [key, held] : found) {
    write_text(key.get(), plan.raw());
    plan.child(std::move(held), Label::of_attribute(key.get()));
  }
}

}  // namespace waybill::py
