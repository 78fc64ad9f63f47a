// Which globals of a function are written with it, and when: to build what comes late,
// a reader may have to run functions that read what comes early. Annotations that are
// text name globals as well, and what methods name may wait for their class. Tested by
// tests/python/functions/test_functions.py and
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

// Whether a class or function is one that the receiver imports.
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

// Whether a reader builds it without code of modules by value: names, and small tuples
// of these and of leaves, as for isinstance().
bool is_made_of_names(EncodeContext& context, PyObject* value) {
  constexpr Py_ssize_t kFew = 100;
  if (!PyTuple_CheckExact(value)) return is_found_by_name(context, value);
  return PyTuple_GET_SIZE(value) <= kFew &&
         std::ranges::all_of(items_of(value), [&](PyObject* item) {
           return is_simple(item) || is_found_by_name(context, item);
         });
}

// Whether it is what functools.lru_cache() made of a function, or a thread-local, which
// begins anew: to build it takes no other instance.
bool needs_no_instance(PyObject* value) {
  PyTypeObject* type = Py_TYPE(value);
  if (std::string_view(type->tp_name) == "functools._lru_cache_wrapper") return true;
  while (type->tp_base != nullptr && type->tp_base != &PyBaseObject_Type) {
    type = type->tp_base;
  }
  return std::string_view(type->tp_name) == "_thread._local";
}

// When a global is written.
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

// Those that no function before wrote, or began to write. `has_script`: set if one of
// all is the module of the script.
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

// Whether a value that only annotations of a function with these globals name is sent
// for them. Of a module by value is sent what a receiver has anyhow: what annotations
// name may reach a whole package, and matters to nobody but who asks for type hints.
bool is_sent_for_annotations(EncodeContext& context, PyObject* globals,
                             PyObject* value) {
  if (context.by_value.with_globals(globals) == nullptr) return true;
  if (is_simple(value) || context.objects.find(key_of(value)) != nullptr) return true;
  if (PyModule_Check(value)) return !context.by_value.has(value);
  if (PyType_Check(value) || PyFunction_Check(value)) {
    return is_found_by_name(context, value);
  }
  const State& state = context.state;
  PyObject* typing = find_module(state, state.names.typing.get());
  return typing != nullptr && name_in(PyModule_GetDict(typing), value) != nullptr;
}

// Adds the globals that code of annotations names.
void add_globals(EncodeContext& context, PyFunctionObject* function,
                 const CodeInfo& info, std::vector<Global>& globals) {
  auto* object = as_object(function);
  context.imports().add_annotation(object, info);
  context.by_value.add_modules_of_code(object, info);
  bool has_script = false;  // Annotations bring nothing of modules.
  for (Global& global : new_globals(context, function, info, has_script)) {
    if (!is_sent_for_annotations(context, function->func_globals, global.value.get())) {
      continue;
    }
    const auto is_it = [&](const Global& other) {
      return other.use->name == global.use->name;
    };
    if (std::ranges::none_of(globals, is_it)) globals.push_back(std::move(global));
  }
}

// Adds what annotations name by text, for typing.get_type_hints(). It looks into the
// globals of the function that another one wraps, and so not into those of the latter.
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
  // Compiling may run code that changes the dict: filters of warnings.
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
                                                context.imports().importing());
  context.deferred.arrange(function, named,
                           context.dicts.names_of(function->func_globals));
  return named;
}

}  // namespace waybill::py
