#pragma once

// Builds the objects of a payload in one loop over its bytes, with a stack of its own.

#include <Python.h>

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "format/shapes.h"
#include "python/decode/arrivals.h"
#include "python/decode/build_state.h"
#include "python/decode/code/code_builder.h"
#include "python/decode/decode_hooks.h"
#include "python/decode/frame.h"
#include "python/decode/lookup_check.h"
#include "python/decode/module_importer.h"
#include "python/decode/object_history.h"
#include "python/decode/plain_loop.h"
#include "python/runtime/compat.h"
#include "python/runtime/leaves.h"
#include "python/runtime/ref.h"
#include "python/runtime/state.h"
#include "waybill/envelope.h"
#include "wire/reader.h"

namespace waybill::py {

// Builds what PlainLoop does not know, and goes on where that has stopped.
class GraphDecoder final : private PlainLoop::Maker {
 public:
  // Everything must outlive the decoder. `plain`: the loop for this payload, which may
  // have begun it.
  GraphDecoder(const State& state, const VerifiedEnvelope& envelope, PlainLoop& plain,
               CodeBuilder& code, ModuleImporter& modules, const DecodeHooks& hooks,
               const Limits& limits);
  ~GraphDecoder() override;

  // For the constants of a code body: leaves, tuples, frozensets, slices, nested code.
  GraphDecoder(const State& state, const Section& constants, PlainLoop& plain,
               const std::vector<Ref>& nested, const Limits& limits);

  // The definitions of the payload are there: `plain` has them. They use code so often.
  void have_definitions(std::size_t code_uses) { known_code_uses_ = code_uses; }
  // What nodes kStored mean, by number. They must outlive the decoder.
  void use_stored(std::span<const Ref> objects) { stored_ = objects; }
  // It must outlive the decoder.
  void watch(NodeWatcher& watcher) { arrivals_.watch(watcher); }

  // Builds the one value. Throws PyError: DecodeError, or what code that the payload
  // calls raised. Call once.
  Ref decode();

  // ---- For node codecs -----------------------------------------------------------

  const State& state() const { return state_; }
  CodeBuilder& code() { return *code_; }
  ModuleImporter& modules() { return *modules_; }
  [[noreturn]] void fail(ErrorCode code, std::string detail);
  // For a node kReplacement: makes the node around it mean this object.
  void put_instead(PyObject* object);
  // Cells without content that came since the last call: those that the function at
  // hand introduces.
  std::vector<Ref> take_fresh_cells() { return std::exchange(fresh_cells_, {}); }
  void add_fresh_cell(Ref cell) { fresh_cells_.push_back(std::move(cell)); }
  bool is_empty(PyObject* object) const { return object == state_.empty.get(); }
  const DecodeHooks& hooks() const { return hooks_; }
  const Limits& limits() const { return limits_; }
  // What the gate denies by name.
  DeniedNames& denied_names() { return denied_names_; }
  // Whether calls of standard types are held to their rows; see standard_types.h.
  bool holds_calls_to_table() const {
    return hooks_.gate != nullptr && built_.keys.is_strict();
  }
  // Whether payloads may not bring what is called later, too.
  bool lets_no_code_in() const { return lets_no_code_in_; }
  // Counts memory that calls take beside what is in the payload.
  void take_memory(std::uint64_t bytes) {
    taken_memory_ += bytes;
    if (taken_memory_ > limits_.max_memory) {
      fail(ErrorCode::kLimitExceeded, "calls that take more memory than max_memory");
    }
  }
  // Whether a call of this makes a dict, whose keys max_key_steps is about.
  bool counts_keys_of(PyObject* callable) const {
    return built_.keys.is_strict() && PyType_Check(callable) &&
           PyType_IsSubtype(reinterpret_cast<PyTypeObject*>(callable), &PyDict_Type);
  }
  // Entries of a dict that wait for their keys to be complete; they are to go into
  // another dict.
  bool has_late_entries(PyObject* dict) const;
  void move_late_entries(PyObject* dict, PyObject* other);
  // The number of the next buffer out of band.
  std::uint64_t next_buffer() { return buffer_count_++; }
  // What the table of buffers has under a number, which was verified.
  const Ref& stored(std::uint64_t number) const { return stored_[number]; }
  // What makes classes: a function of waybill._source.extension for those that another
  // Python took apart.
  PyObject* class_maker() const {
    return code_->is_foreign() ? late(state_, &LateHelpers::make_foreign_class)
                               : state_.make_class.get();
  }
  // Classes and modules of this payload, and what is here of them.
  Arrivals& arrivals() { return arrivals_; }
  // The globals of functions with this name, package and number; null if the payload
  // had none yet.
  Ref known_namespace(const Frame& frame) const;
  void note_namespace(const Frame& frame, const Ref& globals);
  // Where the node of a frame starts, in bytes from the start of the payload.
  std::size_t position_of(const Frame& frame) const { return frame.offset - start_; }
  // How many bytes were read since this offset.
  std::size_t size_from(std::size_t offset) const { return reader_.offset() - offset; }

 private:
  // An entry that waits for its key to be complete.
  struct Late {
    Ref container, key, value;
  };

  static constexpr std::size_t kNoSlot = BuildState::kNoSlot;

  void use_scope(const envelope::ReferenceScope& scope);
  void enter_value();
  Ref build();
  // Builds the plain part that is next.
  Ref go_on_plain();
  // The object that a class will have where the payload has `value`, which is complete
  // and was noted last.
  Ref settle(Ref value);

  // Reads one value; a leaf is returned, a container pushed.
  Ref read();
  // `is_name`: text is the name of an attribute.
  Ref leaf(const wire::Token& token, bool is_name);
  Ref extension(const wire::Token& token);
  std::uint64_t module_index(const wire::Token& token);
  Ref reference(const wire::Token& token);
  Ref open_array(const wire::Token& token);
  Ref open_map(const wire::Token& token);
  Ref open_node(const wire::Token& token, std::uint8_t tag);
  std::unique_ptr<NodeParts> new_parts(std::uint8_t tag);
  void give_back(std::unique_ptr<NodeParts> parts);
  Ref read_call(const Frame& frame);
  bool may_make(PyObject* callable) const override { return !counts_keys_of(callable); }
  Ref make(PyObject* callable, std::span<PyObject* const> arguments,
           std::size_t offset) override;
  Ref read_leaves(Frame& frame);
  Ref part_of(wire::NodeTag node, const wire::Token& token);
  Ref finish_instance(Frame frame);
  // Runs what may run code of anybody's.
  template <typename Function>
  auto outside(Function function) {
    const CollectorPause::Break others(collector_);
    return function();
  }
  Ref call(Ref (*codec)(GraphDecoder&, Frame&), Frame& frame) {
    return outside([&] { return codec(*this, frame); });
  }
  // The same of a codec of the node, where something opaque may take its place.
  Ref call_codec(Ref (*codec)(GraphDecoder&, Frame&), Frame& frame);
  // Insertions; a key that is not simple is asked for its hash.
  int put(PyObject* dict, PyObject* key, PyObject* value) {
    if (is_simple(key)) return PyDict_SetItem(dict, key, value);
    return outside([&] { return PyDict_SetItem(dict, key, value); });
  }
  int add(PyObject* set, PyObject* item) {
    if (is_simple(item)) return PySet_Add(set, item);
    return outside([&] { return PySet_Add(set, item); });
  }
  Ref push(Frame&& frame);
  Ref empty(Ref object, std::size_t offset, std::size_t slot);

  // Hands a finished value to the frame on top; true if that completes the frame.
  void deliver(Ref value);
  void deliver_to_node(Frame& frame, Ref value);
  void pass_nothing(Frame& frame);
  void deliver_to_dict(Frame& frame, Ref value);
  bool translate(Ref& name, Ref& value);
  Ref finish();
  Ref finish_node();
  void note_node(const Frame& frame, PyObject* object, const HashCost& cost);

  std::size_t slot_at(std::size_t offset) {
    return built_.positions.slot_at(offset - start_);
  }
  // Of what references with a number mean; null if there is no such reference.
  const Slot* slot_of_reference(std::uint64_t number) const {
    const std::size_t count = scope_ ? scope_->size() : built_.slots.size();
    if (number >= count) return nullptr;
    return &built_.slots[scope_ ? scope_->place_of(number) : number];
  }
  void set_slot(std::size_t slot, PyObject* object) { built_.set_slot(slot, object); }
  // Keeps an object for later payloads of the stream, if there is one.
  void remember(std::size_t offset, PyObject* object) {
    if (history_) history_.remember(offset - start_, object, built_.cost);
  }
  HashCost cost_of_earlier(const Frame& earlier) const;
  bool must_wait() const { return built_.stack.size() > late_depth_; }
  void insert_late();
  // Puts the items of the frame of this depth into its frozenset, or has them wait.
  void fill(const Frame& frame, std::size_t depth);
  // For results of C functions that hash: what cannot be hashed is a bad payload.
  void hashed(int result);
  // Refuses a dict in which one key took the place of another.
  void demand_whole(const Frame& frame);
  // Refuses a key or item of this frame that is not to be hashed.
  void demand_hashable(PyObject* key, Frame& frame);
  // Refuses a reference to the open tuple of this depth from within tuples alone.
  void demand_detour(std::size_t depth);

  const State& state_;
  const Limits& limits_;
  const VerifiedEnvelope* envelope_ = nullptr;  // Null for constants.
  CollectorPause collector_;
  wire::Reader reader_;
  CodeBuilder* code_ = nullptr;
  ModuleImporter* modules_ = nullptr;
  DecodeHooks hooks_;
  bool is_data_only_ = false;
  bool lets_no_code_in_ = false;
  std::uint64_t taken_memory_ = 0;
  DeniedNames denied_names_;
  const std::vector<Ref>* nested_ = nullptr;  // Code among constants.
  std::size_t next_nested_ = 0;
  std::size_t start_ = 0;
  std::optional<envelope::ReferenceScope> scope_;  // As PlainLoop has it.
  // A dict: tuples of the parts of namespaces that were made, and their dicts.
  Ref namespaces_;
  std::optional<std::size_t> known_code_uses_;  // See have_definitions().
  PlainLoop& plain_;
  BuildState& built_ = plain_.built();
  std::size_t plain_from_ = SIZE_MAX;  // PlainLoop builds nothing before.
  // While something refers to a tuple or frozenset that is not complete, hashing may
  // meet it: entries of dicts and sets inside the frame of this depth wait for it.
  static constexpr std::size_t kNotLate = static_cast<std::size_t>(-1);
  std::size_t late_depth_ = kNotLate;
  std::vector<Late> late_;
  std::unique_ptr<NodeParts> spare_parts_;  // Of a node that is finished.
  std::size_t offset_ = 0;                  // Of the value at hand.
  std::vector<Ref> fresh_cells_;
  std::uint64_t buffer_count_ = 0;
  std::span<const Ref> stored_;
  ObjectHistory history_;
  std::size_t last_slot_ = kNoSlot;  // Of the value that was finished last.
  Arrivals arrivals_{state_, hooks_, collector_};
};

// The tuple of constants of a code body, with the code objects nested in it in order.
Ref decode_constants(const State& state, const Section& constants, const Limits& limits,
                     const std::vector<Ref>& nested);

// How a kind of node is built. `create` is called once `create_after` children are
// there, and gives the object that references mean from then on; `finish` is called
// with all children, and gives the object if `create` is null.
struct NodeCodec {
  wire::NodeTag tag;
  std::uint8_t create_after;
  Ref (*create)(GraphDecoder&, Frame&);
  Ref (*finish)(GraphDecoder&, Frame&);
};

template <wire::NodeTag kTag>
bool Frame::awaits(PartOf<kTag> part) const {
  return node && node->codec->tag == kTag && node->children.size() == part.position;
}

// The row of a tag, or null.
const NodeCodec* node_codec(std::uint8_t tag);

// Applies one field to a function whose fresh cells are `cells`.
void set_function_field(GraphDecoder& decoder, PyObject* function,
                        const std::vector<Ref>& cells, std::uint64_t field,
                        PyObject* value);
// Sets one attribute of a class, as the function of this name in _classes.py does.
void set_class_attribute(const State& state, PyObject* cls, PyObject* name,
                         PyObject* value);

}  // namespace waybill::py
