#pragma once

// Builds the objects of a payload in one loop over its bytes, with a stack of its own.

#include <Python.h>

#include <array>
#include <cstddef>
#include <memory_resource>
#include <span>
#include <string_view>
#include <vector>

#include "format/attribute_targets.h"
#include "format/shapes.h"
#include "python/decode/code_builder.h"
#include "python/decode/decode_hooks.h"
#include "python/decode/key_guard.h"
#include "python/decode/lookup_check.h"
#include "python/decode/module_importer.h"
#include "python/decode/shared_positions.h"
#include "python/decode/str_maker.h"
#include "python/runtime/compat.h"
#include "python/runtime/leaves.h"
#include "python/runtime/ref.h"
#include "python/runtime/state.h"
#include "verify/reusable_nodes.h"
#include "waybill/envelope.h"
#include "wire/reader.h"

namespace waybill::py {

struct NodeCodec;

// A part of a node, by its name in format/shapes.h. Another name does not compile.
template <wire::NodeTag kTag>
struct PartOf {
  consteval PartOf(const char* name)  // NOLINT: a name is one.
      : position(envelope::position_of(kTag, name)) {}
  std::size_t position;
};

// Who wants to see what nodes of functions and classes become.
class NodeWatcher {
 public:
  // Where they start, in ascending order.
  virtual const std::vector<std::size_t>& starts() const = 0;
  // Called when the node with this number is complete. `was_there`: a class that was
  // there, and complete, before. Throws PyError.
  virtual void built(std::size_t number, PyObject* object, bool was_there) = 0;

 protected:
  ~NodeWatcher() = default;
};

class GraphDecoder {
 public:
  struct Frame;
  // Everything must outlive the decoder.
  GraphDecoder(const State& state, const VerifiedEnvelope& envelope, CodeBuilder& code,
               ModuleImporter& modules, const DecodeHooks& hooks, const Limits& limits);
  ~GraphDecoder();

  // For the constants of a code body: leaves, tuples, frozensets, slices, nested code.
  GraphDecoder(const State& state, const Section& constants,
               const std::vector<Ref>& nested, const Limits& limits);

  // Nodes of the payload to be passed over, in order, none inside another, and what
  // they mean; see envelope::object_count(). Both must outlive the decoder.
  void pass_over(std::span<const envelope::ReusableNode> nodes,
                 std::span<const Ref> objects) {
    made_ = nodes;
    made_objects_ = objects;
  }
  // It must outlive the decoder.
  void watch(NodeWatcher& watcher) { watcher_ = &watcher; }

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
    return hooks_.gate != nullptr && keys_.is_strict();
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
    return keys_.is_strict() && PyType_Check(callable) &&
           PyType_IsSubtype(reinterpret_cast<PyTypeObject*>(callable), &PyDict_Type);
  }
  // The number of the next buffer out of band.
  std::uint64_t next_buffer() { return buffer_count_++; }
  // The module whose dict a namespace is; null if none has it.
  void note_module(Ref module) { own_modules_.push_back(std::move(module)); }
  PyObject* module_with(PyObject* dict) const;
  // What an id that was seen before means, or else `object`, which has it from now on.
  // An object that is not closed when the decoder goes is forgotten.
  Ref claim(PyObject* id, PyObject* object, bool& is_known);
  void close_claim(PyObject* id, PyObject* object);
  // What a class is now and what the payload says of it; see Merge.add() in _merge.py.
  // `frame`: its node, with all children.
  void add_class(const Frame& frame);
  // The same of a module that came by value, with all that it holds or, if `is_part` is
  // True, a part of that.
  void add_module(PyObject* module, PyObject* is_part);
  // {name: module by value} that imports have to find from now on.
  void add_imports(PyObject* modules);
  // Whether one of these is, or is derived from, a class that has not got its
  // attributes yet.
  bool has_open_base(PyObject* bases) const;
  // The __new__ that instances of a class have until it has got its attributes; null if
  // that is the class's own.
  Ref new_without_attributes(PyTypeObject* type) const;

  enum class FrameKind : std::uint8_t {
    kList,
    kTuple,
    kSet,
    kFrozenSet,
    kDict,
    kPairs,  // A map that is read as a flat list.
    kNode,
    kFields,      // The fields of a function.
    kAttributes,  // What is set on a class, one by one.
    kInstance,    // The dict of an instance; see decoder_instances.cpp.
  };

  // A container or node that is being filled.
  struct Frame {
    FrameKind kind;
    Ref object;                  // Null for a node that is not created yet.
    std::uint64_t left = 0;      // Values still to come.
    std::uint64_t position = 0;  // Values that came.
    std::size_t offset = 0;
    std::size_t slot = kNoSlot;
    HashCost cost;  // Of all in it.
    std::unique_ptr<KeyProbes> probes = {};
    const NodeCodec* codec = nullptr;
    std::vector<Ref> children;  // kNode: those that came. kFrozenSet: its items.
    std::vector<Ref> cells;     // Of a function: those that it introduces.
    Ref key;       // kDict, kFields, kAttributes: the key that waits for its value.
    Ref instead;   // What the node means in place of what it made.
    Ref instance;  // kInstance: whose dict `object` is.
    Ref said;      // kAttributes: a dict of what the payload says.
    // How many frames up to this one, without a break, are tuples, frozensets or
    // slices.
    std::size_t direct = 0;
    bool has_late = false;      // kDict: an entry waits, so all that follow do.
    bool is_whole = false;      // kDict: its length is checked at the end.
    bool is_known = false;      // A class that was there before.
    bool has_no_holes = false;  // kList, kTuple: each place has at least a stand-in.

    // kNode: a part that has come.
    template <wire::NodeTag kTag>
    PyObject* part(PartOf<kTag> part) const {
      return children[part.position].get();
    }
    // Whether it is such a node, and this part is the next to come.
    template <wire::NodeTag kTag>
    bool awaits(PartOf<kTag> part) const;

    // Whether it was made with all its places, which are filled one by one.
    bool has_places() const {
      return (kind == FrameKind::kList || kind == FrameKind::kTuple) &&
             left + position != 0;
    }
  };
  static constexpr std::size_t kNoSlot = SharedPositions::kNone;

 private:
  // An object that references mean.
  struct Slot {
    Ref object;
    std::size_t depth = 0;  // Of its frame while that is open; else 0.
    HashCost cost;
  };
  // An entry that waits for its key to be complete.
  struct Late {
    Ref container, key, value;
  };

  Ref build();
  // Where in the payload the value at hand is, as a path.
  std::string path() const;
  // Notes that path in an exception that code of others raised.
  void describe_failure();
  bool meets_known_class() const;
  // The object that a class will have where the payload has `value`, which is complete
  // and was noted last.
  Ref settle(Ref value);
  PyObject* merge();
  // Changes the classes that were here before, and takes note of all that came.
  void merge_classes();

  // Reads one value; a leaf is returned, a container pushed.
  Ref read();
  // `is_name`: text is the name of an attribute.
  Ref leaf(const wire::Token& token, bool is_name);
  // The same of what most names and many values are; null, with nothing read, if it is
  // something else.
  Ref short_text(bool is_name) {
    const std::string_view text = reader_.short_text();
    if (text.data() == nullptr) return {};
    Ref value = texts_.make(reinterpret_cast<const std::uint8_t*>(text.data()),
                            text.size(), reader_.left() - 1, is_name);
    if (value) reader_.skip_short_text(text);
    return value;
  }
  Ref extension(const wire::Token& token);
  Ref reference(const wire::Token& token);
  Ref open_array(const wire::Token& token);
  Ref open_map(const wire::Token& token);
  Ref open_node(const wire::Token& token, std::uint8_t tag);
  const envelope::ReusableNode* made_at(std::size_t offset) const;
  Ref take(const envelope::ReusableNode& node, std::size_t slot);
  void show(const Frame& frame, PyObject* object);
  Ref read_reduced(const Frame& frame);
  bool open_instance(Frame& frame);
  bool is_ordinary(PyTypeObject* type) const;
  Ref read_instance(Frame frame);
  void read_attributes(Frame& frame);
  Ref read_apart(Frame frame);
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
  // Insertions; a key that is not simple is asked for its hash.
  int put(PyObject* dict, PyObject* key, PyObject* value) {
    if (is_simple(key)) return PyDict_SetItem(dict, key, value);
    return outside([&] { return PyDict_SetItem(dict, key, value); });
  }
  int add(PyObject* set, PyObject* item) {
    if (is_simple(item)) return PySet_Add(set, item);
    return outside([&] { return PySet_Add(set, item); });
  }
  Ref push(Frame frame);
  Ref empty(Ref object, std::size_t offset, std::size_t slot);

  // Hands a finished value to the frame on top; true if that completes the frame.
  void deliver(Ref value);
  void deliver_to_node(Frame& frame, Ref value);
  void deliver_to_dict(Frame& frame, Ref value);
  Ref finish();

  std::size_t slot_at(std::size_t offset) {
    return positions_.slot_at(offset - start_);
  }
  void set_slot(std::size_t slot, PyObject* object, std::size_t depth);
  // Puts stand-ins into places that are empty.
  static void fill_holes(Frame& frame);
  // Keeps an object for later payloads of the stream, and what it takes as a key.
  void remember(std::size_t offset, PyObject* object, const HashCost& cost);
  HashCost cost_of_earlier(const Frame& earlier) const;
  bool must_wait() const { return stack_.size() > late_depth_; }
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
  std::span<const envelope::ReusableNode> made_;
  std::span<const Ref> made_objects_;
  NodeWatcher* watcher_ = nullptr;
  SharedPositions positions_;
  std::vector<Slot> slots_;
  // The frames of all but deep payloads are in the decoder itself.
  alignas(Frame) std::array<std::byte, 8 * sizeof(Frame)> first_frames_;
  std::pmr::monotonic_buffer_resource frames_memory_{first_frames_.data(),
                                                     first_frames_.size()};
  std::pmr::vector<Frame> stack_{&frames_memory_};
  // While something refers to a tuple or frozenset that is not complete, hashing may
  // meet it: entries of dicts and sets inside the frame of this depth wait for it.
  std::size_t late_depth_ = static_cast<std::size_t>(-1);
  std::vector<Late> late_;
  std::size_t offset_ = 0;  // Of the value at hand.
  StrMaker texts_;
  KeyGuard keys_;
  HashCost cost_;  // Of the value that was finished last.
  std::vector<Ref> fresh_cells_;
  std::uint64_t buffer_count_ = 0;
  std::vector<Ref> own_modules_;       // Those that travel by value.
  std::vector<PyObject*> open_types_;  // Of the nodes on the stack, from bottom to top.
  std::vector<Ref> open_claims_;       // Ids of objects that are not complete.
  Ref history_;                      // Positions and objects of this payload, or null.
  std::size_t last_slot_ = kNoSlot;  // Of the value that was finished last.
  // What is the value of a class's attribute and is referred to from elsewhere.
  std::vector<envelope::AttributeTarget> attribute_targets_;  // By number.
  Ref merge_;  // A waybill._merge.Merge; null until there is something for it.
  bool is_merged_ = false;
  // Classes to be shown to the watcher once they are what they will be.
  struct Shown {
    std::size_t number;
    Ref type;
    bool was_there;
  };
  std::vector<Shown> shown_;
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
  Ref (*create)(GraphDecoder&, GraphDecoder::Frame&);
  Ref (*finish)(GraphDecoder&, GraphDecoder::Frame&);
};

template <wire::NodeTag kTag>
bool GraphDecoder::Frame::awaits(PartOf<kTag> part) const {
  return codec != nullptr && codec->tag == kTag && children.size() == part.position;
}

// The row of a tag, or null.
const NodeCodec* node_codec(std::uint8_t tag);

// Applies one field to a function whose fresh cells are `cells`.
void set_function_field(GraphDecoder& decoder, PyObject* function,
                        const std::vector<Ref>& cells, std::uint64_t field,
                        PyObject* value);

}  // namespace waybill::py
