// Modules whose functions and classes travel by value although they could be imported:
// those that the caller named, their submodules, and local modules that code of theirs
// uses. What import statements in their bodies name comes along as modules, after the
// object itself; waybill._modules serves them where the payload arrives.
// Tested by tests/python/test_by_value.py.

#include "python/attribute.h"
#include "python/compat.h"
#include "python/function_flow.h"
#include "python/graph_encoder.h"
#include "python/modules.h"
#include "python/plain_writer.h"

namespace waybill::py {

bool GraphEncoder::is_by_value(PyObject* module) {
  PyObject* modules = options_.hooks.by_value;
  PyObject* name = modules == nullptr ? nullptr : module_name(state_, module);
  return name != nullptr && has_name_or_parent(modules, name);
}

bool GraphEncoder::is_of_module_by_value(PyObject* globals) {
  if (options_.hooks.by_value == nullptr) return is_of_made_up_module(state_, globals);
  PyObject* module = module_of_dict(state_, globals);
  return module == nullptr || importable_name(state_, module) == nullptr
             ? is_of_made_up_module(state_, globals)
             : is_by_value(module);
}

void GraphEncoder::add_companion(PyObject* object) {
  Ref module;
  if (PyModule_Check(object)) {
    module = Ref::share(object);
  } else if (PyFunction_Check(object)) {
    module = Ref::share(module_of_dict(state_, PyFunction_GET_GLOBALS(object)));
  } else if (PyType_Check(object)) {
    const Ref name = attribute_or_null(object, state_.names.module);
    if (name && PyUnicode_Check(name.get())) {
      module = Ref::share(find_module(state_, name.get()));
    }
  }
  if (!module || is_by_value(module.get())) return;
  const Ref name = Ref::share(importable_name(state_, module.get()));
  if (!name) return;
  const Ref is_local =
      Ref::steal(PyObject_CallOneArg(state_.is_local.get(), module.get()));
  if (is_local.get() == Py_True) check(PySet_Add(options_.hooks.by_value, name.get()));
}

void GraphEncoder::ship(PyObject* name) {
  const Ref module = Ref::share(find_module(state_, name));
  if (!module) return;
  add_companion(module.get());
  if (!is_by_value(module.get())) return;
  const Ref own_name = Ref::share(module_name(state_, module.get()));
  // A package has to be there for what is in it to be found.
  if (const Ref package = parent_of(name)) ship(package.get());
  for (const auto& [known, known_name] : shipped_) {
    if (known.get() == module.get()) return;
  }
  shipped_.emplace_back(module, own_name);
}

void GraphEncoder::ship_imports(PyObject* function, const CodeInfo& info) {
  for (const BodyImport& statement : info.summary.imports) {
    const Ref name = absolute_name(state_, function, info, statement);
    if (!name) continue;
    ship(name.get());
    if (statement.from_names == kNoIndex) continue;
    PyObject* items = info.constant_at(statement.from_names);
    for (Py_ssize_t i = 0; PyTuple_Check(items) && i < PyTuple_GET_SIZE(items); ++i) {
      const Ref part = Ref::steal(
          PyUnicode_FromFormat("%U.%S", name.get(), PyTuple_GET_ITEM(items, i)));
      ship(part.get());
    }
  }
  for (const CodeInfo* nested : info.nested) ship_imports(function, *nested);
}

void GraphEncoder::bring_companions(PyObject* function, const CodeInfo& info) {
  if (options_.hooks.by_value == nullptr) return;
  PyObject* globals = PyFunction_GET_GLOBALS(function);
  PyObject* module = module_of_dict(state_, globals);
  if (module == nullptr || !is_by_value(module)) return;
  for (const GlobalUse& use : info.globals) {
    if (const Ref value = Ref::share(raw_get(globals, use.name))) {
      add_companion(value.get());
    }
  }
  ship_imports(function, info);
}

void GraphEncoder::encode_with_modules(PyObject* root) {
  const Ref receive = Ref::steal(PyUnicode_FromString("receive"));
  out_.node(wire::NodeTag::kObject, 5);
  global({state_.modules, receive});
  out_.array(2);
  value(root);
  run();
  // Each may bring further ones.
  for (std::size_t i = 0; i < shipped_.size(); ++i) {
    const auto [module, name] = shipped_[i];
    root_ = module.get();
    out_.array(3);
    write_text(name.get(), out_);
    value(module.get());
    run();
  }
  out_.array(0);
  out_.nil();
  out_.array(0);
  out_.map(0);
}

}  // namespace waybill::py
