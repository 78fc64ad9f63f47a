// Tested by tests/python/modules/test_module_globals.py.

#include <algorithm>

#include "python/encode/codec.h"
#include "python/encode/plain_writer.h"
#include "python/runtime/attribute.h"
#include "python/runtime/compat.h"

namespace waybill::py {

namespace {

// The module that defines the object's type. Instances are often globals of that
// module.
PyObject* home_of_type(const State& state, PyObject* object) {
  auto* type = type_of(object);
  const Ref name = attribute_or_null(type, state.names.module);
  if (!name || !PyUnicode_Check(name.get())) return nullptr;
  return find_module(state, name.get());
}

// Writes an object if a module that can be imported has it under some name.
bool write_as_global_in(EncodeContext& context, PyObject* module, PyObject* object) {
  if (module == nullptr || importable_name(context.state, module) == nullptr ||
      context.by_value.has(module)) {
    return false;
  }
  PyObject* name = name_in(PyModule_GetDict(module), object);
  if (name == nullptr) return false;
  write_global(context, {Ref::share(module), Ref::share(name)});
  return true;
}

// The module of the function that is being written; null if none is.
PyObject* home_of_function(EncodeContext& context) {
  if (context.stack.empty()) return nullptr;
  PyObject* function = context.stack.back().object.get();
  if (!PyFunction_Check(function)) return nullptr;
  return module_of_dict(context.state, PyFunction_GET_GLOBALS(function));
}

// Whether code of a module by value is being written. Then that module, and not the
// program, made the objects to which the code refers.
bool is_within_code_by_value(EncodeContext& context) {
  const ModulesByValue& by_value = context.by_value;
  return std::ranges::any_of(context.stack, [&](const WalkStack::Frame& frame) {
    PyObject* object = frame.object.get();
    if (PyModule_Check(object)) return by_value.has(object);
    if (PyFunction_Check(object)) {
      return by_value.module_with_globals(PyFunction_GET_GLOBALS(object)) != nullptr;
    }
    if (!PyType_Check(object)) return false;
    PyObject* name = raw_get(as_type(object), context.state.names.module.get());
    return name != nullptr && PyUnicode_Check(name) && by_value.has_name(name);
  });
}

}  // namespace

void write_module_index(EncodeContext& context, std::uint32_t index,
                        wire::Writer& out) {
  if (index == kNoIndex) {
    context.fail(
        "is found by name in a module that travels by value; receivers cannot "
        "import it");
  }
  out.index(wire::ExtType::kModule, index);
}

void write_global(EncodeContext& context, const GlobalName& name) {
  context.out.node(wire::NodeTag::kGlobal, 2);
  PyObject* module = module_name(context.state, name);
  if (PyUnicode_Compare(module, context.state.names.builtins_plain.get()) == 0) {
    context.out.nil();
  } else {
    write_module_index(
        context, context.imports().add_reference(module, name.path.get()), context.out);
  }
  write_text(name.path.get(), context.out);
}

bool write_module(EncodeContext& context, PyObject* module) {
  const bool is_found = is_findable(context.state, module);
  PyObject* name = is_found ? importable_name(context.state, module) : nullptr;
  if (name == nullptr) {
    const GlobalName place = find_inner_module(context.state, module);
    if (!place.module || context.by_value.has(place.module.get())) return false;
    return write_global(context, place), true;
  }
  if (context.by_value.has(module)) return false;
  write_module_index(context, context.imports().add_module_value(module, name),
                     context.out);
  return true;
}

bool write_builtin_type(EncodeContext& context, PyObject* object) {
  const Ref name = name_of_builtin_type(context.state, object);
  if (!name) return false;
  context.out.node(wire::NodeTag::kGlobal, 2);
  context.out.nil();
  write_text(name.get(), context.out);
  return true;
}

bool write_as_global(EncodeContext& context, PyObject* object) {
  return write_as_global_in(context, home_of_function(context), object) ||
         write_as_global_in(context, home_of_type(context.state, object), object);
}

GlobalName class_beside_function(EncodeContext& context, PyObject* type) {
  PyObject* function = context.stack.innermost_function();
  if (function == nullptr) return {};
  PyObject* module = module_of_dict(context.state, PyFunction_GET_GLOBALS(function));
  return module == nullptr ? GlobalName{} : find_in_module(context.state, type, module);
}

Ref fresh_reduction(EncodeContext& context, PyObject* object) {
  if (!context.by_value.any() || !is_within_code_by_value(context)) return {};
  return null_if_none(call(context.state.reduce_to_fresh.get(), object));
}

}  // namespace waybill::py
