// Chooses the globals that are written with a function, and their order: to build later
// values, a reader may have to run functions that read earlier ones. Text in
// annotations refers to globals as well. The globals of methods may be deferred. Tested
// by tests/python/functions/test_functions.py and
// tests/python/imports/test_order_of_need.py.

#include <algorithm>
#include <string_view>
#include <utility>

#include "python/encode/codec.h"
#include "python/guards/object_form.h"
#include "python/runtime/attribute.h"
#include "python/runtime/compat.h"
#include "python/runtime/modules.h"
#include "python/runtime/objects.h"

namespace waybill::py {

namespace {

// Whether the receiver imports a class or function.
bool is_found_by_name(EncodeContext& context, PyObject* value) {
  GlobalName name;
  if (PyType_Check(value)) {
    name = find_type(context.state, as_type(value));
  } else if (PyFunction_Check(value)) {
    name = find_function(context.state, value);
  }
  return name.module && !context.by_value.has(name.module.get()) &&
         is_findable(context.state, name.module.get());
}

// Whether a reader builds a value without code of modules by value: an imported class
// or function, or a small tuple of these and of leaves, as for isinstance().
bool is_made_of_names(EncodeContext& context, PyObject* value) {
  constexpr Py_ssize_t kMaxItems = 100;
  if (!PyTuple_CheckExact(value)) return is_found_by_name(context, value);
  return PyTuple_GET_SIZE(value) <= kMaxItems &&
         std::ranges::all_of(items_of(value), [&](PyObject* item) {
           return is_simple(item) || is_found_by_name(context, item);
         });
}

// Whether a value is built without another instance: the result of
// functools.lru_cache(), or a thread-local, which starts empty.
bool needs_no_instance(PyObject* value) {
  PyTypeObject* type = Py_TYPE(value);
  if (std::string_view(type->tp_name) == "functools._lru_cache_wrapper") return true;
  while (type->tp_base != nullptr && type->tp_base != &PyBaseObject_Type) {
    type = type->tp_base;
  }
  return std::string_view(type->tp_name) == "_thread._local";
}

// The turn in which a global is written.
int turn_of(EncodeContext& context, PyObject* value) {
  if (PyModule_Check(value)) {
    return context.by_value.is_sent_in_parts(value) ? 4 : 0;
  }
  if (is_simple(value)) return 0;
  if (PyCFunction_Check(value) || Py_IS_TYPE(value, &PyWrapperDescr_Type) ||
      Py_IS_TYPE(value, &PyMethodDescr_Type)) {
    return 1;
  }
  if (context.by_value.any() && is_made_of_names(context, value)) return 0;
  if (PyFunction_Check(value)) return 2;
  if (PyType_Check(value)) return 3;
  return needs_no_instance(value) ? 2 : 4;
}

// The globals of a function that are neither written nor being written. Sets
// `has_script` if any global is the module of the script.
std::vector<Global> new_globals(EncodeContext& context, PyFunctionObject* function,
                                const CodeInfo& info, bool& has_script) {
  std::vector<Global> found;
  found.reserve(info.globals.size());
  const Names& names = context.state.names;
  WrittenNames& written = context.dicts.names_of(function->func_globals);
  for (const GlobalUse& use : info.globals) {
    if (is_in_every_namespace(names, use.name)) continue;
    Ref value = Ref::share(raw_get(function->func_globals, use.name));
    if (!value) continue;
    has_script = has_script || is_script(context.state, value.get());
    if (written.has(use.name)) continue;
    const int turn = turn_of(context, value.get());
    if (turn == 0) written.add(use.name);
    found.push_back({&use, std::move(value), turn});
  }
  return found;
}

// Whether a value is sent to which only annotations of a function with these globals
// refer. For modules by value, only values that the receiver has anyhow are sent:
// annotations may reach a whole package, and only readers of type hints need them.
bool is_sent_for_annotations(EncodeContext& context, PyObject* globals,
                             PyObject* value) {
  if (context.by_value.module_with_globals(globals) == nullptr) return true;
  if (is_simple(value) || context.objects.find(key_of(value)) != nullptr) return true;
  if (PyModule_Check(value)) return !context.by_value.has(value);
  if (PyType_Check(value) || PyFunction_Check(value)) {
    return is_found_by_name(context, value);
  }
  const State& state = context.state;
  PyObject* typing = find_module(state, state.names.typing.get());
  return typing != nullptr && name_in(PyModule_GetDict(typing), value) != nullptr;
}

// Adds the globals that code of annotations uses.
void add_globals(EncodeContext& context, PyFunctionObject* function,
                 const CodeInfo& info, std::vector<Global>& globals) {
  auto* object = as_object(function);
  context.imports().add_annotation(object, info);
  context.by_value.add_modules_of_code(object, info);
  bool has_script = false;  // Ignored: annotations need nothing of modules.
  for (Global& global : new_globals(context, function, info, has_script)) {
    if (!is_sent_for_annotations(context, function->func_globals, global.value.get())) {
      continue;
    }
    const auto is_same = [&](const Global& other) {
      return other.use->name == global.use->name;
    };
    if (std::ranges::none_of(globals, is_same)) globals.push_back(std::move(global));
  }
}

// Adds the globals to which text in annotations refers, for typing.get_type_hints(). If
// a function has __wrapped__, get_type_hints() uses the globals of the wrapped
// function.
void add_annotated_globals(EncodeContext& context, PyFunctionObject* function,
                           const Annotations& annotations,
                           std::vector<Global>& globals) {
  if (has_wrapped_function(context.state, function)) return;
  const auto add_of = [&](PyObject* annotation, PyObject* owner) {
    const Ref code = code_of_annotation(context.state, annotation, owner);
    if (code) add_globals(context, function, context.infos().get(code.get()), globals);
  };
  if (annotations.annotate != nullptr) {
    return add_of(annotations.annotate, as_object(function));
  }
  // A copy: compiling may run filters of warnings, which may change the dict.
  const Ref values = Ref::steal(PyDict_Values(annotations.evaluated.get()));
  for (PyObject* annotation : items_of(values.get())) {
    if (!has_no_text(annotation)) add_of(annotation, nullptr);
  }
}

}  // namespace

NamedValues named_values(EncodeContext& context, PyFunctionObject* function,
                         const CodeInfo& info, const Annotations& annotations) {
  NamedValues named;
  bool has_script = false;
  visit_own_values(function, [&](PyObject* value) {
    has_script = has_script || is_script(context.state, value);
  });
  named.globals = new_globals(context, function, info, has_script);
  if (has_script) context.imports().follow(as_object(function));
  if (annotations.annotate != nullptr || annotations.evaluated) {
    add_annotated_globals(context, function, annotations, named.globals);
  }
  named.sort_by_turn();
  named.modules = context.needs.modules_to_send(context.imports().take_needs(),
                                                context.imports().importing_packages());
  context.deferred.arrange(function, named,
                           context.dicts.names_of(function->func_globals));
  return named;
}

}  // namespace waybill::py
