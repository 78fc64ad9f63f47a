#pragma once

// Collects the imports that a payload needs: the modules that its values refer to, and
// the submodules that its code reaches through modules. The collector imports nothing,
// reads no attribute of a module, and looks modules up in sys.modules by name only.

#include <Python.h>

#include <memory>
#include <optional>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "format/manifest_codec.h"
#include "python/runtime/memo.h"
#include "python/runtime/modules.h"
#include "python/runtime/state.h"
#include "python/walker/code_info.h"
#include "waybill/manifest.h"

namespace waybill::py {

class FunctionFlow;

// The instruction that needs an import; `info` is null for a need that no code shows.
struct CodePosition {
  const CodeInfo* info = nullptr;
  std::uint32_t offset = kNoIndex;
};

// An object that a value may be.
struct Target {
  Ref object;
  // Whether the value comes from an import statement in the body of a function. The
  // statement imports the module when the body runs, so `loads` must not import it
  // earlier.
  bool is_imported = false;
};

// A module that travels by value, and what code needs of it.
struct ModuleNeed {
  Ref module;
  std::vector<Ref> names;  // One entry for each use; names may repeat.
  bool is_whole = false;   // Code may use any name of the module.
};

// A look-up of a module attribute that decided whether an import is needed.
struct TracedStep {
  Ref package;    // Name of the module.
  Ref name;       // Name of the attribute.
  Ref full_name;  // `package.name`
  Ref found;      // Name of the module that the attribute was; null for anything else.
};

// A class whose attributes were looked up.
struct TracedType {
  Ref type;  // A weak reference.
  std::uint32_t version = 0;
};

// All look-ups of the walk, except those of values that the function itself names.
struct LookupTrace {
  std::vector<TracedStep> steps;
  std::vector<TracedType> types;
};

// A module that is needed, with the fields of its import record.
struct ModuleUse {
  Ref module;
  ImportTime time = ImportTime::kLoad;
  std::string chain, function, file;
  std::uint32_t line = 0;
};

// Code that is followed with the values of a function.
struct FollowedCode {
  PyObject* function;
  const CodeInfo* info;
};

class ImportCollector {
 public:
  // `by_value`: the modules that travel by value, which need no import; or null.
  ImportCollector(const State& state, PyObject* by_value);
  ~ImportCollector();

  // ---- Needs. Functions that return an index return that of the module's record,
  // which payloads refer to. All throw PyError.

  // Adds a record unless there is one for this module and time. Unlike
  // add_module_value(), it does not let the module escape.
  std::uint32_t add(PyObject* module, ImportTime time, std::string_view chain,
                    CodePosition position);
  // Adds the module of a global, which the receiver imports to find the global.
  std::uint32_t add_reference(PyObject* module, PyObject* path);
  // Adds a module that is a value: any code of the payload may get hold of it.
  std::uint32_t add_module_value(PyObject* module, PyObject* name);
  void add_lazy(const LazyTarget& target);

  // Adds a function that travels by value. finish() follows its code.
  void add_function(PyObject* function, const CodeInfo& info);
  // Adds code that evaluates annotations of a function. Annotations need nothing of
  // modules by value.
  void add_annotation(PyObject* function, const CodeInfo& info);
  // Follows `function` now if it is the last one added and its code has steps, so that
  // take_needs() includes what it needs of the script's module.
  void follow(PyObject* function);

  // The names, in modules by value and in the script's module, that the functions
  // followed since the last call need.
  std::vector<ModuleNeed> take_needs() { return std::exchange(needs_, {}); }

  // Top-level packages by value whose code, in the functions added so far, may import
  // modules of the package by computed names. The list only grows.
  const std::vector<Ref>& importing_packages() const { return importing_packages_; }

  // Starts as a copy of `first`, which must outlive this collector and is not finished.
  // This collector must be empty.
  void fork_from(const ImportCollector& first);

  // Follows the code. Call once, when all values are known.
  void finish();

  // The needs that finish() finds for code alone, when only data is added after
  // `first`. Collectors that fork from `first` add these needs even if the program has
  // changed since, and follow the functions of `first` again only if they have added
  // functions or module values of their own.
  using Needs = std::vector<ModuleUse>;
  void set_needs_of_code(Needs needs) { needs_of_code_ = std::move(needs); }
  // The needs of a finished fork, for set_needs_of_code().
  Needs needs_of_code() && { return std::move(uses_); }

  // ---- Definitions ---------------------------------------------------------------

  // Adds what a definition needs; returns the index of the record.
  std::uint32_t add_use(const ModuleUse& use);
  // Records, from now on, what a definition has to know of its imports: each module by
  // index, the modules that are values, and all code that has to be followed.
  void record_uses() { records_uses_ = true; }
  const std::vector<ModuleUse>& uses() const { return uses_; }
  const std::vector<Ref>& module_values() const { return module_values_; }
  std::vector<FollowedCode> followed_code() const;
  // Whether code was followed before all values were known.
  bool has_followed_early() const { return has_followed_early_; }

  // ---- The manifest --------------------------------------------------------------

  // Records that an object is replaced by another in the payload.
  void substitute(const Substitution& substitution) { manifest_.add(substitution); }

  // The first file that the manifest names; null if it names none. Valid until the next
  // record is added.
  std::string_view first_file() const { return manifest_.first_file(); }

  // Writes the section of the manifest.
  void encode(wire::Writer& out) const { manifest_.encode(out); }
  // Writes the names of all modules with their times: what a fingerprint covers.
  void write_names(wire::Writer& out) const;

  // ---- The trace, by which cached results are checked ----------------------------

  void start_tracing() { is_tracing_ = true; }
  // Whether trace() has all look-ups that were made since start_tracing().
  bool is_replayable() const { return is_tracing_ && is_replayable_; }
  const LookupTrace& trace() const { return trace_; }
  // Keys of the lists, dicts and instances that code was seen to read, which a cached
  // result has to compare. Drops the flows: nothing may be followed after this call.
  std::vector<std::uintptr_t> take_traced_containers();

  // ---- For FunctionFlow ----------------------------------------------------------

  void record_step(PyObject* package, PyObject* name, PyObject* found);
  // Records that an attribute, an item or all elements of `object` are read.
  void record_access(PyObject* object);
  // Called for a look-up that the trace cannot record.
  void mark_untraceable() { is_replayable_ = false; }

  // Code needs a module or, unless `name` is null, the object of that name in the
  // module. Ignored for modules that neither travel by value nor are the script's.
  void need(PyObject* module, PyObject* name);
  // Code may use any name of the module.
  void need_whole(PyObject* module);
  // Whether `object` imports modules by computed names, and modules by value exist.
  bool is_importer(PyObject* object) const {
    return import_module_ && object == import_module_.get();
  }
  // Records that code with these globals uses an importer.
  void record_importer(PyObject* globals);
  // Records a module that code passes to a use that the walk does not follow.
  void escape(PyObject* module, bool is_imported);
  const std::vector<Target>& escaped() const { return escaped_; }
  // Records that an import statement of some function body names this module.
  void record_body_import(std::string module) {
    body_imports_.insert(std::move(module));
  }
  bool is_body_import(const std::string& module) const {
    return body_imports_.count(module) != 0;
  }
  // Records that code of the payload stores into a global of this name, or into this
  // cell. Other code may then read an escaped module from it.
  void record_store(PyObject* name_or_cell) { stored_.insert(name_or_cell); }
  bool is_stored(PyObject* name_or_cell) const {
    return stored_.count(name_or_cell) != 0;
  }

 private:
  ModuleNeed* need_of(PyObject* module);
  bool is_by_value(PyObject* name) const {
    return by_value_ != nullptr && has_name_or_parent(by_value_, name);
  }
  void follow_flows();
  std::uint32_t add_new(PyObject* module,
                        const envelope::ManifestBuilder::Record& record);
  // Needs a package of this name and its parents, if they travel by value.
  void need_package(PyObject* name);
  void need_named_packages(PyObject* function, const CodeInfo& info);
  // The index of a record; kNoIndex if there is none.
  std::uint32_t find(PyObject* module, ImportTime time);

  struct WrittenRecord {
    Ref module;
    ImportTime time;
  };

  const State& state_;
  PyObject* by_value_;
  Ref import_module_;  // importlib.import_module; null without by_value_.
  std::vector<Ref> importing_packages_;  // See importing_packages().
  envelope::ManifestBuilder manifest_;
  std::vector<WrittenRecord> records_;
  Memo index_of_;  // By key_of_record(); the offset is the index of the record.
  std::vector<Target> escaped_;
  std::vector<ModuleNeed> needs_;
  std::unordered_set<std::string> body_imports_;
  std::unordered_set<PyObject*> stored_;
  std::vector<std::unique_ptr<FunctionFlow>> flows_;
  const ImportCollector* first_ = nullptr;  // See fork_from().
  std::optional<Needs> needs_of_code_;      // See set_needs_of_code().
  bool records_uses_ = false;
  std::vector<ModuleUse> uses_;
  std::vector<Ref> module_values_;
  bool has_followed_early_ = false;
  bool is_tracing_ = false;
  bool is_replayable_ = true;
  LookupTrace trace_;
  std::vector<Ref> traced_containers_;
};

// ---- Import statements in bodies: module_steps.cpp --------------------------------
//
// The manifest lists the modules of such statements as needed when called. A module
// that is not loaded has no value.

// The module of an import statement in a function's code, as an absolute name; null if
// the function's package is not known.
Ref absolute_name(const State& state, PyObject* function, const CodeInfo& info,
                  const BodyImport& statement);

// Records all import statements of one code object of a function.
void record_body_imports(const State& state, ImportCollector& imports,
                         PyObject* function, const CodeInfo& info);

// The module that an import statement binds; null if the module is not loaded.
PyObject* imported_module(const State& state, PyObject* function, const CodeInfo& info,
                          const BodyImport& statement);

}  // namespace waybill::py
