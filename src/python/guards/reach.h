#pragma once

// Walks all that a function or class by value reaches, in a fixed order, for the
// visitors that record guards and check them. The walk refuses what it does not know.

#include <Python.h>

#include <array>
#include <cstddef>
#include <cstdint>

#include "python/guards/object_form.h"
#include "python/runtime/arena.h"
#include "python/runtime/compat.h"
#include "python/runtime/memo.h"
#include "python/runtime/modules.h"
#include "python/runtime/ref.h"
#include "python/runtime/state.h"
#include "python/runtime/text.h"
#include "python/walker/annotations.h"
#include "python/walker/class_attributes.h"
#include "python/walker/code_info.h"

namespace waybill::py {

// An object that the rest of a payload may refer to, and its key in the memo.
struct VisitedObject {
  std::uintptr_t key = 0;
  Ref object;
  enum class Kind : std::uint8_t {
    kObject,
    kName,        // The object travels as a name.
    kDefinition,  // A function or class by value that has guards of its own.
    kWalked,      // The walk visits its parts: the root, or a function of a class.
  };
  Kind kind = Kind::kObject;
  // The object has no identity: an equal one may be written instead.
  bool is_value = false;
};
using VisitedObjects = ArenaVector<VisitedObject>;

// Base of the two visitors: the visited objects, which are also the queue of functions
// and classes whose parts are still to be walked.
class ReachVisitor {
 public:
  using Kind = VisitedObject::Kind;
  static constexpr std::size_t kMaxObjects = 256;

  ReachVisitor(const State& state, CodeInfos& infos, VisitedObjects& visited)
      : state_(state), infos_(infos), visited_(visited) {}

  void enter_class() { is_in_class_ = true; }
  void leave_class() { is_in_class_ = false; }

  const CodeInfo& info(PyObject* code) { return infos_.get(code); }

  // The function or class from which the walk starts.
  PyObject* root() const { return visited_.front().object.get(); }
  // The number of a visited object; kNoIndex if it was not visited.
  std::uint32_t number_of(std::uintptr_t key) const {
    for (std::size_t i = 0; i < visited_.size(); ++i) {
      if (visited_[i].key == key) return static_cast<std::uint32_t>(i);
    }
    return kNoIndex;
  }
  bool add_visited(std::uintptr_t key, PyObject* object, Kind kind = Kind::kObject) {
    if (visited_.size() == kMaxObjects) return false;
    visited_.push_back({key, Ref::share(object), kind});
    return true;
  }
  bool add_visited(PyObject* object, Kind kind) {
    return add_visited(key_of(object), object, kind);
  }
  // Adds text, a container, or an object that a call makes.
  bool add_object(PyObject* object) {
    if (!add_visited(object, Kind::kObject)) return false;
    visited_.back().is_value = is_value(object);
    return true;
  }
  // Whether the module of a visited function has a class by value under the class's own
  // name. If that function is the innermost one around the class, the class travels by
  // that name, whatever its __module__ is.
  bool has_class_beside_function() const;
  // The next object whose own parts are walked; null if there is none.
  PyObject* next_to_walk() {
    while (next_ != visited_.size()) {
      const VisitedObject& one = visited_[next_++];
      if (one.kind == Kind::kWalked) return one.object.get();
    }
    return nullptr;
  }

 protected:
  const State& state_;
  bool is_in_class_ = false;  // A function that is visited now is a method.
  bool is_in_view_ = false;   // A dict that is visited now is that of a view.

  bool is_value(PyObject* object) const;

 private:
  CodeInfos& infos_;
  VisitedObjects& visited_;
  std::size_t next_ = 0;  // Where next_to_walk() continues.
};

bool is_empty_dict(PyObject* dict);
// Name, qualified name, module and docstring of a function; null for each that follows
// from its code and its globals.
std::array<Ref, 4> own_names(const State& state, PyFunctionObject* function,
                             PyCodeObject* code);
// Whether code of deferred annotations may return text, which may refer to further
// names.
bool can_return_text(PyCodeObject* annotate, PyCodeObject* owner);
// Whether a closure may contain the dict of a class, which travels as part of the
// class.
bool has_class_dict(const State& state, PyFunctionObject* function);
bool is_dict_of(PyObject* type, PyObject* dict);
// From 3.14 on: evaluates the annotations of a class if they travel evaluated.
void evaluate_annotations(const State& state, PyObject* type);
// Whether `name` is an attribute for annotations that is not sent with a class with
// this dict: its annotations travel either evaluated or as __annotate_func__.
bool is_unsent_annotations(const State& state, PyObject* dict, PyObject* name);

// Visits the globals that code names, except those that every namespace has.
template <typename Visitor>
bool walk_globals(const State& state, PyObject* globals, const CodeInfo& info,
                  Visitor& visitor) {
  visitor.leave_class();  // A function in globals is not a method.
  for (const GlobalUse& use : info.globals) {
    if (is_in_every_namespace(state.names, use.name)) continue;
    if (!visitor.visit_value(look_up(state, globals, use.name), true)) return false;
  }
  return true;
}

// Holds the dict: Python code that the visitor runs, and other threads, may replace it.
template <typename Visitor>
bool walk_dict(PyObject* borrowed, Visitor& visitor) {
  const Ref held_dict = Ref::share(borrowed);
  PyObject* dict = held_dict.get();
  if (!PyDict_CheckExact(dict) ||
      !visitor.visit_count(static_cast<std::size_t>(PyDict_GET_SIZE(dict)))) {
    return false;
  }
  for (const auto& [name, value] : DictItems(dict)) {
    const Ref held = Ref::share(name);
    if (!visitor.visit_value(value, true) || !visitor.visit_value(name, false))
      return false;
  }
  return true;
}

// Visits the __annotate__ function of a function, and the globals that text in the
// annotations refers to.
template <typename Visitor>
bool walk_annotate(const State& state, PyFunctionObject* function, PyObject* annotate,
                   Visitor& visitor) {
  const Ref held = Ref::share(annotate);
  if (!PyFunction_Check(annotate) || !visitor.visit_method(annotate)) return false;
  auto* code = as_code(PyFunction_GET_CODE(annotate));
  auto* own = as_code(function->func_code);
  if (has_wrapped_function(state, function) || !can_return_text(code, own)) return true;
  const Ref named = code_of_annotation(state, annotate, as_object(function));
  return !named || walk_globals(state, function->func_globals,
                                visitor.info(named.get()), visitor);
}

template <typename Visitor>
bool walk_annotations(const State& state, PyObject* object, Visitor& visitor) {
  auto* f = as_function(object);
  const Annotations annotations = annotations_of(object);
  if (annotations.annotate != nullptr) {
    return walk_annotate(state, f, annotations.annotate, visitor);
  }
  const Ref& evaluated = annotations.evaluated;
  if (!evaluated) return visitor.visit_count(0);
  if (!visitor.visit_object(evaluated.get()) || !walk_dict(evaluated.get(), visitor)) {
    return false;
  }
  // get_type_hints() uses the globals of the wrapped function.
  if (has_wrapped_function(state, f)) return true;
  const Ref values = Ref::steal(PyDict_Values(evaluated.get()));
  for (PyObject* text : items_of(values.get())) {
    if (has_no_text(text)) continue;
    if (!PyUnicode_CheckExact(text)) return false;
    const Ref code = code_of_annotation(state, text);
    if (!code) continue;
    if (!walk_globals(state, f->func_globals, visitor.info(code.get()), visitor)) {
      return false;
    }
  }
  return true;
}

template <typename Visitor>
bool walk_function(const State& state, PyObject* object, Visitor& visitor) {
  auto* f = as_function(object);
  const Ref code = Ref::share(f->func_code);
  const CodeInfo& info = visitor.info(code.get());
  if (type_parameters(object) != nullptr || !visitor.visit_code(code.get()) ||
      !visitor.visit_globals(f->func_globals)) {
    return false;
  }
  for (const Ref& name : own_names(state, f, as_code(code.get()))) {
    if (!visitor.visit_value(name.get(), false)) return false;
  }
  const auto cells = items_of(f->func_closure);
  if (!visitor.visit_count(cells.size())) return false;
  for (PyObject* cell : cells) {
    if (!PyCell_Check(cell)) return false;
    PyObject* content = PyCell_GET(cell);
    if (content != nullptr && PyDict_CheckExact(content) && has_class_dict(state, f)) {
      content = visitor.root();  // The dict travels as that of the class.
      if (!is_dict_of(content, PyCell_GET(cell))) return false;
    }
    if (!visitor.visit_object(cell) || !visitor.visit_value(content, true))
      return false;
  }
  if (!visitor.visit_value(f->func_defaults, false)) return false;
  if (f->func_kwdefaults == nullptr ? !visitor.visit_value(nullptr, false)
                                    : !walk_dict(f->func_kwdefaults, visitor)) {
    return false;
  }
  if (!walk_annotations(state, object, visitor)) return false;
  PyObject* attributes = is_empty_dict(f->func_dict) ? nullptr : f->func_dict;
  return visitor.visit_value(attributes, false) &&
         walk_globals(state, f->func_globals, info, visitor);
}

// Visits the names and values of the members of an enumeration, in their order.
template <typename Visitor>
bool walk_enum_members(const State& state, PyObject* type, Visitor& visitor) {
  PyObject* members = members_of_enum(state, type);
  if (members == nullptr ||
      !visitor.visit_count(static_cast<std::size_t>(PyDict_GET_SIZE(members)))) {
    return false;
  }
  for (const auto& [name, member] : DictItems(members)) {
    const Ref held = Ref::share(name);
    const Ref value = Ref::share(value_of_plain_member(state, type, member));
    if (!value || !visitor.visit_value(value.get(), false) ||
        !visitor.visit_value(name, false)) {
      return false;
    }
  }
  return true;
}

template <typename Visitor>
bool walk_class(const State& state, PyObject* object, Visitor& visitor) {
  if (!visitor.visit_type(object)) return false;
  auto* type = as_type(object);
  evaluate_annotations(state, object);
  const Ref dict = type_dict(type), bases = Ref::share(type->tp_bases);
  if (!visitor.visit_value(type_of(object), false) ||
      !visitor.visit_count(items_of(bases.get()).size())) {
    return false;
  }
  for (PyObject* base : items_of(bases.get())) {
    if (!visitor.visit_value(base, false)) return false;
  }
  const Ref name = Ref::steal(PyType_GetName(type));
  const Ref qualified = Ref::steal(PyType_GetQualName(type));
  PyObject* module = raw_get(dict.get(), state.names.module.get());
  for (PyObject* text : {name.get(), qualified.get(), module}) {
    if (!visitor.visit_value(text, false)) return false;
  }
  const bool is_enum = is_enumeration(state, object);
  if (is_enum && !walk_enum_members(state, object, visitor)) return false;
  for (const auto& [key, value] : DictItems(dict.get())) {
    if (is_empty_annotations(key, value) ||
        is_unsent_annotations(state, dict.get(), key) ||
        (is_enum && is_derived_by_enum(state, object, key, value))) {
      continue;
    }
    if (!visitor.visit_attribute(object, key, value)) return false;
  }
  return true;
}

// Visits all that a function or class reaches, and all that the methods of a class
// reach. Other functions and classes by value are visited, but their parts are not. A
// visitor derives from ReachVisitor and has these functions, which return whether to
// continue:
//
//   visit_code(code)              of a function
//   visit_globals(globals)        the dict of its globals
//   visit_type(type)              a class by value, whose parts follow
//   visit_attribute(type, name, value)  of that class
//   visit_count(number)           number of cells, bases or pairs that follow
//   visit_object(object)          a cell, or the dict of annotations or of an
//                                 instance, whose items follow
//   visit_element(value)          of a set
//   visit_method(function)        of a class, or an __annotate__ function
//   visit_value(value, is_named)  any other value; null where a name has none
//
// Values are visited before keys and only borrowed: code that the visitor runs may free
// the value.
//
// False if the visitor or the walk refuses. The walk may run Python code.
template <typename Visitor>
bool walk_reach(const State& state, PyObject* root, Visitor& visitor) {
  if (find_by_own_name(state, root).module ||
      !visitor.add_visited(root, VisitedObject::Kind::kWalked)) {
    return false;
  }
  while (PyObject* object = visitor.next_to_walk()) {
    // Functions that a method wraps are methods, too.
    if (object != root) visitor.enter_class();
    const bool can_continue = PyType_Check(object)
                                  ? walk_class(state, object, visitor)
                                  : walk_function(state, object, visitor);
    if (!can_continue) return false;
    visitor.leave_class();
  }
  return !visitor.has_class_beside_function();
}

}  // namespace waybill::py
