#pragma once

// What a function or class by value reaches, walked in one order for who notes it and
// for who compares it later. What the walk does not know, it refuses.

#include <Python.h>

#include <array>
#include <cstddef>
#include <cstdint>

#include "python/guards/reduced_form.h"
#include "python/runtime/arena.h"
#include "python/runtime/compat.h"
#include "python/runtime/memo.h"
#include "python/runtime/modules.h"
#include "python/runtime/ref.h"
#include "python/runtime/state.h"
#include "python/walker/annotations.h"
#include "python/walker/class_attributes.h"
#include "python/walker/code_info.h"

namespace waybill::py {

// An object that the rest of a payload may refer to, and its key in the memo.
struct VisitedObject {
  std::uintptr_t key = 0;
  Ref object;  // Null for the own dict of an instance, which nobody else may hold.
  enum class Kind : std::uint8_t {
    kObject,
    kName,    // It travels as a name.
    kNeeded,  // A function or class by value that has guards of its own.
    kWalked,  // Its own parts are walked: the root, or a function of a class.
  };
  Kind kind = Kind::kObject;
  // Two of it are as good as one.
  bool is_value = false;
};
using VisitedObjects = ArenaVector<VisitedObject>;

// What the two uses of the walk share: the objects that were visited, among which are
// the functions and classes whose own parts are still to be walked.
class ReachVisitor {
 public:
  using Kind = VisitedObject::Kind;
  static constexpr std::size_t kMaxObjects = 256;

  ReachVisitor(const State& state, CodeInfos& infos, VisitedObjects& visited)
      : state_(state), infos_(infos), visited_(visited) {}

  void enter_class() { is_in_class_ = true; }
  void leave_class() { is_in_class_ = false; }

  // What is known of a code object.
  const CodeInfo& info(PyObject* code) { return infos_.get(code); }

  // The function or class that is walked.
  PyObject* root() const { return visited_.front().object.get(); }
  // The number of an object that was visited; kNoIndex if it was not.
  std::uint32_t number_of(std::uintptr_t key) const {
    for (std::size_t i = 0; i < visited_.size(); ++i) {
      if (visited_[i].key == key) return static_cast<std::uint32_t>(i);
    }
    return kNoIndex;
  }
  bool add_visited(std::uintptr_t key, PyObject* holder, Kind kind = Kind::kObject) {
    if (visited_.size() == kMaxObjects) return false;
    visited_.push_back({key, Ref::share(holder), kind});
    return true;
  }
  bool add_visited(PyObject* object, Kind kind) {
    return add_visited(key_of(object), object, kind);
  }
  // Text, a container, or what a call makes.
  bool add_object(PyObject* object) {
    if (!add_visited(object, Kind::kObject)) return false;
    visited_.back().is_value = is_value(object);
    return true;
  }
  // Whether a class by value is found under its own name in the module of a function:
  // it then travels by that name, though it says that it is elsewhere, if the function
  // is the innermost one around it.
  bool has_class_beside_function() const;
  // The next object whose own parts are walked; null if there is none.
  PyObject* next_walked() {
    while (next_ != visited_.size()) {
      const VisitedObject& one = visited_[next_++];
      if (one.kind == Kind::kWalked) return one.object.get();
    }
    return nullptr;
  }

 protected:
  const State& state_;
  bool is_in_class_ = false;  // What is shown is a method, if it is a function.
  bool is_in_call_ = false;   // What is shown is a part of what a call makes.

 private:
  bool is_value(PyObject* object) const;
  bool is_class_beside(PyObject* type, PyObject* module) const;

  CodeInfos& infos_;
  VisitedObjects& visited_;
  std::size_t next_ = 0;  // The walk has come so far.
};

bool is_same_text(PyObject* a, PyObject* b);
bool is_empty_dict(PyObject* dict);
// Name, qualified name, module and docstring of a function; null for each that its code
// and its globals tell.
std::array<Ref, 4> own_names(const State& state, PyFunctionObject* function);
// Whether code of deferred annotations may give text, which names more than the code.
bool may_give_text(PyCodeObject* annotate, PyCodeObject* owner);
// Whether a closure may have the own dict of a class, which travels as that class's.
bool has_class_dict(const State& state, PyFunctionObject* function);
bool is_dict_of(PyObject* type, PyObject* dict);
// From 3.14 on: has a class evaluate its annotations if they travel so.
void evaluate_annotations(const State& state, PyObject* type);
// Whether an attribute of a class with this dict is one that its annotations travel
// without.
bool is_other_annotations(const State& state, PyObject* dict, PyObject* name);

// The globals that code names, but for those that every namespace has.
template <typename Visitor>
bool walk_globals(const State& state, PyObject* globals, const CodeInfo& info,
                  Visitor& visitor) {
  visitor.leave_class();  // What globals hold is no part of a class.
  for (const GlobalUse& use : info.globals) {
    if (is_in_every_namespace(state.names, use.name)) continue;
    if (!visitor.value(look_up(state, globals, use.name), true)) return false;
  }
  return true;
}

// Code that runs meanwhile, and other threads, may put another dict in its place.
template <typename Visitor>
bool walk_dict(PyObject* borrowed, Visitor& visitor) {
  const Ref held_dict = Ref::share(borrowed);
  PyObject* dict = held_dict.get();
  if (!PyDict_CheckExact(dict) ||
      !visitor.count(static_cast<std::size_t>(PyDict_GET_SIZE(dict)))) {
    return false;
  }
  for (const auto& [name, value] : PairsOf(dict)) {
    const Ref held = Ref::share(name);
    if (!visitor.value(value, true) || !visitor.value(name, false)) return false;
  }
  return true;
}

// What gives the annotations of a function, and what these name by text.
template <typename Visitor>
bool walk_annotate(const State& state, PyFunctionObject* function, PyObject* annotate,
                   Visitor& visitor) {
  const Ref held = Ref::share(annotate);
  if (!PyFunction_Check(annotate) || !visitor.method(annotate)) return false;
  auto* code = as_code(PyFunction_GET_CODE(annotate));
  auto* own = as_code(function->func_code);
  if (is_wrapping(state, function) || !may_give_text(code, own)) return true;
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
  if (!evaluated) return visitor.count(0);
  if (!visitor.object(evaluated.get()) || !walk_dict(evaluated.get(), visitor)) {
    return false;
  }
  // Whoever asks for them looks into the function that this one wraps.
  if (is_wrapping(state, f)) return true;
  const Ref values = Ref::steal(PyDict_Values(evaluated.get()));
  for (PyObject* text : items_of(values.get())) {
    if (is_without_text(text)) continue;
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
  if (type_parameters(object) != nullptr || !visitor.code(code.get()) ||
      !visitor.name_space(f->func_globals)) {
    return false;
  }
  for (const Ref& name : own_names(state, f)) {
    if (!visitor.value(name.get(), false)) return false;
  }
  const auto cells = items_of(f->func_closure);
  if (!visitor.count(cells.size())) return false;
  for (PyObject* cell : cells) {
    if (!PyCell_Check(cell)) return false;
    PyObject* content = PyCell_GET(cell);
    if (content != nullptr && PyDict_CheckExact(content) && has_class_dict(state, f)) {
      content = visitor.root();  // The dict travels as that of the class.
      if (!is_dict_of(content, PyCell_GET(cell))) return false;
    }
    if (!visitor.object(cell) || !visitor.value(content, true)) return false;
  }
  if (!visitor.value(f->func_defaults, false)) return false;
  if (f->func_kwdefaults == nullptr ? !visitor.value(nullptr, false)
                                    : !walk_dict(f->func_kwdefaults, visitor)) {
    return false;
  }
  if (!walk_annotations(state, object, visitor)) return false;
  PyObject* attributes = is_empty_dict(f->func_dict) ? nullptr : f->func_dict;
  return visitor.value(attributes, false) &&
         walk_globals(state, f->func_globals, info, visitor);
}

template <typename Visitor>
bool walk_class(const State& state, PyObject* object, Visitor& visitor) {
  if (!visitor.type(object)) return false;
  auto* type = as_type(object);
  evaluate_annotations(state, object);
  const Ref dict = type_dict(type), bases = Ref::share(type->tp_bases);
  if (!visitor.value(type_of(object), false) ||
      !visitor.count(items_of(bases.get()).size())) {
    return false;
  }
  for (PyObject* base : items_of(bases.get())) {
    if (!visitor.value(base, false)) return false;
  }
  const Ref name = Ref::steal(PyType_GetName(type));
  const Ref qualified = Ref::steal(PyType_GetQualName(type));
  PyObject* module = raw_get(dict.get(), state.names.module.get());
  for (PyObject* text : {name.get(), qualified.get(), module}) {
    if (!visitor.value(text, false)) return false;
  }
  for (const auto& [key, value] : PairsOf(dict.get())) {
    if (is_no_annotations(key, value) || is_other_annotations(state, dict.get(), key)) {
      continue;
    }
    if (!visitor.attribute(object, key, value)) return false;
  }
  return true;
}

// Shows the visitor all that a function or class reaches, and the same of the methods
// of a class. Other functions and classes by value are shown, and not walked. A visitor
// is a ReachVisitor with these, each of which answers whether to go on:
//
//   code(code)              of a function
//   name_space(globals)     the dict of its globals
//   type(type)              a class by value, whose parts follow
//   attribute(type, name, value)  of that class
//   count(number)           so many cells, bases or pairs follow
//   object(object)          a cell, or a dict of annotations
//   own_dict(dict)          of an instance, whose items follow
//   element(value)          of a set
//   method(function)  of a class, or what gives the annotations of a function
//   value(value, is_named)  whatever a name means; null where it means nothing
//
// A value is shown before its name and held by nobody else than the program, so that a
// visitor can count who refers to it; what the visitor runs may take it away.
//
// False if the visitor or the walk refuses. The walk may run code of others.
template <typename Visitor>
bool walk_reach(const State& state, PyObject* root, Visitor& visitor) {
  if (find_by_own_name(state, root).module ||
      !visitor.add_visited(root, VisitedObject::Kind::kWalked)) {
    return false;
  }
  while (PyObject* object = visitor.next_walked()) {
    // Functions that a method wraps are methods, too.
    if (object != root) visitor.enter_class();
    const bool goes_on = PyType_Check(object) ? walk_class(state, object, visitor)
                                              : walk_function(state, object, visitor);
    if (!goes_on) return false;
    visitor.leave_class();
  }
  return !visitor.has_class_beside_function();
}

}  // namespace waybill::py
