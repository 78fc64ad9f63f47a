#pragma once

// Follows the values of one function through its code and all code nested in it, with
// the real values of its globals, cells and defaults, and reports which submodules the
// code reaches.

#include <Python.h>

#include "python/discovery/code_info.h"
#include "python/discovery/data_names.h"
#include "python/discovery/facts.h"
#include "python/discovery/import_collector.h"
#include "python/discovery/module_steps.h"
#include "python/runtime/state.h"

namespace waybill::py {

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

  // Every module that such names lead to from this one.
  void escape_to_names(const Scope& scope, ValueId id, const Fact& from);
  static Py_ssize_t index_of(const Facts& keys, std::size_t count);

  const State& state_;
  ImportCollector& imports_;
  ModuleSteps steps_;
  PyFunctionObject* function_;
  Scopes scopes_;
  DataNames names_;
  bool asks_unknown_ = false;
  bool needs_rounds_ = false;
};

}  // namespace waybill::py
