// Tested by tests/python/classes/test_received_again.py, test_class_identity.py.

#include "python/cache/methods.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "bytecode/instruction.h"
#include "python/runtime/attribute.h"
#include "python/runtime/compat.h"
#include "python/runtime/modules.h"
#include "python/runtime/text.h"
#include "python/walker/class_attributes.h"
#include "python/walker/code_info.h"

namespace waybill::py {

using bytecode::Instruction;
using bytecode::Operation;

namespace {

// Whether an object is an instance of this type of functools. Does not import
// functools.
bool is_of_functools(const State& state, PyObject* object, const char* name) {
  if (std::string_view(Py_TYPE(object)->tp_name) != name) return false;
  PyObject* module = find_module(state, state.intern_table.get("functools").get());
  if (module == nullptr) return false;
  PyObject* type =
      raw_get(PyModule_GetDict(module), state.intern_table.get(name).get());
  return type == type_of(object);
}

// Names through which code reaches its globals without a global statement.
bool leads_to_globals(std::string_view name) {
  return name == "globals" || name == "__globals__" || name == "exec" ||
         name == "eval" || name == "f_globals";
}

// Whether `predicate` holds for a code object or one nested in it. `predicate` gets the
// code, its tables and its instructions. True also if these cannot be read.
template <typename Predicate>
bool any_code(PyObject* code, Predicate predicate) {
  std::vector<Ref> remaining = {Ref::share(code)};
  while (!remaining.empty()) {
    const Ref next = std::move(remaining.back());
    remaining.pop_back();
    auto* object = as_code(next.get());
    const CodeTables tables(object);
    const auto instructions =
        bytecode::read_instructions(kPythonVersion, tables.view().instructions);
    if (!instructions || predicate(object, tables.view(), *instructions)) return true;
    for (PyObject* constant : items_of(object->co_consts)) {
      if (PyCode_Check(constant)) remaining.push_back(Ref::share(constant));
    }
  }
  return false;
}

}  // namespace

std::span<const char* const> function_attributes_of(const State& state,
                                                    PyObject* attribute) {
  static constexpr const char* kWrapped[] = {"__func__"};
  static constexpr const char* kAccessors[] = {"fget", "fset", "fdel"};
  static constexpr const char* kCalled[] = {"func"};
  if (Py_IS_TYPE(attribute, &PyClassMethod_Type) ||
      Py_IS_TYPE(attribute, &PyStaticMethod_Type)) {
    return kWrapped;
  }
  if (Py_IS_TYPE(attribute, &PyProperty_Type)) return kAccessors;
  if (is_of_functools(state, attribute, "cached_property") ||
      is_of_functools(state, attribute, "partialmethod")) {
    return kCalled;
  }
  return {};
}

bool is_method(const State& state, PyObject* attribute, int depth) {
  if (PyFunction_Check(attribute)) return true;
  const std::span<const char* const> names = function_attributes_of(state, attribute);
  if (names.empty()) {
    return wrapper_among_bases(Py_TYPE(attribute)) != nullptr;
  }
  if (depth >= kMaxWrapperDepth) return false;
  return std::ranges::all_of(names, [&](const char* name) {
    const Ref wrapped = get_attribute(attribute, name);
    return wrapped.get() == Py_None || is_method(state, wrapped.get(), depth + 1);
  });
}

bool has_other_code(const State& state, PyObject* own, PyObject* value) {
  if (own == value || Py_TYPE(own) != Py_TYPE(value)) return false;
  if (PyFunction_Check(own)) {
    return check(PyObject_RichCompareBool(PyFunction_GET_CODE(own),
                                          PyFunction_GET_CODE(value), Py_EQ)) == 0;
  }
  return std::ranges::any_of(function_attributes_of(state, own), [&](const char* name) {
    const Ref one = get_attribute(own, name);
    const Ref other = get_attribute(value, name);
    return (one.get() == Py_None) != (other.get() == Py_None) ||
           has_other_code(state, one.get(), other.get());
  });
}

void replace_items(PyObject* target, PyObject* source) {
  if (!PyDict_CheckExact(target) || !PyDict_CheckExact(source)) {
    raise(PyExc_TypeError, "replace_items() takes two dicts");
  }
  const Ref old = Ref::steal(PyDict_Copy(target));
  PyDict_Clear(target);
  if (PyDict_Update(target, source) == 0) return;
  const Ref error = take_error();
  PyDict_Clear(target);
  if (PyDict_Update(target, old.get()) != 0) PyErr_Clear();
  restore_error(error);
  throw PyError();
}

Ref slot_descriptor(PyObject* type, PyObject* name) {
  Ref storage;
  const std::string_view wanted = utf8_of(name, storage);
  PyMemberDef* member = as_type(type)->tp_members;
  for (; member != nullptr && member->name != nullptr; ++member) {
    if (member->name == wanted) {
      return Ref::steal(PyDescr_NewMember(as_type(type), member));
    }
  }
  return {};
}

bool can_write_globals(PyObject* code) {
  return any_code(code, [](PyCodeObject*, const CodeView& view,
                           const std::vector<Instruction>& instructions) {
    const auto is_write = [](const Instruction& instruction) {
      return instruction.operation == Operation::kStoreGlobal ||
             instruction.operation == Operation::kDeleteGlobal;
    };
    return std::ranges::any_of(instructions, is_write) ||
           std::ranges::any_of(view.names, leads_to_globals);
  });
}

std::optional<std::vector<Ref>> names_of_functions(const State& state, PyObject* code,
                                                   PyObject* globals) {
  std::vector<Ref> found;
  const bool is_unreadable = any_code(code, [&](PyCodeObject* object, const CodeView&,
                                                const std::vector<Instruction>&) {
    for (PyObject* name : items_of(object->co_names)) {
      PyObject* value = raw_get(globals, name);
      if (value != nullptr && PyFunction_Check(value) &&
          !find_by_own_name(state, value).module) {
        found.push_back(Ref::share(name));
      }
    }
    return false;
  });
  if (is_unreadable) return std::nullopt;
  return found;
}

}  // namespace waybill::py
