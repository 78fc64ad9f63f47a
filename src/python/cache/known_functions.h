#pragma once

// The functions of a class that came, and what they reach by themselves: globals,
// cells, defaults. As long as all of it is what it was, making them again would make no
// difference.

#include <Python.h>

#include <cstddef>
#include <vector>

#include "python/runtime/ref.h"
#include "python/runtime/state.h"

namespace waybill::py {

// Holds text, numbers, names, and weak references.
class KnownFunctions {
 public:
  // Takes note of a function and its code. `reaches`: of what it reaches too, and of
  // the functions there. False if that may change without a trace: a list, say, or
  // globals that the code itself may write to.
  bool note(const State& state, PyObject* function, bool reaches);

  bool are_same(const State& state) const;

  // Whether there is a function among them, beside methods, that changes in ways that
  // others see who reach it: it has a cell or an attribute that is written to. Whoever
  // reaches it must reach the same one.
  bool share_state() const { return has_helpers_ && (writes_ || has_attributes_); }

  void clear() { *this = {}; }

 private:
  struct Value {
    Ref held;  // A weak reference, or text or a number itself.
    bool is_weak = false;
    Ref module = {}, name = {};  // Where an import finds it; a module has no name.
  };
  struct Function {
    Ref function, code;  // Weak references.
    bool reaches = false;
    bool has_new_globals = false;  // No function before it has them.
  };

  bool has_globals(PyObject* globals) const;
  void note_helper(PyObject* function);
  bool note_value(const State& state, PyObject* value, std::vector<Ref>& left);
  static bool is_same(const Value& known, PyObject* value, PyObject* loaded);
  template <typename Visit>
  static bool all_of_reach(PyObject* function, bool with_globals, Visit visit);

  bool has_helpers_ = false;     // Functions that methods reach.
  bool writes_ = false;          // Code that may change a function.
  bool has_attributes_ = false;  // A helper with one that can only be replaced.
  std::vector<Function> functions_;
  std::vector<Value> values_;       // Of all functions, in their order.
  std::vector<PyObject*> globals_;  // Addresses alone: dicts of those functions.
};

}  // namespace waybill::py
