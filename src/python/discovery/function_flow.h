#pragma once

// Follows the values of one function through its code and all code nested in it, with
// the real values of its globals, cells and defaults, and reports which submodules the
// code reaches.

#include <Python.h>

#include <memory>
#include <string>
#include <unordered_set>
#include <vector>

#include "python/discovery/code_info.h"
#include "python/discovery/import_collector.h"
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
  PyObject* function() const { return reinterpret_cast<PyObject*>(function_); }
  const CodeInfo& info() const { return *scopes_[0]->info; }

  // Whether the code gets from one value to another at all.
  bool has_steps() const { return scopes_[0]->info->has_steps; }

  // Whether the code can look attributes up by names that are data: getattr under any
  // name, attrgetter, vars and the like.
  bool reads_names();

  // Whether the code asks attributes of values that it does not know.
  bool asks_unknown() const { return asks_unknown_; }

 private:
  struct Scope;
  struct Pack {
    const Scope* scope;
    ValueId value;
  };
  // What is known of a value.
  struct Facts {
    std::vector<Fact> objects;
    std::vector<Pack> packs;  // Displays made by the code itself.
    bool unknown = false;     // It may be anything else as well.
  };
  // One code object of the function.
  struct Scope {
    const CodeInfo* info;
    const Scope* outer;        // Null for the function's own code.
    std::uint32_t constant;    // Its index in the constants of `outer`.
    std::vector<Facts> facts;  // By ValueId.
  };

  void add_scopes(const CodeInfo& info);
  void note_body_imports(const Scope& scope);
  void need(PyObject* module_name, PyObject* name);
  bool pass();
  bool evaluate(Scope& scope, ValueId id);

  Facts global(const Scope& scope, const Value& value) const;
  Facts parameter(const Scope& scope, std::uint32_t index);
  Facts variable(const Scope& scope, const Value& value);
  Facts body_import(const Scope& scope, const Value& value) const;
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

  // One attribute step from a module: what the module's dict has under `name`, recorded
  // if that is a module.
  void step(const Scope& scope, ValueId id, const Fact& from, PyObject* name,
            Facts& result);
  bool is_hook_of(PyObject* module) const;
  void attribute_of(const Scope& scope, ValueId id, const Fact& from, PyObject* name,
                    Facts& result);
  void item_of(const Scope& scope, ValueId id, const Fact& from, const Facts& keys,
               Facts& result);
  void record(const Scope& scope, ValueId id, PyObject* module, bool imported);
  void note_stores(const Scope& scope);
  PyObject* closure_cell(PyObject* name) const;
  void escape(const Facts& facts);

  // Every module that such names lead to from this one.
  void escape_to_names(const Scope& scope, ValueId id, const Fact& from);
  const std::vector<Ref>& texts();
  void add_texts(PyObject* constant, int depth);

  std::string chain(const Scope& scope, ValueId id) const;

  static Py_ssize_t index_of(const Facts& keys, std::size_t count);
  static bool merge(Facts& into, const Facts& from);
  static void add_object(Facts& facts, PyObject* object, bool imported);

  const State& state_;
  ImportCollector& imports_;
  PyFunctionObject* function_;
  std::vector<std::unique_ptr<Scope>> scopes_;
  bool asks_unknown_ = false;
  bool needs_rounds_ = false;
  std::vector<Ref> texts_;  // Names among the text constants, once asked for.
  bool has_texts_ = false;
};

// The module of an import statement in a function's code, as an absolute name; null if
// the function's package is not known.
Ref absolute_name(const State& state, PyObject* function, const CodeInfo& info,
                  const BodyImport& statement);

}  // namespace waybill::py
