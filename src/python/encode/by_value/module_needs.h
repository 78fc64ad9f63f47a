#pragma once

// Of modules by value that a body imports or names, that comes along with the function
// which its code can ask for: what the bytecode tells, or all. waybill._modules serves
// such modules where the payload arrives.

#include <Python.h>

#include <map>
#include <utility>
#include <vector>

#include "python/encode/by_value/extensions.h"
#include "python/encode/written_names.h"

namespace waybill::py {

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
  std::vector<Ref> modules_to_bring(const std::vector<ModuleNeed>& needs,
                                    const std::vector<Ref>& importing);

  // Begins with what `first` has.
  void go_on_after(const ModuleNeeds& first) {
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

}  // namespace waybill::py
