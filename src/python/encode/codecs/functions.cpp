// Functions by value. The head of a node (code, namespace, empty cells) is all that a
// reader needs to make the function; what the function refers to comes after it, so
// that everything there may refer back to the function.
// Tested by tests/python/functions/test_functions.py.

#include <algorithm>
#include <iterator>
#include <string_view>

#include "python/discovery/code_view.h"
#include "python/encode/codec.h"
#include "python/encode/plain_writer.h"
#include "python/runtime/compat.h"
#include "python/runtime/leaves.h"
#include "python/runtime/modules.h"

namespace waybill::py {

namespace {

using wire::FunctionField;
using wire::NodeTag;
using wire::Writer;

bool equal_text(PyObject* a, PyObject* b) {
  return a == b ||
         (PyUnicode_Check(a) && PyUnicode_Check(b) && PyUnicode_Compare(a, b) == 0);
}

// The cells of the closure, without content; those that no function before had are
// appended to `added`.
void write_cells(GraphEncoder& encoder, PyObject* closure,
                 std::vector<Py_ssize_t>& added) {
  const Py_ssize_t count = closure == nullptr ? 0 : PyTuple_GET_SIZE(closure);
  encoder.out().array(static_cast<std::size_t>(count));
  for (Py_ssize_t i = 0; i < count; ++i) {
    if (encoder.known(key_of(PyTuple_GET_ITEM(closure, i)))) continue;
    encoder.out().node(NodeTag::kCell, 0);
    added.push_back(i);
  }
}

// The class that a qualified name like "Outer.Class.method" leads to, from the globals
// of the function; null if it leads to none.
Ref class_in_globals(PyFunctionObject* function, PyObject* path) {
  Ref dot = Ref::steal(PyUnicode_FromString("."));
  Ref parts = Ref::steal(PyUnicode_Split(path, dot.get(), -1));
  Ref dict = Ref::share(function->func_globals);
  Ref owner;
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(parts.get()); ++i) {
    owner = Ref::share(raw_get(dict.get(), PyList_GET_ITEM(parts.get(), i)));
    if (!owner || !PyType_Check(owner.get())) return {};
    dict = type_dict(reinterpret_cast<PyTypeObject*>(owner.get()));
  }
  return owner;
}

// The class whose own dict this is: one of this payload, or as the descriptors in the
// dict, the other cells of a method, or its qualified name tell; null if they do not.
Ref class_of_dict(GraphEncoder& encoder, PyFunctionObject* function, PyObject* dict) {
  if (PyObject* type = encoder.class_of(dict)) return Ref::share(type);
  auto has_dict = [&](PyObject* type) {
    return PyType_Check(type) &&
           type_dict(reinterpret_cast<PyTypeObject*>(type)).get() == dict;
  };
  const Py_ssize_t cell_count = PyTuple_GET_SIZE(function->func_closure);
  for (Py_ssize_t i = 0; i < cell_count; ++i) {
    PyObject* content = PyCell_GET(PyTuple_GET_ITEM(function->func_closure, i));
    if (content != nullptr && has_dict(content)) return Ref::share(content);
  }
  Py_ssize_t position = 0;
  PyObject *key, *value;
  while (PyDict_Next(dict, &position, &key, &value)) {
    PyTypeObject* kind = Py_TYPE(value);
    if (kind != &PyGetSetDescr_Type && kind != &PyMemberDescr_Type) continue;
    PyObject* owner = reinterpret_cast<PyObject*>(PyDescr_TYPE(value));
    if (has_dict(owner)) return Ref::share(owner);
  }
  // "Outer.Class.method": the class stands before the function's own name.
  Ref path = Ref::share(function->func_qualname);
  for (;;) {
    const Py_ssize_t length = PyUnicode_GET_LENGTH(path.get());
    const Py_ssize_t dot = PyUnicode_FindChar(path.get(), '.', 0, length, -1);
    // A class that was made again, as by dataclass(slots=True), is what is left.
    if (dot <= 0) return Ref::share(encoder.stack().class_around());
    path = Ref::steal(PyUnicode_Substring(path.get(), 0, dot));
    Ref owner = class_in_globals(function, path.get());
    if (owner && has_dict(owner.get())) return owner;
  }
}

// A value that one name of the function means. A module among such is known to belong
// to that name, so only what the code does with the name counts.
void plan_named(GraphEncoder& encoder, PyObject* value, PyObject* name, CodeSpot spot,
                Label label, Plan& plan) {
  PyObject* module =
      PyModule_Check(value) ? importable_name(encoder.state(), value) : nullptr;
  if (module != nullptr && !encoder.is_by_value(value)) {
    Ref storage;
    const std::uint32_t index =
        encoder.imports().global_module(module, utf8_of(name, storage), spot);
    encoder.module_index(index, plan.raw());
  } else {
    plan.child(Ref::share(value), std::move(label));
    if (PyModule_Check(value) && encoder.is_by_value(value)) plan.last_is_part();
  }
}

bool holds_module(PyObject* tuple) {
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(tuple); ++i) {
    if (PyModule_Check(PyTuple_GET_ITEM(tuple, i))) return true;
  }
  return false;
}

// __defaults__, each under its parameter's name.
void plan_defaults(GraphEncoder& encoder, PyObject* defaults, const CodeInfo& info,
                   Plan& plan) {
  if (!holds_module(defaults)) {
    plan.child(Ref::share(defaults), Label::of_text(".__defaults__"));
    return;
  }
  const Py_ssize_t count = PyTuple_GET_SIZE(defaults);
  const Py_ssize_t first = info.code->co_argcount - count;
  plan.raw().node(NodeTag::kTuple, countable(count));
  for (Py_ssize_t i = 0; i < count; ++i) {
    PyObject* name = first + i >= 0
                         ? PyTuple_GET_ITEM(info.code->co_localsplusnames, first + i)
                         : info.code->co_name;
    plan_named(encoder, PyTuple_GET_ITEM(defaults, i), name, {&info, kNoIndex},
               Label::of_index(".__defaults__", i), plan);
  }
}

void plan_keyword_defaults(GraphEncoder& encoder, PyObject* defaults,
                           const CodeInfo& info, Plan& plan) {
  const CollectorPause pause;  // Names with lone surrogates make exceptions.
  plan.raw().map(countable(PyDict_GET_SIZE(defaults)));
  Py_ssize_t position = 0;
  PyObject *name, *value;
  while (PyDict_Next(defaults, &position, &name, &value)) {
    if (!PyUnicode_Check(name)) encoder.fail("has a keyword default without a name");
    write_text(name, plan.raw());
    plan_named(encoder, value, name, {&info, kNoIndex},
               Label::of_key(".__kwdefaults__", name), plan);
  }
}

void plan_cells(GraphEncoder& encoder, PyFunctionObject* function, const CodeInfo& info,
                const std::vector<Py_ssize_t>& added, Plan& plan) {
  plan.raw().array(added.size());
  Ref names = Ref::steal(PyCode_GetFreevars(info.code));
  for (Py_ssize_t i : added) {
    const Ref held =
        Ref::share(PyCell_GET(PyTuple_GET_ITEM(function->func_closure, i)));
    PyObject* content = held.get();
    if (content == nullptr) {
      plan.raw().singleton(wire::Singleton::kEmpty);
      continue;
    }
    const bool is_class_dict = PyDict_CheckExact(content) &&
                               i < PyTuple_GET_SIZE(names.get()) &&
                               equal_text(PyTuple_GET_ITEM(names.get(), i),
                                          encoder.state().names.classdict.get());
    Ref owner = is_class_dict ? class_of_dict(encoder, function, content) : Ref();
    if (owner) {
      plan.raw().node(NodeTag::kClassDict, 1);
      plan.child(owner, Label::of_index(".__closure__", i));
    } else if (i < PyTuple_GET_SIZE(names.get())) {
      plan_named(encoder, content, PyTuple_GET_ITEM(names.get(), i), {&info, kNoIndex},
                 Label::of_index(".__closure__", i), plan);
    }
  }
}

// Room for so many fields is there from the start.
constexpr std::size_t kUsualFields = 4;

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

// When a global is written. To build what comes late, a reader may have to run
// functions that read what comes early.
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
// `annotate`: the function that gives them when they are asked for (3.14), or null.
void add_annotated_globals(GraphEncoder& encoder, PyFunctionObject* function,
                           PyObject* annotate, PyObject* annotations,
                           std::vector<Global>& globals) {
  PyObject* attributes = function->func_dict;
  if (attributes != nullptr &&
      raw_get(attributes, encoder.state().names.wrapped.get()) != nullptr) {
    return;
  }
  if (annotate != nullptr) {
    const Ref code = Ref::steal(
        PyObject_CallFunctionObjArgs(encoder.state().code_of_annotation.get(), annotate,
                                     reinterpret_cast<PyObject*>(function), nullptr));
    if (code.get() == Py_None) return;
    add_globals(encoder, function, encoder.infos().get(code.get()), globals);
    return in_turns(globals);
  }
  // Compiling may run code that changes the dict: filters of warnings.
  const Ref values = Ref::steal(PyDict_Values(annotations));
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(values.get()); ++i) {
    PyObject* annotation = PyList_GET_ITEM(values.get(), i);
    if (is_without_text(encoder.state(), annotation)) continue;
    const CodeInfo* info = annotation_info(encoder, annotation);
    if (info != nullptr) add_globals(encoder, function, *info, globals);
  }
  in_turns(globals);
}

void plan_globals(GraphEncoder& encoder, const std::vector<Global>& globals,
                  Plan& plan) {
  plan.raw().map(globals.size());
  for (const auto& [use, value, turn] : globals) {
    write_text(use->name, plan.raw());
    plan_named(encoder, value.get(), use->name, {use->info, use->offset},
               Label::of_key(".__globals__", use->name), plan);
    if (turn != 0) plan.last_is_global();
  }
}

// Modules by value that the function's code needs more of than a reader has.
void plan_imports(GraphEncoder& encoder, const std::vector<Ref>& modules, Plan& plan) {
  plan.raw().map(modules.size());
  for (const Ref& module : modules) {
    PyObject* name = module_name(encoder.state(), module.get());
    write_text(name, plan.raw());
    plan.child(module, Label::of_key(".__import__", name));
    plan.last_is_part();
  }
}

// Puts aside what a method names, while its class has not all methods.
void defer(GraphEncoder::Deferred& deferred, std::vector<Global>& globals,
           std::vector<Ref>& modules) {
  std::vector<Global> rest;
  for (Global& global : globals) {
    const auto is_it = [&](const Global& other) {
      return PyUnicode_Compare(other.use->name, global.use->name) == 0;
    };
    if (global.turn == 0) {
      rest.push_back(std::move(global));
    } else if (std::ranges::none_of(deferred.globals, is_it)) {
      deferred.globals.push_back(std::move(global));
    }
  }
  globals = std::move(rest);
  std::ranges::move(modules, std::back_inserter(deferred.modules));
  modules.clear();
}

// What a carrier brings of that which was put aside.
void take_deferred(GraphEncoder& encoder, PyFunctionObject* function,
                   GraphEncoder::Deferred& deferred, std::vector<Global>& globals,
                   std::vector<Ref>& modules) {
  WrittenNames& written = encoder.written_globals(function->func_globals);
  globals.clear();  // Those of the method whose code this is.
  for (Global& global : deferred.globals) {
    if (!written.has(global.use->name)) globals.push_back(std::move(global));
  }
  in_turns(globals);
  for (Ref& module : deferred.modules) {
    const auto is_it = [&](const Ref& other) { return other.get() == module.get(); };
    if (std::ranges::none_of(modules, is_it)) modules.push_back(std::move(module));
  }
  deferred.globals.clear();
  deferred.modules.clear();
}

}  // namespace

void describe_function(GraphEncoder& encoder, PyObject* object, Plan& plan) {
  auto* function = reinterpret_cast<PyFunctionObject*>(object);
  // The info holds the code, whatever becomes of the function's.
  CodeInfo& info = encoder.infos().get(function->func_code);
  PyCodeObject* code = info.code;
  encoder.add_local_modules(object, info);
  encoder.imports().function(object, info);
  const std::uint32_t body = encoder.code().use(reinterpret_cast<PyObject*>(code));
  encoder.out().node(NodeTag::kFunction, 4);
  encoder.out().unsigned_integer(body);
  encoder.write_namespace(function->func_globals,
                          encoder.is_of_module_by_value(function->func_globals));
  std::vector<Py_ssize_t> cells;
  write_cells(encoder, function->func_closure, cells);

  // The fields that differ from what the code gives, counted before they are planned.
  struct Field {
    FunctionField field;
    Ref value;
    const char* label;
  };
  std::vector<Field> fields;
  fields.reserve(kUsualFields);
  auto add = [&](FunctionField field, PyObject* value, const char* label) {
    fields.push_back({field, Ref::share(value), label});
  };
  if (!equal_text(function->func_name, code->co_name)) {
    add(FunctionField::kName, function->func_name, ".__name__");
  }
  if (!equal_text(function->func_qualname, code->co_qualname)) {
    add(FunctionField::kQualifiedName, function->func_qualname, ".__qualname__");
  }
  PyObject* module_default =
      raw_get(function->func_globals, encoder.state().names.name.get());
  PyObject* module = function->func_module != nullptr ? function->func_module : Py_None;
  if (!equal_text(module, module_default != nullptr ? module_default : Py_None)) {
    add(FunctionField::kModule, module, ".__module__");
  }
  PyObject* doc = function->func_doc != nullptr ? function->func_doc : Py_None;
  if (!equal_text(doc, default_doc(code))) add(FunctionField::kDoc, doc, ".__doc__");

  PyObject* const annotate = deferred_annotate(object);
  Ref annotations = annotate == nullptr ? evaluated_annotations(object) : Ref();
  if (annotations && PyDict_GET_SIZE(annotations.get()) == 0) annotations = Ref();
  std::vector<Global> globals = new_globals(encoder, function, info);
  if (annotate != nullptr || annotations) {
    add_annotated_globals(encoder, function, annotate, annotations.get(), globals);
  }
  std::vector<Ref> modules = encoder.modules_to_bring();
  if (GraphEncoder::Deferred* brought = encoder.deferred_of(object)) {
    take_deferred(encoder, function, *brought, globals, modules);
  } else if (auto* deferred = encoder.deferred_for(function->func_globals)) {
    defer(*deferred, globals, modules);
  }
  if (!globals.empty()) add(FunctionField::kGlobals, nullptr, "");
  if (!modules.empty()) add(FunctionField::kImports, nullptr, "");
  if (!cells.empty()) add(FunctionField::kCells, nullptr, "");
  if (function->func_defaults != nullptr) {
    add(FunctionField::kDefaults, function->func_defaults, ".__defaults__");
  }
  if (function->func_kwdefaults != nullptr) {
    add(FunctionField::kKeywordDefaults, function->func_kwdefaults, ".__kwdefaults__");
  }
  if (annotate != nullptr) {
    add(FunctionField::kAnnotate, annotate, ".__annotate__");
  } else if (annotations) {
    add(FunctionField::kAnnotations, annotations.get(), ".__annotations__");
  }
  if (PyObject* parameters = type_parameters(object)) {
    add(FunctionField::kTypeParameters, parameters, ".__type_params__");
  }
  PyObject* attributes = function->func_dict;
  if (attributes != nullptr && PyDict_GET_SIZE(attributes) > 0) {
    add(FunctionField::kAttributes, attributes, nullptr);
  }

  plan.raw().map(fields.size());
  for (const Field& field : fields) {
    plan.raw().unsigned_integer(static_cast<std::uint64_t>(field.field));
    if (field.field == FunctionField::kGlobals) {
      plan_globals(encoder, globals, plan);
    } else if (field.field == FunctionField::kImports) {
      plan_imports(encoder, modules, plan);
    } else if (field.field == FunctionField::kCells) {
      plan_cells(encoder, function, info, cells, plan);
    } else if (field.field == FunctionField::kDefaults) {
      plan_defaults(encoder, field.value.get(), info, plan);
    } else if (field.field == FunctionField::kKeywordDefaults) {
      plan_keyword_defaults(encoder, field.value.get(), info, plan);
    } else {
      plan.child(field.value,
                 field.label != nullptr ? Label::of_text(field.label) : Label{});
    }
  }
}

}  // namespace waybill::py
