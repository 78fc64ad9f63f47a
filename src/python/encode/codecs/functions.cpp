// Functions by value. The head of a node (code, namespace, empty cells) is all that a
// reader needs to make the function. The objects to which the function refers follow,
// so they may refer back to the function. Tested by
// tests/python/functions/test_functions.py.

#include <algorithm>
#include <array>
#include <utility>

#include "python/encode/codec.h"
#include "python/encode/plain_writer.h"
#include "python/guards/reach.h"
#include "python/runtime/compat.h"
#include "python/runtime/modules.h"
#include "python/runtime/text.h"

namespace waybill::py {

namespace {

using wire::FunctionField;
using wire::NodeTag;
using wire::Writer;

// Writes the cells of the closure without content. Appends the indices of new cells to
// `new_cells`.
void write_cells(EncodeContext& context, PyObject* closure,
                 std::vector<Py_ssize_t>& new_cells) {
  const Py_ssize_t count = closure == nullptr ? 0 : PyTuple_GET_SIZE(closure);
  context.out.array(static_cast<std::size_t>(count));
  for (Py_ssize_t i = 0; i < count; ++i) {
    if (context.refer_or_add(key_of(PyTuple_GET_ITEM(closure, i)))) continue;
    context.out.node(NodeTag::kCell, 0);
    new_cells.push_back(i);
  }
}

// The class with a qualified name such as "Outer.Class" in the globals of the function;
// null if there is none.
Ref class_in_globals(PyFunctionObject* function, PyObject* path) {
  Ref dot = Ref::steal(PyUnicode_FromString("."));
  Ref parts = Ref::steal(PyUnicode_Split(path, dot.get(), -1));
  Ref dict = Ref::share(function->func_globals);
  Ref owner;
  for (PyObject* part : items_of(parts.get())) {
    owner = Ref::share(raw_get(dict.get(), part));
    if (!owner || !PyType_Check(owner.get())) return {};
    dict = type_dict(as_type(owner.get()));
  }
  return owner;
}

// The class whose own dict this is; null if it is unknown. Found among the classes of
// this payload, by the other cells of the function, by the descriptors in the dict, or
// by the qualified name of the function.
Ref class_of_dict(EncodeContext& context, PyFunctionObject* function, PyObject* dict) {
  if (PyObject* type = context.dicts.class_of(dict)) return Ref::share(type);
  for (PyObject* cell : items_of(function->func_closure)) {
    PyObject* content = PyCell_GET(cell);
    if (content != nullptr && is_dict_of(content, dict)) return Ref::share(content);
  }
  for (const auto& [key, value] : DictItems(dict)) {
    PyTypeObject* kind = Py_TYPE(value);
    if (kind != &PyGetSetDescr_Type && kind != &PyMemberDescr_Type) continue;
    PyObject* owner = as_object(PyDescr_TYPE(value));
    if (is_dict_of(owner, dict)) return Ref::share(owner);
  }
  // "Outer.Class.method": the prefixes of the qualified name are classes.
  Ref path = parent_of(function->func_qualname);
  for (; path; path = parent_of(path.get())) {
    Ref owner = class_in_globals(function, path.get());
    if (owner && is_dict_of(owner.get(), dict)) return owner;
  }
  // The class may have been replaced, as by dataclass(slots=True).
  return Ref::share(context.stack.innermost_class());
}

// Plans the value that a function has under a name: a global, a default or a cell. A
// module gets an import record for that name, so only what the code does with the name
// counts.
void plan_named(EncodeContext& context, PyObject* value, PyObject* name,
                CodePosition position, Label label, Plan& plan) {
  PyObject* module =
      PyModule_Check(value) ? importable_name(context.state, value) : nullptr;
  if (module != nullptr && !context.by_value.has(value)) {
    Ref storage;
    const std::uint32_t index = context.imports().add(module, ImportTime::kLoad,
                                                      utf8_of(name, storage), position);
    write_module_index(context, index, plan.raw());
  } else {
    plan.add_child(Ref::share(value), std::move(label));
    if (PyModule_Check(value) && context.by_value.is_sent_in_parts(value)) {
      plan.mark_last_part();
    }
  }
}

bool holds_module(PyObject* tuple) {
  return std::ranges::any_of(items_of(tuple),
                             [](PyObject* item) { return PyModule_Check(item); });
}

// Plans __defaults__, each item under its parameter's name.
void plan_defaults(EncodeContext& context, PyObject* defaults, const CodeInfo& info,
                   Plan& plan) {
  if (!holds_module(defaults)) {
    plan.add_child(Ref::share(defaults), Label::of_text(".__defaults__"));
    return;
  }
  const Py_ssize_t count = PyTuple_GET_SIZE(defaults);
  const Py_ssize_t first = info.code->co_argcount - count;
  plan.raw().node(NodeTag::kTuple, checked_count(count));
  for (Py_ssize_t i = 0; i < count; ++i) {
    PyObject* name = first + i >= 0
                         ? PyTuple_GET_ITEM(info.code->co_localsplusnames, first + i)
                         : info.code->co_name;
    plan_named(context, PyTuple_GET_ITEM(defaults, i), name, {&info, kNoIndex},
               Label::of_index(".__defaults__", i), plan);
  }
}

void plan_keyword_defaults(EncodeContext& context, PyObject* defaults,
                           const CodeInfo& info, Plan& plan) {
  // Writing names with lone surrogates makes exceptions, which may start the garbage
  // collector.
  const CollectorPause pause;
  plan.raw().map(checked_count(PyDict_GET_SIZE(defaults)));
  for (const auto& [name, value] : DictItems(defaults)) {
    if (!PyUnicode_Check(name)) context.fail("has a keyword default without a name");
    write_text(name, plan.raw());
    plan_named(context, value, name, {&info, kNoIndex},
               Label::of_key(".__kwdefaults__", name), plan);
  }
}

void plan_cells(EncodeContext& context, PyFunctionObject* function,
                const CodeInfo& info, const std::vector<Py_ssize_t>& new_cells,
                Plan& plan) {
  plan.raw().array(new_cells.size());
  Ref names = Ref::steal(PyCode_GetFreevars(info.code));
  for (Py_ssize_t i : new_cells) {
    const Ref held =
        Ref::share(PyCell_GET(PyTuple_GET_ITEM(function->func_closure, i)));
    PyObject* content = held.get();
    if (content == nullptr) {
      plan.raw().singleton(wire::Singleton::kEmpty);
      continue;
    }
    const bool is_class_dict = PyDict_CheckExact(content) &&
                               i < PyTuple_GET_SIZE(names.get()) &&
                               is_same_text(PyTuple_GET_ITEM(names.get(), i),
                                            context.state.names.classdict.get());
    Ref owner = is_class_dict ? class_of_dict(context, function, content) : Ref();
    if (owner) {
      plan.raw().node(NodeTag::kClassDict, 1);
      plan.add_child(owner, Label::of_cell(PyTuple_GET_ITEM(names.get(), i), i));
    } else if (i < PyTuple_GET_SIZE(names.get())) {
      plan_named(context, content, PyTuple_GET_ITEM(names.get(), i), {&info, kNoIndex},
                 Label::of_cell(PyTuple_GET_ITEM(names.get(), i), i), plan);
    }
  }
}

void plan_globals(EncodeContext& context, const std::vector<Global>& globals,
                  Plan& plan) {
  plan.raw().map(globals.size());
  for (const auto& [use, value, turn] : globals) {
    write_text(use->name, plan.raw());
    plan_named(context, value.get(), use->name, {use->info, use->offset},
               Label::of_global(use->name), plan);
    if (turn != 0) plan.mark_last_global();
  }
}

void plan_imports(EncodeContext& context, const std::vector<Ref>& modules, Plan& plan) {
  plan.raw().map(modules.size());
  for (const Ref& module : modules) {
    PyObject* name = module_name(context.state, module.get());
    write_text(name, plan.raw());
    plan.add_child(module, Label::of_named("import", name));
    plan.mark_last_part();
  }
}

// A field whose value does not follow from the code. Fields are counted before any is
// planned.
struct Field {
  FunctionField field;
  Ref value;
  const char* label;
};
using Fields = std::vector<Field>;
constexpr std::size_t kUsualFields = 4;  // Reserved from the start.

void add(Fields& fields, FunctionField field, PyObject* value, const char* label) {
  fields.push_back({field, Ref::share(value), label});
}

void add_names(const State& state, PyFunctionObject* function, PyCodeObject* code,
               Fields& fields) {
  using enum FunctionField;
  constexpr std::pair<FunctionField, const char*> kNameFields[] = {
      {kName, ".__name__"},
      {kQualifiedName, ".__qualname__"},
      {kModule, ".__module__"},
      {kDoc, ".__doc__"}};
  const std::array<Ref, 4> names = own_names(state, function, code);
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto& [field, label] = kNameFields[i];
    if (names[i]) add(fields, field, names[i].get(), label);
  }
}

// Whether a library generated the code. The rest of such a function may differ between
// processes.
bool is_generated(const CodeInfo& info) {
  constexpr auto kGenerated = static_cast<std::uint8_t>(wire::UnitKind::kGenerated);
  return info.source && info.source->encoded_fields.front() == kGenerated;
}

// Docstrings are part of the source, and compilers from 3.13 on indent them
// differently.
void drop_docs(Fields& fields) {
  std::erase_if(fields,
                [](const Field& field) { return field.field == FunctionField::kDoc; });
}

// Adds the fields that calls of the function need. Globals come last, because building
// them may call the function.
void add_call_fields(PyFunctionObject* function, bool has_cells,
                     const NamedValues& named, Fields& fields) {
  if (function->func_defaults != nullptr) {
    add(fields, FunctionField::kDefaults, function->func_defaults, ".__defaults__");
  }
  if (function->func_kwdefaults != nullptr) {
    add(fields, FunctionField::kKeywordDefaults, function->func_kwdefaults,
        ".__kwdefaults__");
  }
  if (has_cells) add(fields, FunctionField::kCells, nullptr, "");
  if (!named.globals.empty()) add(fields, FunctionField::kGlobals, nullptr, "");
  if (!named.modules.empty()) add(fields, FunctionField::kImports, nullptr, "");
}

// Adds the fields that calls of the function do not need.
void add_other_fields(PyFunctionObject* function, const Annotations& annotations,
                      Fields& fields) {
  if (annotations.annotate != nullptr) {
    add(fields, FunctionField::kAnnotate, annotations.annotate, ".__annotate__");
  } else if (annotations.evaluated) {
    add(fields, FunctionField::kAnnotations, annotations.evaluated.get(),
        ".__annotations__");
  }
  if (PyObject* parameters = type_parameters(as_object(function))) {
    add(fields, FunctionField::kTypeParameters, parameters, ".__type_params__");
  }
  PyObject* attributes = function->func_dict;
  if (attributes != nullptr && PyDict_GET_SIZE(attributes) > 0) {
    add(fields, FunctionField::kAttributes, attributes, nullptr);
  }
}

// Asks finders about the modules in globals, defaults and cells, before the code is
// followed.
void find_modules(EncodeContext& context, PyFunctionObject* function,
                  const CodeInfo& info) {
  std::vector<Ref> modules;
  const auto add_module = [&](PyObject* value) {
    if (value != nullptr && PyModule_Check(value)) modules.push_back(Ref::share(value));
  };
  for (const GlobalUse& use : info.globals) {
    add_module(raw_get(function->func_globals, use.name));
  }
  visit_own_values(function, add_module);
  for (const Ref& module : modules) is_findable(context.state, module.get());
}

}  // namespace

void describe_function(EncodeContext& context, PyObject* object, Plan& plan) {
  auto* function = as_function(object);
  // The info holds the code even if the function gets other code meanwhile.
  CodeInfo& info = context.infos().get(function->func_code);
  find_modules(context, function, info);
  context.by_value.add_modules_of_code(object, info);
  context.imports().add_function(object, info);
  const std::uint32_t body = context.use_code(as_object(info.code));
  if (context.options.by_source && is_generated(info)) {
    context.out.unsigned_integer(body);
    return;
  }
  context.out.node(NodeTag::kFunction, 4);
  context.out.unsigned_integer(body);
  write_namespace(context, function->func_globals);
  std::vector<Py_ssize_t> cells;
  write_cells(context, function->func_closure, cells);

  Fields fields;
  fields.reserve(kUsualFields);
  add_names(context.state, function, info.code, fields);
  if (context.options.by_source) drop_docs(fields);
  const bool by_source = context.options.by_source;
  const Annotations annotations = by_source ? Annotations{} : annotations_of(object);
  const NamedValues named = named_values(context, function, info, annotations);
  add_call_fields(function, !cells.empty(), named, fields);
  add_other_fields(function, annotations, fields);

  plan.raw().map(fields.size());
  for (const auto& [field, value, label] : fields) {
    plan.raw().unsigned_integer(static_cast<std::uint64_t>(field));
    switch (field) {
      case FunctionField::kGlobals:
        plan_globals(context, named.globals, plan);
        break;
      case FunctionField::kImports:
        plan_imports(context, named.modules, plan);
        break;
      case FunctionField::kCells:
        plan_cells(context, function, info, cells, plan);
        break;
      case FunctionField::kDefaults:
        plan_defaults(context, value.get(), info, plan);
        break;
      case FunctionField::kKeywordDefaults:
        plan_keyword_defaults(context, value.get(), info, plan);
        break;
      default:
        plan.add_child(value, label != nullptr ? Label::of_text(label) : Label{});
    }
  }
}

}  // namespace waybill::py
