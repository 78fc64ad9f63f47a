#pragma once

// What a function became when it was last sent, to be sent again as it is.

#include <Python.h>

#include <memory>
#include <vector>

#include "python/ref.h"
#include "python/state.h"
#include "waybill/bytes.h"

namespace waybill::py {

struct CodeInfo;
class ImportCollector;

// A look at an attribute of a module that decided over an import.
struct SeenStep {
  Ref package;  // The module's name,
  Ref name;     // the attribute's,
  Ref whole;    // and both, with a dot.
  Ref found;    // The name of the module that was there; null if it was none.
};

// The envelope of a function that is nothing but its code and the modules it names, and
// all that was looked up in the world to make it. Hangs on the code object and holds
// nothing but text: no module, no globals, no function.
class SentFunction {
 public:
  // What a function names, looked up before it is encoded. Null if that is more than
  // modules, or if the function is more than its code.
  static std::unique_ptr<SentFunction> look(const State& state, PyObject* function,
                                            const CodeInfo& info);

  // What it became. False if more was looked up meanwhile than can be looked up again,
  // or if anything has changed.
  bool complete(const State& state, PyObject* function, const ImportCollector& imports,
                BytesView envelope);

  // Whether this function, which has the same code, would become the same: every
  // look-up is made again. Cost: a few dict look-ups for each module and step.
  bool fits(const State& state, PyObject* function) const;

  BytesView envelope() const { return envelope_; }

 private:
  // Whether the function has no closure, defaults, annotations or attributes, and calls
  // itself what its code does: what it becomes depends on its code and on modules.
  static bool is_bare(PyObject* function);

  struct Global {
    Ref name;
    Ref module;  // The name of the module that it means; null if there is none.
  };

  std::vector<std::uint8_t> envelope_;
  Ref own_name_, package_;  // __name__ and __package__ of the globals; may be null.
  bool is_package_ = false;
  bool is_of_made_up_module_ = false;
  std::vector<Global> globals_;
  std::vector<SeenStep> steps_;
};

}  // namespace waybill::py
