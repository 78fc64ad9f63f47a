// Which globals of a function are written with it, and when: to build what comes late,
// a reader may have to run functions that read what comes early. Annotations that are
// text name globals as well, and what methods name may wait for their class. Tested by
// tests/python/functions/test_functions.py and
// tests/python/imports/test_order_of_need.py.

#include "python/encode/codecs/function_globals.h"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

#include "python/encode/codec.h"
#include "python/runtime/compat.h"
#include "python/runtime/leaves.h"
#include "python/runtime/modules.h"

namespace waybill::py {

namespace {

// Whether a class or function is one that the receiver imports.
bool is_found_by_name(GraphEncoder& encoder, PyObject* value) {
  GlobalName name;
  if (PyType_Check(value)) {
    name = find_type(encoder.state(), reinterpret_cast<PyTypeObject*>(value));
  } else if (PyFunction_Check(value)) {
    name = find_function(encoder.state(), value);
  }
  return name.module && !encoder.is_by_value(name.module.get());
}

// Whether a reader builds it without code of modules by value: names, and small tuples
// of these and of leaves, as for isinstance().
bool is_made_of_names(GraphEncoder& encoder, PyObject* value) {
  constexpr Py_ssize_t kFew = 100;
  if (!PyTuple_CheckExact(value)) return is_found_by_name(encoder, value);
  if (PyTuple_GET_SIZE(value) > kFew) return false;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(value); ++i) {
    PyObject* item = PyTuple_GET_ITEM(value, i);
    if (!is_simple(item) && !is_found_by_name(encoder, item)) return false;
  }
  return true;
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
int turn_of(GraphEncoder& encoder, PyObject* value) {
  if (PyModule_Check(value)) return encoder.is_by_value(value) ? 4 : 0;
  if (is_simple(value)) return 0;
  if (PyCFunction_Check(value) || Py_IS_TYPE(value, &PyWrapperDescr_Type) ||
      Py_IS_TYPE(value, &PyMethodDescr_Type)) {
    return 1;
  }
  if (encoder.hooks().by_value != nullptr && is_made_of_names(encoder, value)) return 0;
  if (PyFunction_Check(value)) return 2;
  if (PyType_Check(value)) return 3;
  return needs_no_instance(value) ? 2 : 4;
}

void in_turns(std::vector<Global>& globals) {
  if (std::ranges::is_sorted(globals, {}, &Global::turn)) return;
  std::ranges::stable_sort(globals, {}, &Global::turn);
}

// Those that no function before wrote, or began to write.
std::vector<Global> new_globals(GraphEncoder& encoder, PyFunctionObject* function,
                                const CodeInfo& info) {
  std::vector<Global> found;
  found.reserve(info.globals.size());
  const Names& names = encoder.state().names;
  WrittenNames& written = encoder.written_globals(function->func_globals);
  for (const GlobalUse& use : info.globals) {
    // These three belong to every namespace.
    if (use.name == names.name.get() || use.name == names.package.get() ||
        use.name == names.builtins.get()) {
      continue;
    }
    PyObject* value = raw_get(function->func_globals, use.name);
    if (value == nullptr || written.has(use.name)) continue;
    const int turn = turn_of(encoder, value);
    if (turn == 0) written.add(use.name);
    found.push_back({&use, Ref::share(value), turn});
  }
  in_turns(found);
  return found;
}

// The types of what is made of several classes: `list[int]`, `int | None`.
constexpr std::string_view kGenericTypes[] = {"types.GenericAlias", "types.UnionType",
                                              "typing.Union", "_GenericAlias",
                                              "_UnionGenericAlias"};

// Whether an annotation is a class, or made of classes alone: there is no text in it.
bool is_without_text(const State& state, PyObject* annotation) {
  if (PyType_Check(annotation) || annotation == Py_None) return true;
  const auto is_it = [&](std::string_view name) {
    return name == Py_TYPE(annotation)->tp_name;
  };
  if (!std::ranges::any_of(kGenericTypes, is_it)) return false;
  const Ref given = attribute_or_null(annotation, state.names.args);
  if (!given || !PyTuple_CheckExact(given.get())) return false;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(given.get()); ++i) {
    if (!PyType_Check(PyTuple_GET_ITEM(given.get(), i))) return false;
  }
  return true;
}

// What the code of an annotation names; null if it names nothing.
const CodeInfo* annotation_info(GraphEncoder& encoder, PyObject* annotation) {
  const State& state = encoder.state();
  Ref code;
  if (PyUnicode_CheckExact(annotation)) {
    code = Ref::share(raw_get(state.annotation_codes.get(), annotation));
  }
  if (!code) {
    code = Ref::steal(PyObject_CallOneArg(state.code_of_annotation.get(), annotation));
  }
  return code.get() == Py_None ? nullptr : &encoder.infos().get(code.get());
}

// Adds the globals that code of annotations names.
void add_globals(GraphEncoder& encoder, PyFunctionObject* function,
                 const CodeInfo& info, std::vector<Global>& globals) {
  auto* object = reinterpret_cast<PyObject*>(function);
  encoder.imports().annotation(object, info);
  encoder.add_local_modules(object, info);
  for (Global& global : new_globals(encoder, function, info)) {
    if (!encoder.is_known_to_receiver(function->func_globals, global.value.get())) {
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
void add_annotated_globals(GraphEncoder& encoder, PyFunctionObject* function,
                           const Annotations& annotations,
                           std::vector<Global>& globals) {
  PyObject* attributes = function->func_dict;
  if (attributes != nullptr &&
      raw_get(attributes, encoder.state().names.wrapped.get()) != nullptr) {
    return;
  }
  if (annotations.annotate != nullptr) {
    const Ref code = Ref::steal(PyObject_CallFunctionObjArgs(
        encoder.state().code_of_annotation.get(), annotations.annotate,
        reinterpret_cast<PyObject*>(function), nullptr));
    if (code.get() == Py_None) return;
    add_globals(encoder, function, encoder.infos().get(code.get()), globals);
    return in_turns(globals);
  }
  // Compiling may run code that changes the dict: filters of warnings.
  const Ref values = Ref::steal(PyDict_Values(annotations.evaluated.get()));
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(values.get()); ++i) {
    PyObject* annotation = PyList_GET_ITEM(values.get(), i);
    if (is_without_text(encoder.state(), annotation)) continue;
    const CodeInfo* info = annotation_info(encoder, annotation);
    if (info != nullptr) add_globals(encoder, function, *info, globals);
  }
  in_turns(globals);
}

// Puts aside what a method names, while its class has not all methods.
void defer(GraphEncoder::Deferred& deferred, NamedValues& named) {
  std::vector<Global> rest;
  for (Global& global : named.globals) {
    const auto is_it = [&](const Global& other) {
      return PyUnicode_Compare(other.use->name, global.use->name) == 0;
    };
    if (global.turn == 0) {
      rest.push_back(std::move(global));
    } else if (std::ranges::none_of(deferred.globals, is_it)) {
      deferred.globals.push_back(std::move(global));
    }
  }
  named.globals = std::move(rest);
  std::ranges::move(named.modules, std::back_inserter(deferred.modules));
  named.modules.clear();
}

// What a carrier brings of that which was put aside.
void take_deferred(GraphEncoder& encoder, PyFunctionObject* function,
                   GraphEncoder::Deferred& deferred, NamedValues& named) {
  WrittenNames& written = encoder.written_globals(function->func_globals);
  named.globals.clear();  // Those of the method whose code this is.
  for (Global& global : deferred.globals) {
    if (!written.has(global.use->name)) named.globals.push_back(std::move(global));
  }
  in_turns(named.globals);
  for (Ref& module : deferred.modules) {
    const auto is_it = [&](const Ref& other) { return other.get() == module.get(); };
    if (std::ranges::none_of(named.modules, is_it)) {
      named.modules.push_back(std::move(module));
    }
  }
  deferred.globals.clear();
  deferred.modules.clear();
}

}  // namespace

Annotations annotations_of(PyObject* function) {
  if (PyObject* annotate = deferred_annotate(function)) return {annotate, {}};
  Ref evaluated = evaluated_annotations(function);
  if (evaluated && PyDict_GET_SIZE(evaluated.get()) == 0) evaluated = Ref();
  return {nullptr, std::move(evaluated)};
}

NamedValues named_values(GraphEncoder& encoder, PyFunctionObject* function,
                         const CodeInfo& info, const Annotations& annotations) {
  NamedValues named;
  named.globals = new_globals(encoder, function, info);
  if (annotations.annotate != nullptr || annotations.evaluated) {
    add_annotated_globals(encoder, function, annotations, named.globals);
  }
  named.modules = encoder.modules_to_bring();
  auto* object = reinterpret_cast<PyObject*>(function);
  if (GraphEncoder::Deferred* brought = encoder.deferred_of(object)) {
    take_deferred(encoder, function, *brought, named);
  } else if (auto* deferred = encoder.deferred_for(function->func_globals)) {
    defer(*deferred, named);
  }
  return named;
}

}  // namespace waybill::py
