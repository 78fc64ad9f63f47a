// Functions that are sent again and again.
//
// Nothing that a program can change is taken from the time before: globals, module
// dicts and sys.modules are looked into each time, and must show the same. Names are
// compared and not modules, so none is held, and none that took the place of another is
// mistaken.
//
// Tested by tests/python/test_sent_functions.py.

#include "python/sent_function.h"

#include "python/code_info.h"
#include "python/compat.h"
#include "python/import_collector.h"
#include "python/modules.h"

namespace waybill::py {

namespace {

constexpr std::size_t kMaxEnvelope = 16 << 10;

bool is_same_text(PyObject* a, PyObject* b) {
  if (a == b) return true;
  return a != nullptr && b != nullptr && PyUnicode_CheckExact(a) &&
         PyUnicode_CheckExact(b) && PyUnicode_Compare(a, b) == 0;
}

bool is_empty_dict(PyObject* dict) {
  return dict == nullptr || (PyDict_CheckExact(dict) && PyDict_GET_SIZE(dict) == 0);
}

// What a namespace says of itself: text, None, as a script's __package__, or nothing.
bool is_text_or_none(PyObject* object) {
  return object == nullptr || object == Py_None || PyUnicode_CheckExact(object);
}

// Whether the step shows what it showed. `found`: see SeenStep.
bool is_still(const State& state, const SeenStep& step, PyObject* loaded) {
  PyObject* module = module_in(loaded, step.package.get());
  if (module == nullptr) return false;
  PyObject* value = raw_get(PyModule_GetDict(module), step.name.get());
  PyObject* listed = module_in(loaded, step.whole.get());
  if (!step.found) {
    if (value == nullptr) return listed == nullptr && !kHasLazyImports;  // Pending?
    return !PyModule_Check(value) && !is_lazy_import(state, value) && value != loaded;
  }
  return listed != nullptr && (value == nullptr || value == listed) &&
         is_same_text(module_name(state, listed, loaded), step.found.get());
}

}  // namespace

bool SentFunction::is_bare(PyObject* function) {
  auto* f = reinterpret_cast<PyFunctionObject*>(function);
  auto* code = reinterpret_cast<PyCodeObject*>(f->func_code);
  PyObject* doc = f->func_doc != nullptr ? f->func_doc : Py_None;
  PyObject* default_ = default_doc(code);
  return f->func_closure == nullptr && f->func_defaults == nullptr &&
         f->func_kwdefaults == nullptr && is_empty_dict(f->func_dict) &&
         is_empty_dict(f->func_annotations) && deferred_annotate(function) == nullptr &&
         type_parameters(function) == nullptr &&
         is_same_text(f->func_name, code->co_name) &&
         is_same_text(f->func_qualname, code->co_qualname) &&
         (doc == default_ || is_same_text(doc, default_));
}

std::unique_ptr<SentFunction> SentFunction::look(const State& state, PyObject* function,
                                                 const CodeInfo& info) {
  PyObject* dict = PyFunction_GET_GLOBALS(function);
  PyObject* own_name = raw_get(dict, state.names.name.get());
  PyObject* package = raw_get(dict, state.names.package.get());
  if (!is_bare(function) || !is_text_or_none(own_name) || !is_text_or_none(package)) {
    return nullptr;
  }
  auto sent = std::make_unique<SentFunction>();
  sent->own_name_ = Ref::share(own_name);
  sent->package_ = Ref::share(package);
  sent->is_package_ = raw_get(dict, state.names.path.get()) != nullptr;
  sent->is_of_made_up_module_ = is_of_made_up_module(state, dict);
  for (const GlobalUse& use : info.globals) {
    PyObject* value = raw_get(dict, use.name);
    Global& global = sent->globals_.emplace_back();
    global.name = Ref::share(use.name);
    if (value == nullptr) continue;
    PyObject* name = PyModule_Check(value) ? importable_name(state, value) : nullptr;
    if (name == nullptr || !PyUnicode_CheckExact(name)) return nullptr;
    global.module = Ref::share(name);
  }
  return sent;
}

bool SentFunction::complete(const State& state, PyObject* function,
                            const ImportCollector& imports, BytesView envelope) {
  if (!imports.can_be_repeated() || envelope.size() > kMaxEnvelope) return false;
  steps_ = imports.steps();
  envelope_.assign(envelope.begin(), envelope.end());
  // Nor one that an import would find: that has become something else.
  return fits(state, function);
}

bool SentFunction::fits(const State& state, PyObject* function) const {
  if (!is_bare(function) || find_function(state, function).module) return false;
  auto* f = reinterpret_cast<PyFunctionObject*>(function);
  PyObject* dict = f->func_globals;
  const Names& names = state.names;
  PyObject* own_name = raw_get(dict, names.name.get());
  PyObject* module = f->func_module != nullptr ? f->func_module : Py_None;
  if (!is_same_text(own_name, own_name_.get()) ||
      !is_same_text(module, own_name != nullptr ? own_name : Py_None) ||
      !is_same_text(raw_get(dict, names.package.get()), package_.get()) ||
      (raw_get(dict, names.path.get()) != nullptr) != is_package_ ||
      is_of_made_up_module(state, dict) != is_of_made_up_module_) {
    return false;
  }
  const Ref loaded = Ref::share(sys_modules(state));
  for (const Global& global : globals_) {
    PyObject* value = raw_get(dict, global.name.get());
    if (value == nullptr && !global.module) continue;
    if (value == nullptr || !global.module || !PyModule_Check(value)) return false;
    if (!is_same_text(importable_name(state, value, loaded.get()), global.module.get()))
      return false;
  }
  for (const SeenStep& step : steps_) {
    if (!is_still(state, step, loaded.get())) return false;
  }
  return true;
}

}  // namespace waybill::py
