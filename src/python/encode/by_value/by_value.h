#pragma once

// Modules that travel by value, and the parts of them that a payload contains.

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
// those that the caller has named, their submodules, and the local modules that their
// code uses, which are added during the walk.
class ModulesByValue {
 public:
  // `names`: a set of str, borrowed; or null.
  ModulesByValue(const State& state, PyObject* names) : state_(state), names_(names) {}

  // Whether the caller has named any modules.
  bool any() const { return names_ != nullptr; }
  PyObject* names() const { return names_; }

  // Whether functions, classes and objects of a module travel by value.
  bool has(PyObject* module) const;
  bool has_name(PyObject* name) const {
    return names_ != nullptr && has_name_or_parent(names_, name);
  }
  // Whether only those parts of a module travel that code needs: a module by value, or
  // the script's module, which is a different module at the receiver.
  bool is_sent_in_parts(PyObject* module) const {
    return is_script(state_, module) || has(module);
  }
  // The module by value with these globals; null if there is none.
  PyObject* module_with_globals(PyObject* globals) const;

  // Adds a local module, or that of a function or class, to which a module by value
  // refers. May run Python code, so the caller must hold `object`.
  void add_module_of(PyObject* object);
  // add_module_of() for all globals and imports of a function of a module by value.
  void add_modules_of_code(PyObject* function, const CodeInfo& info);

 private:
  void add_imported(PyObject* name);
  void add_imported(PyObject* function, const CodeInfo& info);

  const State& state_;
  PyObject* names_;
};

// Extension modules in packages by value, and the objects that they make. An extension
// does not travel, and the receiver cannot import it. A class cannot be sent if an
// extension has one of its bases. Other objects become stand-ins, which raise an error
// when they are used.
class Extensions {
 public:
  // Both must outlive this.
  Extensions(const State& state, const ModulesByValue& by_value)
      : state_(state), by_value_(by_value) {}

  // Whether a module is an extension in a package that travels by value.
  bool is_extension(PyObject* module) const;

  // The extension that has a class in the MRO of a type or of its metaclass; null if
  // none has.
  PyObject* extension_of_type(PyTypeObject* type);
  // extension_of_type() for any object; sets `name` to the place of a class.
  PyObject* extension_of(PyObject* object, GlobalName& name);

  // A reduction that makes a stand-in for an object of an extension. `name`: its place,
  // if it has one. Adds the extension to the manifest.
  Ref stand_in(PyObject* object, PyObject* extension, const GlobalName& name,
               ImportCollector& imports) const;

  void clear_types() { of_types_.clear(); }

 private:
  const State& state_;
  const ModulesByValue& by_value_;
  std::map<PyObject*, std::pair<Ref, Ref>> of_types_;  // {type: (type, extension)}
};

// The parts of modules by value that functions need: the names that their bytecode
// shows, or all. They are sent with the first function that needs them, and
// waybill._modules.by_value imports them at the receiver.
class ModuleNeeds {
 public:
  // All must outlive this.
  ModuleNeeds(const State& state, const ModulesByValue& by_value,
              const Extensions& extensions, WrittenDicts& written)
      : state_(state),
        by_value_(by_value),
        extensions_(extensions),
        written_(written) {}

  void need_whole(PyObject* module) { entry(module).is_whole = true; }
  bool is_needed_whole(PyObject* module) { return entry(module).is_whole; }

  // The needed names of a module that are not written, with their values.
  std::vector<std::pair<Ref, Ref>> unwritten(PyObject* module);

  // Counts how often writing of a module has started. False if writing would not end,
  // because reducers add names to the module each time.
  bool begin(PyObject* module);

  // The modules that a function with these needs has to send, because some needed names
  // are not written; packages come first. Code of the packages in `importing` may read
  // any name of a module that it imports: if one name of such a module is sent, all
  // names are sent except those of modules by value.
  std::vector<Ref> modules_to_send(const std::vector<ModuleNeed>& needs,
                                   const std::vector<Ref>& importing);

  // Starts as a copy of `first`.
  void fork_from(const ModuleNeeds& first) {
    modules_ = first.modules_;
    further_modules_ = first.further_modules_;
    importing_packages_ = first.importing_packages_;
  }
  int traverse(visitproc visitor, void* arg) const;

 private:
  struct Module {
    Ref module;
    WrittenNames wanted;
    std::vector<Ref> waiting;     // Names of `wanted` that may not be written yet.
    bool is_whole = false;        // Code may use any name of the module.
    Py_ssize_t begin_count = 0;   // Number of calls of begin().
    Py_ssize_t size = 0;          // Number of names when it was added.
    bool is_sent = false;         // It was sent, so the receiver can import it.
    bool wants_own_name = false;  // It wants a name whose value is no module by value.
    bool is_complete = false;  // All names except those of modules by value are wanted.
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
  std::vector<Ref> further_modules_;  // Further modules for the next modules_to_send().
  std::vector<Ref> importing_packages_;
};

// A global that the code of a function uses, and the turn in which its value is
// written.
struct Global {
  const GlobalUse* use;
  Ref value;
  int turn;
};

// The globals and modules that travel with a function.
struct NamedValues {
  // Globals that are neither written nor being written, in order of their turns.
  std::vector<Global> globals;
  // Modules by value with names that the code needs and that are not written.
  std::vector<Ref> modules;

  void sort_by_turn();
};

// Defers the globals of methods of classes in modules by value. Building the value of a
// global may run code of the class whose method uses it. So the methods of a class are
// written first, without their globals. Then follows the carrier, a function that
// readers discard, with the globals of all methods.
class DeferredGlobals {
 public:
  // All must outlive this.
  DeferredGlobals(const State& state, const ModulesByValue& by_value,
                  const WalkStack& stack)
      : state_(state), by_value_(by_value), stack_(stack) {}

  // The attributes of a class, with a carrier after the methods if globals may have to
  // be deferred.
  Ref with_carrier(PyObject* type, const Ref& attributes);

  // Whether `object` is the carrier of the innermost class that is being written, whose
  // methods are then all written.
  bool closes_class(PyObject* object) {
    if (of_classes_.empty() || !PyFunction_Check(object)) return false;
    const DeferredValues* deferred = innermost();
    return deferred != nullptr && deferred->carrier.get() == object &&
           !deferred->is_closed;
  }
  // The replacement for the carrier: `reduction`, which contains the carrier, or only
  // `name`, if `reduction` is null.
  struct CarrierReplacement {
    Ref name, reduction;
  };
  CarrierReplacement close_class();

  // For a method, moves the globals and modules in `named` to the deferred ones, unless
  // all methods of its class are written. For a carrier, sets `named` to the deferred
  // ones that are not in `written`.
  void arrange(PyFunctionObject* function, NamedValues& named, WrittenNames& written);

  void clear() { of_classes_.clear(); }

 private:
  // The deferred globals and modules of one class.
  struct DeferredValues {
    Ref carrier;
    NamedValues named;
    bool is_closed = false;
  };
  DeferredValues* innermost();  // That of the innermost class, or null.
  Ref new_carrier(PyObject* attributes) const;

  const State& state_;
  const ModulesByValue& by_value_;
  const WalkStack& stack_;
  std::map<PyObject*, DeferredValues> of_classes_;
};

}  // namespace waybill::py
