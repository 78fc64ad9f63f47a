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

  // Whether a method reaches a function. Who reaches the same one must not get another,
  // which would be unequal, and have attributes and cells of its own.
  bool reach_functions() const { return reach_functions_; }

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
  bool note_value(const State& state, PyObject* value, std::vector<Ref>& left);
  static bool is_same(const State& state, const Value& known, PyObject* value,
                      PyObject* loaded);
  template <typename Visit>
  static bool all_of_reach(PyObject* function, bool with_globals, Visit visit);

  bool reach_functions_ = false;
  std::vector<Function> functions_;
  std::vector<Value> values_;       // Of all functions, in their order.
  std::vector<PyObject*> globals_;  // Addresses alone: dicts of those functions.
};

}  // namespace waybill::py
