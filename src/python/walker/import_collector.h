#pragma once

// Gathers the imports that a payload needs: the modules its values refer to, and the
// submodules that its code reaches through modules. Nothing is imported, no attribute
// of a module is asked for, and sys.modules is only ever looked into by name.

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

// Where a need shows in code; a null info means that it does not.
struct CodeSpot {
  const CodeInfo* info = nullptr;
  std::uint32_t offset = kNoIndex;
};

// An object that a value may be.
struct Fact {
  Ref object;
  // Reached from an import statement of a body: what such statements import is there
  // when the body goes on, and must not be imported before.
  bool imported = false;
};

// A module that travels by value, and what code needs of it.
struct ModuleNeed {
  Ref module;
  std::vector<Ref> names;  // Each as often as it was met.
  bool is_whole = false;   // Code may ask for anything in it.
};

// An import that code was found to need.
struct CodeNeed {
  Ref module;
  ImportTime time;
  std::string chain;
  CodeSpot spot;
};

// A look at an attribute of a module that decided over an import.
struct SeenStep {
  Ref package;  // The module's name,
  Ref name;     // the attribute's,
  Ref whole;    // and both, with a dot.
  Ref found;    // The name of the module that was there; null if it was none.
};

// A class whose attributes were looked at.
struct SeenType {
  Ref type;  // A weak reference.
  std::uint32_t version = 0;
};

// All that was looked up besides the values that a function names.
struct SeenWorld {
  std::vector<SeenStep> steps;
  std::vector<SeenType> types;
};

// A module that values of a definition need, as the manifest tells it.
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
  // `by_value`: the modules that travel themselves, and need no import; or null.
  ImportCollector(const State& state, PyObject* by_value);
  ~ImportCollector();

  // Each notes a need, and answers the index of the module's record where the payload
  // refers to it. Throws PyError.

  // Adds a record unless module and time are there already. Of a module that one name
  // of a function means, only what the code does with it counts.
  std::uint32_t add(PyObject* module, ImportTime time, std::string_view chain,
                    CodeSpot spot);
  // A global that is found again by import of this module.
  std::uint32_t reference(PyObject* module, PyObject* path);
  // A module among the values: any code of the payload may get hold of it.
  std::uint32_t module_value(PyObject* module, PyObject* name);
  void lazy(const LazyTarget& target);

  // A function that travels by value: what its code does is followed in finish().
  void function(PyObject* function, const CodeInfo& info);
  // The same for what its annotations name, which brings nothing of modules by value.
  void annotation(PyObject* function, const CodeInfo& info);
  // Follows the last function now, if it is this one and has something to follow, so
  // that take_needs() has what it needs of the script's module.
  void follow(PyObject* function);

  // What the functions that came since the last call, and that were followed, need of
  // modules by value and of the script's.
  std::vector<ModuleNeed> take_needs() { return std::exchange(needs_, {}); }

  // Top-level packages by value whose code, of the functions that came so far, may
  // import modules of theirs by names that it computes. It only grows.
  const std::vector<Ref>& importing() const { return importing_; }

  // Begins with what another collector has, which outlives this and is not finished.
  // Nothing is noted here yet.
  void fork_from(const ImportCollector& first);

  // Follows the code. Call once, when all values are known.
  void finish();

  // What finish() came to where nothing but data was added after `first`: what code
  // needs whatever else is there. Collectors that go on after `first` add these needs,
  // even if the program has changed since, and follow its functions only if they have
  // brought functions or modules of their own.
  using Needs = std::vector<CodeNeed>;
  void set_needs_of_code(Needs needs) { needs_of_code_ = std::move(needs); }
  // Of this collector, which has gone on after another and is finished.
  Needs needs_of_code() && { return std::move(found_); }

  // Notes what a definition needs; answers as add() does.
  std::uint32_t use(const ModuleUse& use);
  // What was noted so far: each module by its index, those that are values, and all
  // code that is to be followed. Noted from the call of note_uses() on.
  void note_uses() { notes_uses_ = true; }
  const std::vector<ModuleUse>& uses() const { return uses_; }
  const std::vector<Ref>& module_values() const { return module_values_; }
  std::vector<FollowedCode> followed_code() const;
  // Whether code was followed before all values were known.
  bool has_followed() const { return has_followed_; }

  // Notes that something does not travel as it is.
  void substitute(const Substitution& substitution) { manifest_.add(substitution); }

  // The first file that the manifest names; null if it names none. Valid until more is
  // added.
  std::string_view first_file() const { return manifest_.first_file(); }

  // The manifest's section.
  void encode(wire::Writer& out) const { manifest_.encode(out); }
  // Names of all modules with their times, which is what a fingerprint covers.
  void write_names(wire::Writer& out) const;

  // What was looked up besides the values that functions name, for what is kept; noted
  // from the call of trace() on. `can_be_repeated`: it was nothing but seen().
  void trace() { traces_ = true; }
  bool can_be_repeated() const { return traces_ && can_be_repeated_; }
  const SeenWorld& seen() const { return seen_; }
  // Lists, dicts, instances and the like that code was seen to look into: what is kept
  // has to compare them. Answers their keys, and lets go of all that code was seen to
  // mean: nothing may be followed after that.
  std::vector<std::uintptr_t> let_go_of_containers();

  // ---- For FunctionFlow ----------------------------------------------------------

  void note_step(PyObject* package, PyObject* name, PyObject* found);
  // A look into a value: at an attribute, an item or all elements.
  void note_look(PyObject* object);
  // Something was looked up that is not noted.
  void note_other() { can_be_repeated_ = false; }

  // Code needs a module, and what it has under a name or, if that is null, nothing
  // more. Only modules by value are noted.
  void need(PyObject* module, PyObject* name);
  // Code may ask for anything in it.
  void need_whole(PyObject* module);
  // Whether code that has this object may import modules by names that it computes, and
  // modules by value are asked for.
  bool is_importer(PyObject* object) const {
    return import_module_ && object == import_module_.get();
  }
  // Code with these globals may.
  void note_importer(PyObject* globals);
  // A module that code hands to something that is not followed.
  void escape(PyObject* module, bool imported);
  const std::vector<Fact>& escaped() const { return escaped_; }
  // An import statement of any body names this module.
  void note_body_import(std::string module) { body_imports_.insert(std::move(module)); }
  bool is_body_import(const std::string& module) const {
    return body_imports_.count(module) != 0;
  }
  // Code of the payload stores into a global of this name, or into this cell: it may
  // hold what escaped by the time other code reads it.
  void note_store(PyObject* name_or_cell) { stored_.insert(name_or_cell); }
  bool is_stored(PyObject* name_or_cell) const {
    return stored_.count(name_or_cell) != 0;
  }

 private:
  ModuleNeed* need_of(PyObject* module);
  void follow_flows();
  std::uint32_t add_new(PyObject* module,
                        const envelope::ManifestBuilder::Record& record);
  // A package of this name and those around it, if they travel by value.
  void need_package(PyObject* name);
  void need_named_packages(PyObject* function, const CodeInfo& info);
  // The index of a record; kNoIndex if there is none.
  std::uint32_t find(PyObject* module, ImportTime time);

  const State& state_;
  PyObject* by_value_;
  Ref import_module_;           // Of importlib; null without modules by value.
  std::vector<Ref> importing_;  // See importing().
  // A record that was written: 1 + its index is the memo's number.
  struct Known {
    Ref module;
    ImportTime time;
  };
  envelope::ManifestBuilder manifest_;
  std::vector<Known> known_;
  Memo index_of_;  // By hash of the name, and the time; see find().
  std::vector<Fact> escaped_;
  std::vector<ModuleNeed> needs_;
  std::unordered_set<std::string> body_imports_;
  std::unordered_set<PyObject*> stored_;
  std::vector<std::unique_ptr<FunctionFlow>> flows_;
  // Of fork_from(). `needs_of_code_` and `found_`: see set_needs_of_code().
  const ImportCollector* first_ = nullptr;
  std::optional<Needs> needs_of_code_;
  Needs found_;
  bool finds_ = false;
  bool notes_uses_ = false;
  std::vector<ModuleUse> uses_;
  std::vector<Ref> module_values_;
  bool has_followed_ = false;
  bool traces_ = false;
  bool can_be_repeated_ = true;
  SeenWorld seen_;
  std::vector<Ref> seen_containers_;
};

// ---- Import statements in bodies, listed as needed when called: body_imports.cpp
// -----
//
// Nothing is imported; a module that nobody has loaded has no value.

// The module of an import statement in a function's code, as an absolute name; null if
// the function's package is not known.
Ref absolute_name(const State& state, PyObject* function, const CodeInfo& info,
                  const BodyImport& statement);

// Notes all statements of one code object of a function.
void note_body_imports(const State& state, ImportCollector& imports, PyObject* function,
                       const CodeInfo& info);

// The module that the body goes on with behind a statement; null if it is not loaded.
PyObject* imported_module(const State& state, PyObject* function, const CodeInfo& info,
                          const BodyImport& statement);

}  // namespace waybill::py
