// Finds the code that captured an object. Tested by tests/python/explain.

#include <cstring>
#include <utility>
#include <vector>

#include "python/encode/paths/path_step.h"
#include "python/runtime/attribute.h"
#include "python/runtime/compat.h"
#include "python/runtime/text.h"
#include "python/walker/class_attributes.h"

namespace waybill::py {

namespace {

// A load of a value, with as many attributes of the path as the code reads from it.
struct Load {
  const CodeInfo* info = nullptr;
  ValueId value = 0;
  std::size_t matched = 0;  // Number of attributes of the path that it reads.
};

bool is_named(PyObject* name, PyObject* wanted) {
  return name == wanted || PyUnicode_Compare(name, wanted) == 0;
}

// The first load of this attribute from a value, or of any attribute for a null name; 0
// if there is none. Attributes come after their value in the graph.
ValueId attribute_of(const CodeInfo& info, ValueId value, PyObject* name) {
  const std::vector<Value>& values = info.summary.values;
  for (ValueId id = value + 1; id < values.size(); ++id) {
    if (values[id].kind != Value::Kind::kAttribute || values[id].parent != value) {
      continue;
    }
    if (name == nullptr || is_named(info.name_at(values[id].index), name)) return id;
  }
  return 0;
}

bool loads_variable(const CodeInfo& info, const Value& value, const Label& variable) {
  if (variable.style == Label::Style::kGlobal) {
    return value.kind == Value::Kind::kGlobal &&
           is_named(info.name_at(value.index), variable.name.get());
  }
  return value.kind == Value::Kind::kVariable &&
         is_named(info.local_at(value.index), variable.name.get());
}

// The expression of a value: a variable and attributes. Bytecode that no compiler wrote
// may have any number of attributes; only the last ones are returned.
std::string spelled(const CodeInfo& info, ValueId id) {
  constexpr int kMaxNames = 64;
  std::string attributes;
  for (int count = 0; count < kMaxNames; ++count) {
    const Value& value = info.summary.values[id];
    if (value.kind == Value::Kind::kGlobal) {
      return text_of(info.name_at(value.index)) + attributes;
    }
    if (value.kind != Value::Kind::kAttribute) {
      return text_of(info.local_at(value.index)) + attributes;
    }
    attributes = "." + text_of(info.name_at(value.index)) + attributes;
    id = value.parent;
  }
  return "..." + attributes;
}

Capture captured_at(const CodeInfo& info, std::uint32_t offset,
                    std::string expression) {
  return {std::move(expression), text_of(info.code->co_qualname),
          std::string(PrintableText(info.code->co_filename).view()),
          info.line_of(offset)};
}

Capture captured_by(const Load& load) {
  ValueId id = load.value;
  // The whole expression in the source is more informative.
  while (const ValueId next = attribute_of(*load.info, id, nullptr)) id = next;
  const std::uint32_t offset = load.info->summary.values[load.value].offset;
  return captured_at(*load.info, offset, spelled(*load.info, id));
}

// The code that captured a variable of a function, and attributes of it. `path`: the
// steps after the variable.
Capture captured_variable(const CodeInfo& function, const Label& variable,
                          std::span<const PathStep> path) {
  Load best;
  for (const CodeInfo* info : with_nested(function)) {
    const std::vector<Value>& values = info->summary.values;
    for (ValueId id = 0; id < values.size(); ++id) {
      if (!loads_variable(*info, values[id], variable)) continue;
      Load load{info, id, 0};
      for (const PathStep& step : path) {
        if (step.label.style != Label::Style::kAttribute) break;
        const ValueId next = attribute_of(*info, load.value, step.label.name.get());
        if (next == 0) break;
        load.value = next;
        ++load.matched;
      }
      if (best.info == nullptr || load.matched > best.matched) best = load;
    }
  }
  if (best.info != nullptr) return captured_by(best);
  for (const GlobalUse& use : function.globals) {
    if (!is_named(use.name, variable.name.get())) continue;
    return captured_at(*use.info, use.offset, text_of(use.name));
  }
  return captured_at(function, kNoIndex, text_of(variable.name.get()));
}

// The function of a class attribute: the attribute itself, or the function in a
// property, classmethod or staticmethod; null for others. Runs no code of the program.
Ref function_of(PyObject* method) {
  if (PyFunction_Check(method)) return Ref::share(method);
  if (!is_wrapper(method)) return {};
  const bool is_property = Py_IS_TYPE(method, &PyProperty_Type);
  Ref function = get_attribute(method, is_property ? "fget" : "__func__");
  return PyFunction_Check(function.get()) ? std::move(function) : Ref();
}

// The first `self.name` in a method of the class; an empty file if there is none.
Capture captured_in_methods(CodeInfos& infos, PyTypeObject* type, PyObject* name) {
  const Ref dict = type_dict(type);
  const Ref methods = Ref::steal(PyDict_Values(dict.get()));
  for (PyObject* attribute : items_of(methods.get())) {
    const Ref method = function_of(attribute);
    if (!method) continue;
    const CodeInfo& info = infos.get(PyFunction_GET_CODE(method.get()));
    const std::vector<Value>& values = info.summary.values;
    for (ValueId id = 0; id < values.size(); ++id) {
      if (values[id].kind != Value::Kind::kParameter || values[id].index != 0) continue;
      const ValueId found = attribute_of(info, id, name);
      if (found != 0) return captured_by({&info, found, 1});
    }
  }
  return {};
}

// Whether a step leads from a class to its attribute, with or without the descriptor
// protocol.
bool is_of_class(const PathStep& step) {
  return step.owner != nullptr && PyType_Check(step.owner) &&
         (step.label.style == Label::Style::kAttribute ||
          (step.label.style == Label::Style::kKey &&
           std::strcmp(step.label.text, ".__dict__") == 0));
}

}  // namespace

Capture capture_of(CodeInfos& infos, std::span<const PathStep> path) {
  for (std::size_t i = path.size(); i-- > 0;) {
    const Label& label = path[i].label;
    PyObject* owner = path[i].owner;
    if (owner != nullptr && PyFunction_Check(owner)) {
      const CodeInfo& info = infos.get(PyFunction_GET_CODE(owner));
      if (label.is_variable()) {
        return captured_variable(info, label, path.subspan(i + 1));
      }
      // Defaults, annotations and other attributes have the location of the function.
      return captured_at(info, kNoIndex, "");
    }
    if (!is_of_class(path[i])) continue;
    Capture found = captured_in_methods(infos, as_type(owner), label.name.get());
    if (!found.file.empty()) return found;
  }
  for (std::size_t i = path.size(); i-- > 0;) {
    if (path[i].owner == nullptr) continue;
    if (path[i].label.style != Label::Style::kAttribute) continue;
    PyTypeObject* type = Py_TYPE(path[i].owner);
    if (!PyType_HasFeature(type, Py_TPFLAGS_HEAPTYPE)) continue;
    Capture found = captured_in_methods(infos, type, path[i].label.name.get());
    if (!found.file.empty()) return found;
  }
  return {};
}

}  // namespace waybill::py
