#pragma once

// The functions of a class that came, and what they reach by themselves: globals,
// cells, defaults. As long as all of it is what it was, making them again would make no
// difference.

#include <Python.h>

#include <array>
#include <cstddef>
#include <vector>

#include "python/runtime/ref.h"
#include "python/runtime/state.h"

namespace waybill::py {

// Functions that methods reach by name are compared with what they were, not with
// which: who gives methods other globals gives them other functions there.
//
// Holds text, numbers, names, and weak references.
class KnownFunctions {
 public:
  // Takes note of a method and its code. `reaches`: of what it reaches too, and of the
  // functions there. False if that may change without a trace: a list, say, or globals
  // that the code itself may write to. `owners`: how many references to the method
  // there are if nobody but its class has it.
  bool note(const State& state, PyObject* method, bool reaches, Py_ssize_t owners);

  bool are_same(const State& state) const;

  // Whether a method holds a function, which is no global. Who reaches the same one
  // must not get another, which would be unequal, and have attributes and cells of its
  // own.
  bool hold_functions() const { return hold_functions_; }

  // Whether no method reaches a function by value, or has globals that are among these:
  // then nobody sees through functions with these globals that it is not made anew.
  bool are_apart_from(const std::vector<PyObject*>& globals) const;
  // Whether all methods have these globals.
  bool have_globals(PyObject* globals) const;
  // Whether somebody else than the class holds a method, as each frame of it does: who
  // would see that it gets other globals, and is not made anew.
  bool are_held() const;
  // Gives all methods other globals, which hold the same. None may be held. `old` gets
  // what they had: to drop that may run code.
  void move_to(PyObject* globals, std::vector<Ref>& old) const;

  void clear() { *this = {}; }

 private:
  struct Value {
    enum class Kind : std::uint8_t {
      kConstant,  // Text, a number, or a tuple of these.
      kObject,    // A weak reference.
      kFunction,  // One of functions_, by its number.
      kUnnamed,   // A function that no code names: a weak reference to its code.
      kEmpty,     // A list without items in globals, as __path__ is.
    };
    Kind kind;
    Ref held = {};
    Ref module = {}, name = {};  // Where an import finds it; a module has no name.
    std::size_t number = 0;
  };
  struct Function {
    Ref function, code;     // Weak references.
    Py_ssize_t owners = 0;  // Of a method; of a function that one reaches 0.
    bool reaches = true;
    // Its names, text and module, and what its annotations are.
    std::array<Ref, 4> words;
    PyObject* annotations = nullptr;  // An address.
    bool has_new_globals = false;     // No function before it has them.
    std::vector<Ref> helpers;         // Names in the code that mean functions by value.
  };

  std::size_t add(PyObject* function);
  bool note_reach(const State& state, std::size_t number);
  bool note_value(const State& state, PyObject* value);
  bool note_global(const State& state, PyObject* value);
  bool has_globals(PyObject* globals) const;
  static bool is_same(const State& state, const Value& known, PyObject* value,
                      PyObject* loaded);
  template <typename VisitGlobal, typename Visit>
  static bool all_of_reach(const Function& known, PyObject* function,
                           VisitGlobal visit_global, Visit visit);
  template <typename Visit>
  bool all_of_methods(Visit visit) const;

  bool hold_functions_ = false;
  std::vector<Function> functions_;
  std::vector<Value> values_;       // Of all functions, in their order.
  std::vector<PyObject*> globals_;  // Addresses alone: dicts of those functions.
};

}  // namespace waybill::py
