#pragma once

// One payload while it is written: all that codecs see of the encoder, which walks the
// object graph and calls them. Each part has its state for itself.

#include <Python.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "python/encode/array_views.h"
#include "python/encode/by_value/by_value.h"
#include "python/encode/code/code_encoder.h"
#include "python/encode/definitions/payload_definitions.h"
#include "python/encode/namespaces.h"
#include "python/encode/stored_buffers.h"
#include "python/encode/walk_record.h"
#include "python/encode/written_objects.h"
#include "python/runtime/arena.h"
#include "python/runtime/identity.h"

namespace waybill::py {

struct EncodeOptions {
  // Write the root function by value even if it could be imported.
  bool root_by_value = false;
  // An object that cannot travel is passed over: there will be no payload.
  bool passes_over = false;
  // Classes are known by their content alone.
  bool names_no_ids = false;
  // It is encoded to stand among the definitions of payloads.
  bool is_definition = false;
  // Those of the encoder that the definition is for, borrowed; null in other payloads.
  CodeInfos* infos = nullptr;
  // Of a class by value only its id is written: for hashes of what refers to classes.
  bool only_names_classes = false;
  // Code counts as its source, and what only one Python has does not count: for ids of
  // classes that all Pythons agree on.
  bool by_source = false;
  // Told of each object, if there is one; borrowed.
  WalkRecord* record = nullptr;
  // What ArrayViews::plan() gave, borrowed; null the first time.
  PyObject* array_plan = nullptr;
  EncodeHooks hooks{};
};

// What paths call the root: a function or class by its name, all else "obj".
std::string name_of_root(PyObject* root);
// "sqlite3.Connection"; types that are built in by their own name.
std::string full_name_of_type(const State& state, PyObject* object);
// Why an object cannot travel, by the exception that says so.
std::string reason_of(const State& state, PyObject* raised);
// What to do about an object that cannot travel for this reason; may be empty. `path`:
// the expression for it, or empty; types that have no name are told by that.
std::string remedy_of(State& state, PyObject* object, const std::string& reason,
                      const std::string& path);

// What an envelope has besides its payload, while the payload is written.
struct OtherSections {
  CodeInfos& infos;
  CodeSection code;
  ImportCollector imports;

  // `code_infos` outlives this. `by_value`: see ImportCollector.
  OtherSections(const State& state, CodeInfos& code_infos, PyObject* by_value)
      : infos(code_infos), code(infos), imports(state, by_value) {}
  OtherSections(const OtherSections&) = delete;
  OtherSections& operator=(const OtherSections&) = delete;

  // Begins with what `first` has, which outlives this. Nothing is here yet.
  void fork_from(const OtherSections& first) {
    code.fork_from(first.code);
    imports.fork_from(first.imports);
  }

  // Puts the sections into `parts`, which point into this and into what was written.
  // The imports are finished. Throws PyError.
  struct Written {
    wire::Writer manifest, source_locations, sources;
  };
  void write(const State& state, Written& written, Parts& parts) const {
    imports.encode(written.manifest);
    code.write_source_locations(written.source_locations, imports.first_file(),
                                state.code_cache);
    code.write_sources(written.sources);
    parts.encoded_manifest = written.manifest.view();
    parts.code = code.bodies();
    parts.source_locations = written.source_locations.view();
    parts.sources = written.sources.view();
  }
};

// What was found out about the types of the last objects, since the next is often of
// the same.
class RecentTypes {
 public:
  // own_reducer(), asked once in a row for a type that has none.
  Ref reducer_of(const State& state, PyObject* object);

  // Whether nothing but copyreg has a say in how instances are taken apart.
  bool is_plain(State& state, PyObject* object);
  // Called before other code runs, which may change the type.
  void forget_plain() { plain_ = nullptr; }

  void forget_all() { *this = {}; }

 private:
  Ref unreduced_;                  // The last without an own reducer.
  PyTypeObject* plain_ = nullptr;  // The last that was plain.
};

struct EncodeContext {
  EncodeContext(State& interpreter, const EncodeOptions& given);
  EncodeContext(const EncodeContext&) = delete;
  EncodeContext& operator=(const EncodeContext&) = delete;

  State& state;
  const EncodeOptions options;
  const EncodeHooks& hooks() const { return options.hooks; }
  Arena arena;

  // Functions and classes among the definitions; null if there is none so far.
  const PayloadDefinitions* definitions_if_any() const {
    if (definitions_ && !definitions_->empty()) return &*definitions_;
    return first_ == nullptr ? nullptr : first_->definitions_if_any();
  }
  // The same to add to, made when first needed: data has none.
  PayloadDefinitions& definitions() {
    if (!definitions_) make_definitions();
    return *definitions_;
  }

  // The other sections, which are made when something first needs them: data does not.
  bool has_others() const { return others_.has_value(); }
  OtherSections& others() {
    if (!others_) make_others();
    return *others_;
  }
  const OtherSections* others_if_any() const { return others_ ? &*others_ : nullptr; }
  OtherSections* others_if_any() { return others_ ? &*others_ : nullptr; }
  CodeInfos& infos() {
    if (options.infos != nullptr) return *options.infos;
    if (!infos_) infos_.emplace(state, &arena);
    return *infos_;
  }
  CodeSection& code() { return others().code; }
  ImportCollector& imports() { return others().imports; }

  wire::Writer out;
  StoredBuffers stored;
  WrittenObjects objects;
  WalkStack stack;  // What is being written.
  RecentTypes types;
  WrittenDicts dicts;
  Namespaces namespaces;
  ObjectIds ids;
  ArrayViews arrays;
  ModulesByValue by_value;
  Extensions extensions;
  ModuleNeeds needs;
  DeferredGlobals deferred;
  PyObject* root = nullptr;
  PyObject* current = nullptr;  // What is to be written next.

  // If an object with this key was written, writes a reference to it. Else notes that
  // it is written here and answers false.
  bool refer_or_add(std::uintptr_t key);

  // CodeSection::use(), and the source of the code where that is to travel.
  std::uint32_t use_code(PyObject* code);
  bool wants_source() const { return hooks().source != SourceUse::kNone; }

  // Writes a bytes object, or what is behind a view: large ones are stored. `is_lent`:
  // see StoredBuffers::settle().
  void binary(PyObject* bytes);
  void binary(std::unique_ptr<BufferView> view, wire::BufferKind kind, bool is_lent);
  // The number of the next buffer that travels out of band.
  std::uint64_t next_buffer() { return buffer_count_++; }

  // 16 bytes by which a class or the like is known to whoever gets it.
  Ref id_of(PyObject* object);

  // Notes in the manifest that an object does not travel as it is.
  void record_substitution(PyObject* object, std::string policy);

  // Called before code that is not ours runs.
  void freeze() {
    types.forget_plain();
    stored.settle();
    if (PyObject* changed = stack.freeze()) fail_of_length(changed);
  }

  // Sets EncodeError for the object that is being written, and throws.
  [[noreturn]] void fail(std::string_view detail);
  [[noreturn]] void fail_of_length(PyObject* container);
  // Makes the Python error that is set an EncodeError with the path to that object, if
  // it is the fault of an object on it.
  void add_path_to_error() const;

  // Forgets what is of no use to a payload that goes on after this one, and might be in
  // a cycle.
  void finish_first();
  // Begins with what `first` has written, which outlives this. All else, which data
  // does not need, follows by load_first().
  void fork_from(const EncodeContext& first);
  // What comes now is to find code, imports, namespaces and modules as they would be if
  // what the first context has had been written here.
  void load_first();
  // Whether what comes is after what another context has, of which nothing but the
  // objects is here.
  bool is_first_pending() const { return first_ != nullptr && !is_first_loaded_; }

  // For the collector: of what this keeps alive, all that may be in a cycle.
  int traverse(visitproc visitor, void* arg) const;

 private:
  void make_definitions();
  void make_others();
  void restart_node(MemoEntry& entry);
  std::string path() const;
  Culprit culprit() const;

  std::optional<CodeInfos> infos_;
  std::optional<PayloadDefinitions> definitions_;
  std::optional<OtherSections> others_;
  const EncodeContext* first_ = nullptr;
  bool is_first_loaded_ = false;
  std::uint64_t buffer_count_ = 0;
};

}  // namespace waybill::py
