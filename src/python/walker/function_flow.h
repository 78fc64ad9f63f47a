#pragma once

// What the values of a function's code may be, and which submodules the code reaches.

#include <Python.h>

#include <memory>
#include <vector>

#include "python/runtime/state.h"
#include "python/walker/code_info.h"
#include "python/walker/import_collector.h"

namespace waybill::py {

struct Scope;

// A display made by the code itself.
struct Pack {
  const Scope* scope;
  ValueId value;
};

// What one value may be.
struct Facts {
  std::vector<Fact> objects;
  std::vector<Pack> packs;
  bool unknown = false;  // It may be anything else as well.

  void add(PyObject* object, bool imported);
  // Whether anything came to it. Beyond some hundreds of objects it is known well
  // enough.
  bool merge(const Facts& from);
};

// One code object of the function.
struct Scope {
  const CodeInfo* info;
  const Scope* outer;        // Null for the function's own code.
  std::uint32_t constant;    // Its index in the constants of `outer`.
  std::vector<Facts> facts;  // By ValueId.
};

// The function's own code first.
using Scopes = std::vector<std::unique_ptr<Scope>>;

// Attributes that are asked for by names which are data: getattr under another name,
// attrgetter, vars(module)["name"], functools.reduce(getattr, …). Where a module goes
// into a call in code that can do such a thing, the code's text constants count as
// names.
class DataNames {
 public:
  // Both must outlive this; `scopes` are there when it is first asked.
  DataNames(PyFunctionObject* function, const Scopes& scopes)
      : function_(function), scopes_(scopes) {}

  // Whether the code can look attributes up by such names, and has any.
  bool are_read();
  // All of them, whether or not they are read.
  const std::vector<Ref>& all();

 private:
  void add(PyObject* constant, int depth);

  PyFunctionObject* function_;
  const Scopes& scopes_;
  std::vector<Ref> names_;  // Once asked for.
  bool has_names_ = false;
};

// Follows the values of one function through its code and all code nested in it, with
// the real values of its globals, cells and defaults, and reports which submodules the
// code reaches.
class FunctionFlow {
 public:
  // `function` and `info` must outlive this; so they do while a payload is made.
  FunctionFlow(const State& state, ImportCollector& imports, PyObject* function,
               const CodeInfo& info);

  // Finds what it can with the modules that have escaped so far. Throws PyError.
  void follow();

  // What it was made for.
  PyObject* function() const { return as_object(function_); }
  const CodeInfo& info() const { return *scopes_[0]->info; }

  // Whether the code gets from one value to another at all.
  bool has_steps() const { return scopes_[0]->info->has_steps; }

  // Whether the code can look attributes up by names that are data: getattr under any
  // name, attrgetter, vars and the like.
  bool reads_names() { return names_.are_read(); }

  // Whether the code asks attributes of values that it does not know.
  bool asks_unknown() const { return asks_unknown_; }

 private:
  void add_scopes(const CodeInfo& info);
  bool pass();
  // Whether more is known of the value than before.
  bool evaluate(Scope& scope, ValueId id);
  Facts facts_of(Scope& scope, ValueId id);

  Facts global(const Scope& scope, const Value& value) const;
  Facts parameter(const Scope& scope, std::uint32_t index);
  Facts variable(const Scope& scope, const Value& value);
  Facts attribute(const Scope& scope, ValueId id, const Value& value);
  Facts getattr(const Scope& scope, ValueId id, const Value& value);
  Facts item(const Scope& scope, ValueId id, const Value& value);
  Facts element(const Scope& scope, const Value& value) const;

  // The owner of a variable: the scope, here or further out, whose cell it is; null if
  // it comes with the function's closure.
  const Scope* owner_of(const Scope& scope, std::uint32_t local) const;
  PyObject* default_of(std::uint32_t parameter) const;
  bool is_default_of(const Scope& scope, const Default& value,
                     std::uint32_t parameter) const;

  bool is_hook_of(PyObject* globals) const;
  void note_importer(PyObject* object);
  void attribute_of(const Scope& scope, ValueId id, const Fact& from, PyObject* name,
                    Facts& result);
  void item_of(const Scope& scope, ValueId id, const Fact& from, const Facts& keys,
               Facts& result);
  void note_stores(const Scope& scope);
  PyObject* closure_cell(PyObject* name) const;
  void escape(const Facts& facts);

  // The code asks an unknown value, which any module may be that has escaped.
  void step_from_escaped(const Scope& scope, ValueId id, PyObject* name, Facts& result);

  // module_steps.cpp: one attribute step from a module, to what its dict has under
  // `name`, which is recorded if it is a module; and the same from the placeholder of a
  // lazy import. `id` is the value of the code in `scope` that makes the step.
  void step(const Scope& scope, ValueId id, const Fact& from, PyObject* name,
            Facts& result);
  void step_from_placeholder(const Scope& scope, ValueId id, const Fact& from,
                             PyObject* name, Facts& result);
  bool take_placeholder(PyObject* found, PyObject* whole, bool imported, Facts& result);
  // Records a module as needed at load, unless a statement of the body imports it.
  void record(const Scope& scope, ValueId id, PyObject* module, bool imported);
  void record_unlisted(const Scope& scope, ValueId id, PyObject* found, PyObject* whole,
                       bool imported);
  void record_pending(const Scope& scope, ValueId id, PyObject* module);

  // Every module that such names lead to from this one.
  void escape_to_names(const Scope& scope, ValueId id, const Fact& from);

  const State& state_;
  ImportCollector& imports_;
  PyFunctionObject* function_;
  Scopes scopes_;
  DataNames names_;
  bool asks_unknown_ = false;
  bool needs_rounds_ = false;
};

}  // namespace waybill::py
