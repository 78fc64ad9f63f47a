#pragma once

// Guards of a received class. They check that the class and its methods are still as
// the last payload left them.

#include <Python.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "python/runtime/ref.h"
#include "python/runtime/state.h"

namespace waybill::py {

// The methods of a received class, and the values that they reach by themselves:
// globals, cells, defaults. While all of these are unchanged, building the methods
// again would make no difference.
//
// Functions that methods reach by name are compared by content, not by identity:
// rebind_globals() gives methods globals with equal functions.
//
// Holds text, numbers, names, and weak references.
class ReceivedFunctions {
 public:
  // Records a method and its code; with `follows`, also the values and functions that
  // it reaches. False if these can change undetected: a list, for instance, or globals
  // that the code itself may write. `expected_references`: the references to the method
  // if only its class refers to it.
  bool record(const State& state, PyObject* method, bool follows,
              Py_ssize_t expected_references);

  bool are_unchanged(const State& state) const;

  // Whether a method holds a function elsewhere than in its globals. Other functions of
  // the payload may hold the same function: a rebuilt copy would differ from it, with
  // attributes and cells of its own.
  bool has_held_functions() const { return has_held_functions_; }

  // True if no method has one of these globals and none reaches a function by value.
  // Then the program cannot notice through a method that the functions with these
  // globals were rebuilt.
  bool is_independent_of(const std::vector<PyObject*>& globals) const;
  // Whether all methods have these globals.
  bool are_bound_to(PyObject* globals) const;
  // Whether something other than the class refers to a method, such as a frame that
  // runs it. Then the program could see that rebind_globals() changes the method in
  // place.
  bool is_referenced_elsewhere() const;
  // Whether one of these functions is a method.
  bool has_any_of(const std::vector<PyObject*>& functions) const;
  // Gives all methods other globals, of equal content. None of the methods may be
  // referenced elsewhere. `old` receives the previous globals: dropping them may run
  // code.
  void rebind_globals(PyObject* globals, std::vector<Ref>& old) const;

  void clear() { *this = {}; }

 private:
  struct Value {
    enum class Kind : std::uint8_t {
      kConstant,        // Text, a number, or a tuple of these.
      kObject,          // A weak reference.
      kFunction,        // One of functions_, by its number.
      kFunctionByCode,  // A function that no code names: a weak reference to its code.
      kEmptyList,       // A list without items in globals, as __path__ is.
    };
    Kind kind;
    Ref held = {};               // The constant, or the weak reference.
    Ref module = {}, name = {};  // Where an import finds it; a module has no name.
    std::size_t number = 0;
  };
  struct Function {
    Ref function, code;                  // Weak references.
    Py_ssize_t expected_references = 0;  // 0 for functions that are not methods.
    bool follows = true;
    std::array<Ref, 4> metadata;      // Names, docstring and module.
    PyObject* annotations = nullptr;  // Only its address is used.
    bool is_first_with_globals = false;
    std::vector<Ref> helpers;  // Names in the code that denote functions by value.
  };

  std::size_t number_of(PyObject* function);
  bool record_reachable(const State& state, std::size_t number);
  bool record_value(const State& state, PyObject* value);
  bool record_global(const State& state, PyObject* value);
  bool has_globals(PyObject* globals) const;
  static bool is_unchanged(const State& state, const Value& recorded, PyObject* value,
                           PyObject* loaded);
  template <typename VisitGlobal, typename Visit>
  static bool all_of_reachable(const Function& recorded, PyObject* function,
                               VisitGlobal visit_global, Visit visit);
  template <typename Visit>
  bool all_of_methods(Visit visit) const;

  bool has_held_functions_ = false;
  std::vector<Function> functions_;
  std::vector<Value> values_;       // The values of all functions, in order.
  std::vector<PyObject*> globals_;  // Addresses of the functions' globals.
};

// A class that was received with an id. Holds weak references to it and its methods.
class ReceivedClass {
 public:
  // `node`: the number of the class among the nodes of the recipe.
  ReceivedClass(std::size_t node, Ref id) : node_(node), id_(std::move(id)) {}

  std::size_t node() const { return node_; }

  // Records the current state of the class with this id. False if `type` is not that
  // class, or if its changes cannot be detected. `serials`: a dict {class id: serial}.
  bool record(const State& state, PyObject* type, PyObject* serials);

  // Whether this process defined the class. Its methods are then never rebound.
  bool is_at_home() const { return is_home_; }
  const ReceivedFunctions& methods() const { return methods_; }
  // Whether more than the class refers to a method, or to its wrapper.
  bool has_referenced_methods() const;

  // The class. Null if it is gone, if the id means another class, if a payload has
  // described it differently since, or if one of these has changed: the class, a base
  // class, the code of a method and, unless the class is at home, what a method
  // reaches.
  Ref find(const State& state) const;
  // The same without a look at the methods.
  Ref find_type(const State& state) const;

 private:
  bool record_members(const State& state, PyObject* type);
  bool has_members(const State& state, PyObject* type) const;
  bool record_functions(const State& state, PyObject* attribute, bool follows,
                        Py_ssize_t expected_references, int depth = 0);

  std::size_t node_;
  Ref id_;
  Ref type_;  // A weak reference.
  std::uint32_t version_ = 0;
  Ref serial_;  // The serial of the last payload that described it; null at home.
  bool is_home_ = false;
  mutable std::uint32_t find_count_ = 0;
  std::vector<Ref> wrappers_;  // Names of properties and other wrappers.
  bool has_inner_wrappers_ = false;
  std::vector<std::pair<Ref, Ref>> members_;  // Of an enumeration: name and value.
  ReceivedFunctions methods_;
};

}  // namespace waybill::py
