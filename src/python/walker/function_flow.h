#pragma once

// Follows the values of a function through its code, and finds the submodules that the
// code reaches.

#include <Python.h>

#include <memory>
#include <vector>

#include "python/runtime/state.h"
#include "python/walker/code_info.h"
#include "python/walker/import_collector.h"

namespace waybill::py {

struct Scope;

// A tuple, list, set or dict that the code itself builds.
struct Pack {
  const Scope* scope;
  ValueId value;
};

// The objects that one value may be.
struct PointsToSet {
  std::vector<Target> objects;
  std::vector<Pack> packs;
  bool is_unknown = false;  // The value may be any other object as well.

  void add(PyObject* object, bool is_imported);
  // Returns whether the set has grown. Its size is bounded.
  bool merge(const PointsToSet& from);
};

// The function's own code object, or one nested in it.
struct Scope {
  const CodeInfo* info;
  const Scope* outer;                  // Null for the function's own code.
  std::uint32_t constant;              // Index of the code in the constants of `outer`.
  std::vector<PointsToSet> points_to;  // By ValueId.
};

// The function's own code first.
using Scopes = std::vector<std::unique_ptr<Scope>>;

// Names of attributes that are data: arguments of attrgetter or of getattr under
// another name, vars(module)["name"], functools.reduce(getattr, …). If code that can do
// such a thing passes a module to a call, all text constants of the code count as
// names.
class DataNames {
 public:
  // Both must outlive this. `scopes` may be filled later, before the first query.
  DataNames(PyFunctionObject* function, const Scopes& scopes)
      : function_(function), scopes_(scopes) {}

  // Whether the code has such names and can look attributes up by them.
  bool are_read();
  // All names, whether or not the code can use them.
  const std::vector<Ref>& all();

 private:
  void add(PyObject* constant, int depth);

  PyFunctionObject* function_;
  const Scopes& scopes_;
  std::vector<Ref> names_;  // Filled by the first query.
  bool has_names_ = false;
};

// Follows the values of one function through its code and all nested code. Globals,
// cells and defaults have their real values. Reports the submodules that the code
// reaches to an ImportCollector.
class FunctionFlow {
 public:
  // `function` and `info` must outlive this.
  FunctionFlow(const State& state, ImportCollector& imports, PyObject* function,
               const CodeInfo& info);

  // Follows the code with the modules that have escaped so far. Throws PyError.
  void follow();

  PyObject* function() const { return as_object(function_); }
  const CodeInfo& info() const { return *scopes_[0]->info; }

  // See CodeInfo::has_steps.
  bool has_steps() const { return scopes_[0]->info->has_steps; }

  // Whether the code can look attributes up by DataNames.
  bool reads_names() { return names_.are_read(); }

  // Whether the code reads attributes of unknown values.
  bool reads_unknown() const { return reads_unknown_; }

 private:
  void add_scopes(const CodeInfo& info);
  bool run_pass();
  // Merges what evaluate() finds into the set of a value; returns whether it has grown.
  bool update(Scope& scope, ValueId id);
  PointsToSet evaluate(Scope& scope, ValueId id);

  PointsToSet evaluate_global(const Scope& scope, const Value& value) const;
  PointsToSet evaluate_parameter(const Scope& scope, std::uint32_t index);
  PointsToSet evaluate_variable(const Scope& scope, const Value& value);
  PointsToSet evaluate_attribute(const Scope& scope, ValueId id, const Value& value);
  PointsToSet evaluate_getattr(const Scope& scope, ValueId id, const Value& value);
  PointsToSet evaluate_item(const Scope& scope, ValueId id, const Value& value);
  PointsToSet evaluate_element(const Scope& scope, const Value& value) const;

  // The scope, this or an outer one, that owns the cell of a variable; null if the cell
  // belongs to the function's closure.
  const Scope* owner_of(const Scope& scope, std::uint32_t local) const;
  PyObject* default_of(std::uint32_t parameter) const;
  bool is_default_of(const Scope& scope, const Default& value,
                     std::uint32_t parameter) const;

  bool is_hook_of(PyObject* globals) const;
  void record_importer(PyObject* object);
  void read_attribute(const Scope& scope, ValueId id, const Target& from,
                      PyObject* name, PointsToSet& result);
  void read_item(const Scope& scope, ValueId id, const Target& from,
                 const PointsToSet& keys, PointsToSet& result);
  void record_stores(const Scope& scope);
  PyObject* closure_cell(PyObject* name) const;
  void escape(const PointsToSet& escaping);

  // Reads an attribute of an unknown value, which may be any module that has escaped.
  void step_from_escaped(const Scope& scope, ValueId id, PyObject* name,
                         PointsToSet& result);

  // ---- module_steps.cpp; `id` is the value of the code in `scope` that makes the step

  // Steps from a module to what its dict has under `name`, and records that if it is a
  // module.
  void step(const Scope& scope, ValueId id, const Target& from, PyObject* name,
            PointsToSet& result);
  // step() from the placeholder of a lazy import.
  void step_from_placeholder(const Scope& scope, ValueId id, const Target& from,
                             PyObject* name, PointsToSet& result);
  bool resolve_placeholder(PyObject* found, PyObject* full_name, bool is_imported,
                           PointsToSet& result);
  // Records a module as needed at load, unless a statement of the body imports it.
  void record(const Scope& scope, ValueId id, PyObject* module, bool is_imported);
  void record_unlisted(const Scope& scope, ValueId id, PyObject* found,
                       PyObject* full_name, bool is_imported);
  void record_pending(const Scope& scope, ValueId id, PyObject* module);

  // Steps from a module to every module that DataNames lead to.
  void escape_to_names(const Scope& scope, ValueId id, const Target& from);

  const State& state_;
  ImportCollector& imports_;
  PyFunctionObject* function_;
  Scopes scopes_;
  DataNames names_;
  bool reads_unknown_ = false;
  bool needs_iteration_ = false;
};

}  // namespace waybill::py
