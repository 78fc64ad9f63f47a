#pragma once

// Modules that travel by value, and what of them a payload has.

#include <Python.h>

#include <map>
#include <utility>
#include <vector>

#include "python/encode/namespaces.h"
#include "python/encode/walk_stack.h"
#include "python/runtime/modules.h"
#include "python/walker/code_info.h"
#include "python/walker/import_collector.h"

namespace waybill::py {

// Modules whose functions and classes travel by value although they could be imported:
// those that the caller named, their submodules, and local modules that code of theirs
// uses, which are added here.
class ModulesByValue {
 public:
  // `names`: a set of str, borrowed; or null.
  ModulesByValue(const State& state, PyObject* names) : state_(state), names_(names) {}

  // Whether the caller named any.
  bool any() const { return names_ != nullptr; }
  PyObject* names() const { return names_; }

  // Whether functions, classes and objects of a module travel by value.
  bool has(PyObject* module) const;
  bool has_name(PyObject* name) const {
    return names_ != nullptr && has_name_or_parent(names_, name);
  }
  // Whether of a module travels what code needs of it: one of these, or the script's
  // own, which is another one at the receiver.
  bool is_sent_in_parts(PyObject* module) const {
    return is_script(state_, module) || has(module);
  }
  // What the module of these globals is; null if it does not travel by value.
  PyObject* with_globals(PyObject* globals) const;

  // Adds the module of what such a module holds, if it is local: a module, or what
  // comes from one. It may run code of others, so the caller holds `object` itself.
  void add_module_of(PyObject* object);
  // The same of all that a function of such a module names or imports.
  void add_modules_of_code(PyObject* function, const CodeInfo& info);

 private:
  void add_imported(PyObject* name);
  void add_imported(PyObject* function, const CodeInfo& info);

  const State& state_;
  PyObject* names_;
};

// What an extension module of a package by value makes. The module does not travel, and
// the sender has said that the receiver has it not. Classes need their bases at once,
// so a class with such a base cannot be sent. What code only refers to becomes a
// stand-in, which says what is missing when it is used.
class Extensions {
 public:
  // Both outlive this.
  Extensions(const State& state, const ModulesByValue& by_value)
      : state_(state), by_value_(by_value) {}

  // Whether a module is an extension inside of a package that travels by value.
  bool is_one(PyObject* module) const;

  // The extension that has a class on the way of a type's, or of its metaclass's; null
  // if none has.
  PyObject* of_type(PyTypeObject* type);
  // The same for any object that one may have made; `name` is where a class is found.
  PyObject* of_object(PyObject* object, GlobalName& name);

  // The reducer's answer that makes a stand-in for what an extension made. `name`:
  // where it is found, if it is. The manifest gets the need.
  Ref stand_in(PyObject* object, PyObject* extension, const GlobalName& name,
               ImportCollector& imports) const;

  void forget_types() { of_types_.clear(); }

 private:
  const State& state_;
  const ModulesByValue& by_value_;
  std::map<PyObject*, std::pair<Ref, Ref>> of_types_;  // By the type: it, extension.
};

// Of modules by value that a body imports or names, that comes along with the function
// which its code can ask for: what the bytecode tells, or all. waybill._modules serves
// such modules where the payload arrives.
class ModuleNeeds {
 public:
  // All outlive this. `written`: what the payload has of the dicts of modules.
  ModuleNeeds(const State& state, const ModulesByValue& by_value,
              const Extensions& extensions, WrittenDicts& written)
      : state_(state),
        by_value_(by_value),
        extensions_(extensions),
        written_(written) {}

  void need_whole(PyObject* module) { entry(module).is_whole = true; }
  bool is_needed_whole(PyObject* module) { return entry(module).is_whole; }

  // What is needed of a module and not written: names, with their values.
  std::vector<std::pair<Ref, Ref>> unwritten(PyObject* module);

  // Counts how often a module is begun to be written. False where that has no end: what
  // it holds may put something new into it each time that it is looked at.
  bool begin(PyObject* module);

  // Modules that a function brings whose code has these needs: those of which a reader
  // has not all yet, in an order in which packages come first. Code of the packages in
  // `importing` may ask any name of what imports find of them: where it comes for one
  // name, it comes with all but modules by value.
  std::vector<Ref> modules_to_send(const std::vector<ModuleNeed>& needs,
                                   const std::vector<Ref>& importing);

  // Begins with what `first` has.
  void fork_from(const ModuleNeeds& first) {
    modules_ = first.modules_;
    asked_ = first.asked_;
    importing_ = first.importing_;
  }
  int traverse(visitproc visitor, void* arg) const;

 private:
  struct Module {
    Ref module;
    WrittenNames wanted;
    std::vector<Ref> waiting;  // Those of `wanted` that may be unwritten yet.
    bool is_whole = false;     // Code may ask for anything in it.
    Py_ssize_t begun = 0;      // How often it was begun to be written.
    Py_ssize_t size = 0;       // How many names it had when it was met.
    bool is_found = false;     // Imports find it at a reader.
    bool is_asked = false;     // For more than modules by value.
    bool is_complete = false;  // All but these is wanted.
  };
  Module& entry(PyObject* module);
  void want(Module& own, PyObject* name);
  bool is_by_value(PyObject* value) const;
  bool is_of_importing(PyObject* module) const;
  void complete(Module& own);
  void complete_importing(const std::vector<Ref>& importing);
  void want_of_submodules(PyObject* package, PyObject* name);
  std::vector<PyObject*> submodules_with(PyObject* package, PyObject* name) const;

  const State& state_;
  const ModulesByValue& by_value_;
  const Extensions& extensions_;
  WrittenDicts& written_;
  std::map<PyObject*, Module> modules_;
  std::vector<Ref> asked_;  // Some that code may come by, to be brought.
  std::vector<Ref> importing_;
};

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

// Methods of classes by value, and what they name. A package refers from nearly every
// class to nearly every other, and building what a method reaches may run code of the
// class that the method is of. So the methods of a class come first, without their
// globals, and then a function that nobody keeps, the carrier, brings what all of them
// name.
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
