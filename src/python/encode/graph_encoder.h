#pragma once

// Walks an object graph and writes the payload.

#include <Python.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "python/encode/encode_hooks.h"
#include "python/encode/kept_node.h"
#include "python/encode/large_binaries.h"
#include "python/encode/other_sections.h"
#include "python/encode/plain_writer.h"
#include "python/encode/plan.h"
#include "python/encode/walk_stack.h"
#include "python/encode/written_names.h"
#include "python/runtime/memo.h"
#include "python/runtime/state.h"
#include "wire/writer.h"

namespace waybill::py {

struct EncodeOptions {
  // Write the root function by value even if it could be imported.
  bool root_by_value = false;
  // An object that cannot travel is passed over: there will be no payload.
  bool passes_over = false;
  // Classes are known by their content alone.
  bool names_no_ids = false;
  // Of a class by value only its id is written: for hashes of what refers to classes.
  bool only_names_classes = false;
  EncodeHooks hooks;
};

// The elements of a set, given and returned as a tuple, in canonical order.
Ref sorted_elements(const State& state, CodeInfos& infos, Ref elements);

// A global that the code of a function names, what it is now, and when it is written.
struct Global {
  const GlobalUse* use;
  Ref value;
  int turn;
};

class GraphEncoder {
 public:
  GraphEncoder(State& state, const EncodeOptions& options);
  GraphEncoder(const GraphEncoder&) = delete;
  GraphEncoder& operator=(const GraphEncoder&) = delete;

  // Writes `root`, and finishes the imports. Throws PyError: EncodeError with the path
  // to what cannot travel, or MemoryError. Call once.
  void encode(PyObject* root);

  // The same in two parts, so that many payloads can begin alike: the head of a tuple
  // and its first item, whose imports are not finished; and in an encoder of its own
  // for each payload, what comes after that. `first` has written the first item of an
  // equal tuple, and outlives this; `sections` are those of a payload in which only
  // plain data came after it.
  void encode_first(PyObject* tuple);
  void encode_rest(const GraphEncoder& first, const KeptSections& sections,
                   PyObject* tuple);

  BytesView payload() const { return out_.view(); }
  const std::vector<Insertion>& insertions() const { return out_.insertions(); }
  const std::vector<std::uint64_t>& shared() const { return shared_; }
  bool has_others() const { return others_.has_value(); }

  // The other sections, where what was kept or written first is all of the payload that
  // is no plain data. Null if they are those that this encoder has filled.
  const KeptSections* taken_sections() const {
    if (kept_.phase == KeptUse::Phase::kTaken) {
      return kept_.chain.back().node->sections();
    }
    return kept_.phase == KeptUse::Phase::kBegun ? first_sections_ : nullptr;
  }
  // Whether functions or classes were written that seem worth to be kept; the sections
  // of the last are those of the payload.
  bool is_to_be_kept() const { return kept_.phase == KeptUse::Phase::kWritten; }
  void keep(KeptSections sections);

  // For the collector: of what this keeps alive, all that may be in a cycle.
  int traverse(visitproc visit, void* arg) const;

  // ---- For codecs ----------------------------------------------------------------

  State& state() { return state_; }
  // The other sections, which are made when something first needs them: data does not.
  OtherSections& others() {
    if (!others_) others_.emplace(state_, options_.hooks.by_value);
    return *others_;
  }
  CodeInfos& infos() { return others().infos; }
  CodeSection& code() { return others().code; }
  ImportCollector& imports() { return others().imports; }
  wire::Writer& out() { return out_; }
  const EncodeHooks& hooks() const { return options_.hooks; }

  // If an object with this key was written, writes a reference to it. Else notes that
  // it is written here and answers false.
  bool known(std::uintptr_t key);

  // The names of a globals dict whose values this payload has, or begins with.
  WrittenNames& written_globals(PyObject* globals) { return written_globals_[globals]; }

  // A class that travels by value, and the class whose own dict this is among those
  // that were noted: methods may hold the dict itself (the __classdict__ cell). Null if
  // none.
  void note_class(PyObject* type);
  PyObject* class_of(PyObject* dict);
  // What is being written.
  const WalkStack& stack() const { return stack_; }

  // Writes the namespace of functions with these globals, or a reference to it.
  void write_namespace(PyObject* globals, bool is_of_module);
  // Whether it was written as that of no module, or in an earlier payload.
  bool has_plain_namespace(PyObject* globals);

  // Writes a bytes object, or what is behind a view, as binary. `is_lent`: see
  // LargeBinaries::settle().
  void binary(PyObject* bytes);
  void binary(std::unique_ptr<BufferView> view, bool is_lent);

  // Writes a node that finds a global again.
  void global(const GlobalName& name);
  // Writes to `out` which module of the manifest is meant. Nobody else writes that, so
  // that none is named which the manifest does not list.
  void module_index(std::uint32_t index, wire::Writer& out);

  // own_reducer(), asked once in a row for a type that has none.
  Ref reducer_of(PyObject* object);

  // Notes in the manifest that an object does not travel as it is.
  void note_substitution(PyObject* object, std::string policy);

  // 16 bytes by which a class or the like is known to whoever gets it.
  Ref id_of(PyObject* object);
  // The same, without noting that it travels.
  Ref own_id(PyObject* object);
  Ref id_among_twins(Ref id, PyObject* object);
  bool names_no_ids() const { return options_.names_no_ids; }
  bool only_names_classes() const { return options_.only_names_classes; }

  // Whether functions, classes and objects of this module travel by value.
  bool is_by_value(PyObject* module);

  // Whether a module is an extension inside of a package that travels by value. It does
  // not travel.
  bool is_extension_by_value(PyObject* module);
  // The extension that has a class on the way of a type's, or of its metaclass's; null
  // if none has.
  PyObject* extension_of(PyTypeObject* type);
  // Whether a function, class or module is being written.
  bool is_within_code() const;
  // The reducer's answer that makes a stand-in for what an extension made. `name`:
  // where it is found, if it is.
  Ref stand_in_answer(PyObject* object, PyObject* extension, const GlobalName& name);

  // Sees to it that local modules that a function of such a module uses come along.
  void add_local_modules(PyObject* function, const CodeInfo& info);
  // Modules by value that the function noted last needs, of which a reader has not all
  // yet, in an order in which packages come first.
  std::vector<Ref> modules_to_bring();
  // Whether all of a module is needed; what is needed of it and not written: names,
  // with their values.
  bool is_needed_whole(PyObject* module) { return own_module_entry(module).is_whole; }
  std::vector<std::pair<Ref, Ref>> unwritten(PyObject* module);
  // The same for what such a module holds: a local module, or what comes from one. It
  // may run code of others, so the caller holds `object` itself.
  void add_companion(PyObject* object);

  // What the methods of a class name, until all methods are written.
  struct Deferred {
    Ref carrier;  // The function that brings it.
    std::vector<Global> globals;
    std::vector<Ref> modules;
    bool is_written = false;
  };
  // The attributes of a class, with a place behind the methods where write_deferred()
  // comes in, if there is something to defer.
  Ref with_deferred_globals(PyObject* type, const Ref& attributes);
  // What is put aside for the innermost class that is being written; null if nothing
  // is.
  Deferred* deferred_here();
  // Where globals of a method are put aside; null if they are not.
  Deferred* deferred_for(PyObject* globals);
  // What a function brings, if it is nothing but a carrier; else null.
  Deferred* deferred_of(PyObject* carrier);

  // Whether a value that only annotations of a function with these globals name is sent
  // for them. Of a module by value is sent what a receiver has anyhow.
  bool is_known_to_receiver(PyObject* globals, PyObject* value);

  // Whether a module that travels by value has this dict.
  bool is_of_module_by_value(PyObject* globals);

  // The elements of a set in canonical order, as a tuple.
  Ref sorted(PyObject* set) {
    return sorted_elements(state_, infos(), elements_of(set));
  }

  // The number of the next buffer that travels out of band.
  std::uint64_t next_buffer() { return buffer_count_++; }

  // Sets EncodeError for the object that is being written, and throws.
  [[noreturn]] void fail(std::string_view detail);

 private:
  using Frame = WalkStack::Frame;

  // Each writes `object`, or its head, and answers whether the stack is another than
  // before: frames were pushed, or frozen.
  bool value(PyObject* object);
  // value() without asking for a persistent id.
  bool content(PyObject* object);
  // Later payloads of a stream may hold any object of this one.
  bool may_be_met_again(PyObject* object) const {
    return Py_REFCNT(object) > 1 || options_.hooks.memo != nullptr;
  }
  void reference(MemoEntry& entry);
  // value() for what no hook has a say in, without a call.
  bool common(PyObject* object) {
    return options_.hooks.persistent_id == nullptr && write_common(object, out_);
  }
  // known() for what is there already, without a call and without noting what is not.
  bool met(PyObject* object) {
    if (Py_REFCNT(object) == 1 || options_.hooks.persistent_id != nullptr ||
        options_.hooks.by_value != nullptr) {
      return false;
    }
    MemoEntry* entry = memo_.find(key_of(object));
    if (entry == nullptr || !entry->is_created) return false;
    reference(*entry);
    return true;
  }
  // Fails if an object that is not built yet cannot be begun once more.
  void restart_node(PyObject* object);
  void close_early(const Frame& frame, MemoEntry& entry);

  // Each writes `object` if a hook takes it on, or answers false.
  bool persistent(PyObject* object);
  bool earlier(std::uintptr_t key);
  // Where an earlier payload of the stream has an object or, by its tagged key, a
  // namespace: (payload, position, object), borrowed; null if none has.
  PyObject* place_in_stream(std::uintptr_t key) const;
  bool overridden(PyObject* object);
  bool container(PyObject* object);
  bool set(PyObject* object, wire::NodeTag tag);
  // Writes a module by reference; false if no import would find it.
  bool module(PyObject* object);
  bool other(PyObject* object);
  bool builtin_type(PyObject* object);
  // Writes an instance that object.__reduce_ex__ would take apart as its class and its
  // dict, without asking that; false if it is none, or if its class comes first.
  bool instance(PyObject* object);
  // The dict of such an instance, else null.
  Ref state_of_plain(PyObject* object);
  bool is_taken_apart_by_object(PyObject* object);
  Ref new_carrier(PyObject* attributes);
  bool write_deferred();
  // Writes a stand-in for what an extension made, if code refers to it.
  bool write_stand_in(PyObject* object);
  // `answer`: what a hook gave in place of the object's own reducer, or null.
  bool planned(PyObject* object, PyObject* answer);
  // For an object that refused to travel: writes it by reference if it is a global of
  // an importable module, and forgets the refusal. False, with the error still set, if
  // not.
  bool write_as_global(PyObject* object);
  // Writes an object by reference if it is a global, under any name, of the function
  // that is being written and that function's module can be imported.
  bool write_as_global_of_function(PyObject* object);
  bool write_as_global_in(PyObject* module, PyObject* object);
  // Writes what makes a thread-local anew, or a lock that nobody holds, if code of a
  // module by value holds it.
  bool write_fresh(PyObject* object);
  bool write_anew(PyObject* object);
  bool is_within_code_by_value();
  // Where the module of the innermost function that is being written has a class under
  // the class's own name.
  GlobalName class_beside_function(PyObject* type);

  // Carries out `work`, which writes what is in `root`; its errors get their path.
  template <typename Work>
  void walk(PyObject* root, Work work);
  void push_behind_first(PyObject* tuple);
  void push_plan(PyObject* object, std::unique_ptr<Plan> plan);
  void pop() {
    stack_.pop();
    current_ = nullptr;  // It may be gone with what the frame held.
  }
  // Carries out what is on the stack above this depth.
  void run(std::size_t depth = 0);
  // Each carries its frame on until it pushes another, or ends.
  void step_sequence();
  void step_dict();
  void step_frozen_dict();
  void end_dict();
  void step_plan();

  // Writes a module by value, or what a reader has not of it.
  bool own_module(PyObject* module);
  // The same, of a module of which code needs what was noted.
  bool part_of_module(PyObject* module);
  void add_imported(PyObject* function, const CodeInfo& info);
  void add_imported(PyObject* name);
  void begin_global(const Frame& frame, PyObject* name);

  // For the payloads that follow in the same stream.
  void remember();

  // Told of each object that is no plain data. True if it was written.
  bool meet_kept(PyObject* object);
  bool begin_kept(PyObject* object);
  // Told when something comes that is not kept.
  void end_kept();
  void end_kept_chain();
  KeptSlot* kept_slot(std::size_t place, PyObject* key);
  void note_kept_miss(std::size_t place, PyObject* key);
  // What is kept for a class that would come next; null if nothing is.
  std::shared_ptr<KeptNode> kept_class(PyObject* type) const;
  // Whether a kept node can stand here. Its objects are among KeptUse::met then.
  bool can_take(const KeptUse::Link& link);
  // Writes it. The root has been noted.
  void take(KeptUse::Link link);
  // The same of a class, behind the head of an instance's node; false if it cannot be
  // taken, and then nothing is written.
  bool take_class(std::shared_ptr<KeptNode> kept, PyObject* type);
  bool still_fits(const std::vector<Ref>& containers) const;
  void encode_taken();
  void go_on_after_first();
  // Told whenever an object may be complete.
  void end_kept_node() {
    if (kept_.phase == KeptUse::Phase::kWriting && stack_.size() == kept_.depth) {
      set_kept_node();
    }
  }
  void set_kept_node();

  // Called before code that is not ours runs.
  void freeze();
  void demand_length(const Frame& frame) {
    if (frame.has_changed()) fail_of_length(frame.object.get());
  }
  [[noreturn]] void fail_of_length(PyObject* container);

  std::string path() const;
  void describe_failure();

  State& state_;
  EncodeOptions options_;
  std::optional<OtherSections> others_;
  wire::Writer out_;
  LargeBinaries large_;
  Memo memo_;
  std::vector<Ref> keep_;  // Memo keys must not be freed and reused.
  std::vector<std::uint64_t> shared_;
  WalkStack stack_;
  std::map<PyObject*, WrittenNames> written_globals_;
  std::vector<PyObject*> namespaces_;    // Globals dicts that were written as such.
  std::vector<PyObject*> module_dicts_;  // Of modules that travel by value.
  Memo class_dicts_;                     // The offset is the address of the class.
  // Modules by value: what code needs of each.
  struct OwnModule {
    Ref module;
    WrittenNames wanted;
    std::vector<Ref> waiting;  // Those of `wanted` that may be unwritten yet.
    bool is_whole = false;     // Code may ask for anything in it.
    bool is_found = false;     // Imports find it at a reader.
  };
  std::map<PyObject*, OwnModule> own_modules_;
  std::map<PyObject*, std::pair<Ref, Ref>> extensions_;  // Of types; extension_of().
  std::map<PyObject*, Deferred> deferred_;               // By class.
  OwnModule& own_module_entry(PyObject* module);
  std::vector<Ref> asked_;  // Some that a __getattr__ may import, to be brought.
  void want(OwnModule& own, PyObject* name);
  void want_of_submodules(PyObject* package, PyObject* name);
  std::vector<PyObject*> submodules_with(PyObject* package, PyObject* name);
  std::map<std::string, PyObject*> written_ids_;  // Of what is no class.
  std::uint64_t buffer_count_ = 0;
  KeptUse kept_;
  const GraphEncoder* first_ = nullptr;  // See encode_rest().
  const KeptSections* first_sections_ = nullptr;
  Ref unreduced_type_;                  // Last type for which there is no own reducer.
  PyTypeObject* plain_type_ = nullptr;  // Last type that passed; until other code runs.
  PyObject* root_ = nullptr;
  PyObject* current_ = nullptr;    // What value() was last asked to write.
  PyObject* restarted_ = nullptr;  // The last; an address alone.
};

}  // namespace waybill::py
