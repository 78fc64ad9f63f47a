#pragma once

// Methods of classes by value, and what they name. A package refers from nearly every
// class to nearly every other, and building what a method reaches may run code of the
// class that the method is of. So the methods of a class come first, without their
// globals, and then a function that nobody keeps, the carrier, brings what all of them
// name.

#include <Python.h>

#include <map>
#include <vector>

#include "python/encode/by_value/modules_by_value.h"
#include "python/encode/walk_stack.h"
#include "python/encode/written_names.h"

namespace waybill::py {

// A global that the code of a function names, what it is now, and when it is written.
struct Global {
  const GlobalUse* use;
  Ref value;
  int turn;
};

// What travels with a function, since its code names it.
struct NamedValues {
  // Those that no function before wrote, or began to write, in their turns.
  std::vector<Global> globals;
  // Modules by value that the code needs more of than a reader has.
  std::vector<Ref> modules;

  void sort_by_turn();
};

class DeferredGlobals {
 public:
  // All outlive this. `stack` is what is being written.
  DeferredGlobals(const State& state, const ModulesByValue& by_value,
                  const WalkStack& stack)
      : state_(state), by_value_(by_value), stack_(stack) {}

  // The attributes of a class, with a carrier behind the methods if there may be
  // something to defer.
  Ref with_carrier(PyObject* type, const Ref& attributes);

  // Whether this is the carrier of the innermost class that is being written, and all
  // its methods have been written.
  bool closes_class(PyObject* object) {
    if (of_classes_.empty() || !PyFunction_Check(object)) return false;
    const Deferred* deferred = here();
    return deferred != nullptr && deferred->carrier.get() == object &&
           !deferred->is_closed;
  }
  // What stands there, then: `answer`, as of a reducer, which has the carrier, or only
  // a name.
  struct Closing {
    Ref name, answer;
  };
  Closing close_class();

  // Puts aside what a method names, while its class has not all methods. What a carrier
  // names is all that was put aside, but for what is `written`.
  void arrange(PyFunctionObject* function, NamedValues& named, WrittenNames& written);

  void clear() { of_classes_.clear(); }

 private:
  // What the methods of a class name, until all methods are written.
  struct Deferred {
    Ref carrier;
    NamedValues named;
    bool is_closed = false;
  };
  Deferred* here();
  Ref new_carrier(PyObject* attributes) const;

  const State& state_;
  const ModulesByValue& by_value_;
  const WalkStack& stack_;
  std::map<PyObject*, Deferred> of_classes_;
};

}  // namespace waybill::py
