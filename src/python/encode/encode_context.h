#pragma once

// The state of one payload while it is written, as codecs see it. The encoder walks the
// object graph and calls the codecs.

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
  // Skip objects that cannot travel. The result is not a payload.
  bool skips_blockers = false;
  // Write no ids, so that classes are identified by their content.
  bool omits_ids = false;
  // The root is written as a definition.
  bool is_definition = false;
  // For a definition: the infos of the encoder that needs it, borrowed.
  CodeInfos* infos = nullptr;
  // Write only the id of a class by value: for hashes of objects that refer to classes.
  bool only_names_classes = false;
  // Write source in place of code, and nothing that differs between versions of Python:
  // for ids of classes that are the same for all versions.
  bool by_source = false;
  // Records the walk, if it is not null; borrowed.
  WalkRecord* record = nullptr;
  // The result of ArrayViews::make_plan(), borrowed; null in the first walk.
  PyObject* array_plan = nullptr;
  EncodeHooks hooks{};
};

// The name of the root in paths: that of a function or class, else "obj".
std::string name_of_root(PyObject* root);
// "sqlite3.Connection"; for builtin types without the module.
std::string full_name_of_type(const State& state, PyObject* object);
// The reason why an object cannot travel, from the exception.
std::string reason_of(const State& state, PyObject* raised);
// The remedy for an object that cannot travel for this reason; may be empty. `path`:
// the expression for the object, or empty; used for types without a name.
std::string remedy_of(State& state, PyObject* object, const std::string& reason,
                      const std::string& path);

// The sections of an envelope other than the payload, while the payload is written.
struct OtherSections {
  CodeInfos& infos;
  CodeSection code;
  ImportCollector imports;

  // `code_infos` must outlive this. `by_value`: see ImportCollector.
  OtherSections(const State& state, CodeInfos& code_infos, PyObject* by_value)
      : infos(code_infos), code(infos), imports(state, by_value) {}
  OtherSections(const OtherSections&) = delete;
  OtherSections& operator=(const OtherSections&) = delete;

  // Starts as a copy of `first`, which must outlive this. This must be empty.
  void fork_from(const OtherSections& first) {
    code.fork_from(first.code);
    imports.fork_from(first.imports);
  }

  struct WrittenSections {
    wire::Writer manifest, source_locations, sources;
  };
  // Sets the sections of `parts` to views into this and `written`. The imports must be
  // finished. Throws PyError.
  void write(const State& state, WrittenSections& written, Parts& parts) const {
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

// Properties of the types of the most recent objects. The next object often has the
// same type.
class RecentTypes {
 public:
  // own_reducer(), which is called once for consecutive objects of a type without one.
  Ref reducer_of(const State& state, PyObject* object);

  // Whether only copyreg's table can change how the instance is reduced.
  bool is_plain(State& state, PyObject* object);
  // Called before Python code runs, which may change the type.
  void forget_plain() { plain_ = nullptr; }

  void forget_all() { *this = {}; }

 private:
  Ref unreduced_;                  // The last type without an own reducer.
  PyTypeObject* plain_ = nullptr;  // The last type that is plain.
};

struct EncodeContext {
  EncodeContext(State& interpreter, const EncodeOptions& given);
  EncodeContext(const EncodeContext&) = delete;
  EncodeContext& operator=(const EncodeContext&) = delete;

  State& state;
  const EncodeOptions options;
  const EncodeHooks& hooks() const { return options.hooks; }
  Arena arena;

  // The definitions; null if there are none so far.
  const PayloadDefinitions* definitions_if_any() const {
    if (definitions_ && !definitions_->empty()) return &*definitions_;
    return first_ == nullptr ? nullptr : first_->definitions_if_any();
  }
  // The definitions, which are made when first needed: plain data has none.
  PayloadDefinitions& definitions() {
    if (!definitions_) make_definitions();
    return *definitions_;
  }

  // The other sections, which are made when first needed: plain data has none.
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
  WalkStack stack;
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
  PyObject* current = nullptr;  // The object that is written next.

  // Writes a reference to an object that is written already. Else adds the object to
  // the memo, at the current offset, and returns false.
  bool refer_or_add(std::uintptr_t key);

  // Calls CodeSection::add_use(), and adds the source of the code if it travels.
  std::uint32_t use_code(PyObject* code);
  bool wants_source() const { return hooks().source != SourceUse::kNone; }

  // Writes a bytes object, or the bytes of a view. Large ones become stored buffers.
  // `is_lent`: see StoredBuffers::settle().
  void binary(PyObject* bytes);
  void binary(std::unique_ptr<BufferView> view, wire::BufferKind kind, bool is_lent);
  // The number of the next buffer that travels out of band.
  std::uint64_t next_buffer() { return buffer_count_++; }

  // The id, 16 bytes, by which receivers identify a class or another object.
  Ref id_of(PyObject* object);

  // Adds to the manifest that an object is replaced in the payload.
  void record_substitution(PyObject* object, std::string policy);

  // Called before Python code of the program runs.
  void freeze() {
    types.forget_plain();
    stored.settle();
    if (PyObject* changed = stack.freeze()) fail_of_length(changed);
  }

  // Sets EncodeError for the current object, and throws.
  [[noreturn]] void fail(std::string_view detail);
  [[noreturn]] void fail_of_length(PyObject* container);
  // Replaces the current Python error by an EncodeError with the path to the current
  // object, if an object on the path caused it.
  void add_path_to_error() const;

  // Drops data that contexts forked from this one do not need, and objects that might
  // be part of a reference cycle.
  void prepare_for_forks();
  // Starts with the payload and the memo of `first`, which must outlive this.
  // load_first() copies the rest, which plain data does not need.
  void fork_from(const EncodeContext& first);
  // Copies the code, imports, namespaces and modules of the first context.
  void load_first();
  // Whether load_first() must be called before anything but plain data is written.
  bool is_first_pending() const { return first_ != nullptr && !is_first_loaded_; }

  // For the garbage collector: visits all objects that may be part of a cycle.
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
