// Modules by value, and the namespaces of functions.
// Tested by tests/python/modules/test_modules_by_value.py.

#include "python/runtime/modules.h"
#include "python/encode/codec.h"
#include "python/encode/plain_writer.h"
#include "python/runtime/compat.h"

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

void write_namespace(EncodeContext& context, PyObject* globals) {
  if (context.known(key_of_namespace(globals))) return;
  const Names& names = context.state.names;
  wire::Writer& out = context.out;
  const std::uint64_t number = context.namespaces.number_of(context.state, globals);
  out.node(wire::NodeTag::kNamespace, number == 0 ? 3 : 4);
  write_text_or_nil(raw_get(globals, names.name.get()), out);
  write_text_or_nil(raw_get(globals, names.package.get()), out);
  out.boolean(raw_get(globals, names.path.get()) != nullptr);
  if (number != 0) out.unsigned_integer(number);
}

void describe_module(EncodeContext& context, PyObject* module, Plan& plan) {
  if (!context.needs.begin(module)) {
    context.fail("gets new names without end while it is sent: by reducers, or others");
  }
  context.out.node(wire::NodeTag::kModule, 3);
  write_namespace(context, PyModule_GetDict(module));
  const bool is_by_value = context.by_value.has(module);
  const bool is_part = !context.needs.is_needed_whole(module);
  std::vector<std::pair<Ref, Ref>> found = context.needs.unwritten(module);
  if (is_by_value) {
    for (const auto& [key, held] : found) context.by_value.add_module_of(held.get());
  }
  plan.raw().map(found.size());
  for (auto& [key, held] : found) {
    write_text(key.get(), plan.raw());
    const bool is_module =
        PyModule_Check(held.get()) && context.by_value.is_sent_in_parts(held.get()) &&
        (is_part || !is_submodule(context.state, module, held.get()));
    plan.child(std::move(held), Label::of_attribute(key.get()));
    plan.last_is_global();
    if (is_module) plan.last_is_part();
  }
  plan.raw().boolean(is_part);
}

}  // namespace waybill::py
