#pragma once

// Builds the objects of a payload in one loop over its bytes, with an explicit stack.

#include <Python.h>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "format/definitions.h"
#include "format/shapes.h"
#include "python/decode/build_state.h"
#include "python/decode/decode_context.h"
#include "python/decode/frame.h"
#include "python/runtime/compat.h"
#include "python/runtime/objects.h"
#include "python/runtime/ref.h"
#include "python/runtime/state.h"
#include "verify/payload_check.h"
#include "waybill/bytes.h"
#include "waybill/envelope.h"
#include "waybill/limits.h"
#include "wire/lead.h"
#include "wire/number.h"
#include "wire/reader.h"

namespace waybill::py {

// Works in two phases. Before the payload is verified, begin() accepts a subset of what
// verify() accepts, plain data, and stops at anything else. Plain data are None, bool,
// int, float, str, bytes, bytearray, and lists, tuples, dicts, sets and frozensets of
// them; a payload of these alone is complete after begin(). Once the caller has
// verified the payload, decode() continues from there with everything that payloads can
// hold.
class GraphDecoder {
 public:
  // `bytes`: all that may be read. `start`: where the payload begins in them. `base`:
  // the offset of the payload, for frames and errors. `shared`: the positions of the
  // referenced objects. Everything except `shared` must outlive the decoder.
  GraphDecoder(const State& state, BytesView bytes, std::size_t start, std::size_t base,
               const Limits& limits, const std::vector<std::uint64_t>& shared)
      : state_(state),
        limits_(limits),
        start_(bytes.data() + start),
        at_(start_),
        end_(bytes.data() + bytes.size()),
        base_(base),
        built_(limits, shared) {}
  // For the payload of an envelope.
  GraphDecoder(const State& state, const Envelope& envelope, const Limits& limits)
      : GraphDecoder(state, envelope.bytes, envelope.payload.offset,
                     envelope.payload.offset, limits, envelope.shared) {}
  ~GraphDecoder() { built_.abandon(); }  // Before destructors run foreign code.
  GraphDecoder(const GraphDecoder&) = delete;
  GraphDecoder& operator=(const GraphDecoder&) = delete;

  // ---- Before the payload is verified ---------------------------------------------

  // Makes begin() start at the value of a payload whose definitions exist already, and
  // accept instances of ordinary classes too. `object_at(position)`: the object at a
  // position in the definitions. Returns false if that is null for a referenced
  // position.
  template <typename ObjectAt>
  bool begin_at_value(const Envelope& envelope, ObjectAt object_at) {
    const std::size_t value = envelope.definitions.value;
    builds_instances_ = true;
    at_ = first_ = start_ + value;
    scope_ = envelope::ReferenceScope::of_value(envelope);
    built_.positions.pass_to(value);
    for (std::size_t i = 0; i < scope_->size(); ++i) {
      const std::size_t index = scope_->index_of(i);
      if (envelope.shared[index] >= value) continue;
      built_.slots[index].object = object_at(envelope.shared[index]);
      if (!built_.slots[index].object) return false;
    }
    return true;
  }
  // Builds plain data; true if the root is complete. Open containers are hidden before
  // foreign code can run; see BuildState::hide(). Throws PyError: MemoryError only.
  bool begin();
  // Returns to the first byte, and drops the objects that were built.
  void restart();
  // The root, once it is complete.
  Ref take_value() { return std::exchange(value_, {}); }
  // Whether each shared position was passed and has a reference, as verify() demands.
  bool is_complete() const {
    return built_.positions.are_all_passed() && references_seen_ == reference_count();
  }
  // The longest complete container, which verify() need not check again.
  const envelope::CheckedPart& longest_part() const { return longest_part_; }
  // Where the next value starts.
  std::size_t offset() const { return offset_of(at_); }

  // ---- Once it is verified ---------------------------------------------------------

  // Builds the root, from where begin() stopped. Throws PyError: DecodeError, or an
  // exception of code that the payload calls. Call once.
  Ref decode(DecodeContext& context);
  // The object with this number among the shared objects of the whole payload.
  const Ref& object_at(std::size_t number) const { return built_.slots[number].object; }

  // ---- For node codecs -----------------------------------------------------------

  const State& state() const { return state_; }
  const Limits& limits() const { return limits_; }
  const DecodeHooks& hooks() const { return context_->hooks; }
  CodeBuilder& code() { return *context_->code; }
  ModuleImporter& modules() { return *context_->modules; }
  ReceivedDefinitions& received_definitions() { return context_->received_definitions; }
  DeniedNames& denied_names() { return context_->denied_names; }
  const ObjectHistory& history() const { return context_->history; }
  [[noreturn]] void fail(ErrorCode code, std::string detail);
  // For a kReplacement node: makes this object the value of the enclosing node.
  void replace_enclosing(PyObject* object);
  // The cells without content since the last call: those that the current function
  // introduces.
  std::vector<Ref> take_fresh_cells() {
    return std::exchange(context_->fresh_cells, {});
  }
  void add_fresh_cell(Ref cell) { context_->fresh_cells.push_back(std::move(cell)); }
  bool is_empty(PyObject* object) const {
    return object == state_.empty_cell_marker.get();
  }
  // Whether calls of standard types must match their rows; see standard_types.h.
  bool restricts_calls() const {
    return context_->hooks.gate != nullptr && built_.keys.is_strict();
  }
  bool forbids_code() const { return context_->forbids_code; }
  // Counts memory that calls allocate in addition to the payload's values.
  void charge_memory(std::uint64_t bytes) {
    context_->charged_memory += bytes;
    if (context_->charged_memory > limits_.max_memory) {
      fail(ErrorCode::kLimitExceeded, "calls that take more memory than max_memory");
    }
  }
  // Whether a call of `callable` makes a dict, whose keys max_key_steps limits.
  bool counts_keys_of(PyObject* callable) const {
    return built_.keys.is_strict() && PyType_Check(callable) &&
           PyType_IsSubtype(as_type(callable), &PyDict_Type);
  }
  // has_deferred_entries() tells whether entries of a dict wait for their keys to be
  // complete; move_deferred_entries() redirects such entries to another dict.
  bool has_deferred_entries(PyObject* dict) const;
  void move_deferred_entries(PyObject* dict, PyObject* other);
  // The number of the next buffer out of band.
  std::uint64_t next_buffer() { return context_->buffer_count++; }
  // The stored buffer with a number, which was verified.
  const Ref& stored(std::uint64_t number) const { return context_->stored[number]; }
  // The globals for a kNamespace node with these parts; null for the first such node.
  Ref find_namespace(const Frame& frame) const;
  void record_namespace(const Frame& frame, const Ref& globals);
  // Where the node of a frame starts, in bytes from the start of the payload.
  std::size_t position_of(const Frame& frame) const { return frame.offset - base_; }
  // The number of bytes read since this offset.
  std::size_t size_from(std::size_t offset) const { return this->offset() - offset; }

 private:
  // An entry that waits for its key to be complete.
  struct DeferredEntry {
    Ref container, key, value;
  };
  // A key of a dict: the next dict at its depth often has the same key at this index.
  struct KeyGuess {
    bool is_at(const std::uint8_t* at, const std::uint8_t* end) const {
      return size != 0 && size <= static_cast<std::size_t>(end - at) &&
             std::memcmp(at, start, size) == 0;
    }

    const std::uint8_t* start = nullptr;
    std::size_t size = 0;
    Ref key;
  };

  static constexpr std::size_t kNoSlot = BuildState::kNoSlot;
  static constexpr std::size_t kNoDeferral = static_cast<std::size_t>(-1);
  static constexpr std::size_t kMaxGuesses = 64;
  // From this dict on, and with this many bytes to come, short texts recur often enough
  // for the caches of texts and keys.
  static constexpr std::size_t kCacheMinDicts = 4;
  static constexpr std::ptrdiff_t kCacheMinBytes = 1024;

  bool is_verified() const { return context_ != nullptr; }
  // Refuses a verified payload. For one that is not verified it only stops the loop,
  // and verify() reports the error. Returns false.
  bool refuse(ErrorCode code, const char* detail) {
    if (is_verified()) fail(code, detail);
    return stop();
  }
  bool stop() { return is_running_ = false; }
  // Stops before a value, as if it had not been read.
  void stop_before(const std::uint8_t* start, Ref& value);

  // ---- The loop --------------------------------------------------------------------
  //
  // `value`: the last value read; null once the frame on top has taken it.

  void build_definitions();
  // Builds until the root is complete or the loop has stopped. True if value_ is the
  // root; else value_ is the next value for the frame on top, or null.
  bool run();
  // Whether several values may be read at once, because none of them must be recorded.
  bool can_batch() const {
    return at_ >= batch_start_ && deferral_depth_ == kNoDeferral;
  }
  // Reads the next value or values of the frame on top.
  inline void read_next(Ref& value);
  inline void fill(Frame& frame, Ref& value);
  [[gnu::noinline]] void fill_with_numbers(Frame& list);
  [[gnu::noinline]] void fill_list(Frame& list, Ref& value);
  [[gnu::noinline]] void fill_dict(Frame& frame, Ref& value);
  // Reads the key of a dict's next value into the frame; false if the loop has stopped.
  inline bool read_key(Frame& frame, Ref& value);

  // Hands a complete value to the frame on top; keeps it if the loop stops.
  void deliver(Ref& value);
  bool deliver_to_dict(Frame& frame, Ref& value);
  void deliver_to_node(Frame& frame, Ref value);
  bool deliver_to_frozen_set(Frame& frame, const Ref& value);
  bool deliver_to_set(const Frame& frame, const Ref& value);
  void deliver_field(Frame& frame, const Ref& value);
  void deliver_attribute(Frame& frame, Ref value);
  bool set_item(Frame& frame, const Ref& value);
  void skip_empty_rest(Frame& frame);
  bool translate(Ref& name, Ref& value);

  // Closes the frame on top; `value` becomes its object, or stays null if more values
  // follow or the loop stops.
  inline void close(Ref& value);
  Ref finish_node();
  void finish_instance();

  // Records a complete value for references and later payloads. If an existing class
  // will keep another object in its place, that object becomes the value.
  void record(Ref& value, std::size_t slot, std::size_t offset) {
    if (slot != kNoSlot || keeps_history_) record_shared(value, slot, offset);
  }
  void record_shared(Ref& value, std::size_t slot, std::size_t offset);
  // Records the container that was completed last if it is the longest so far.
  void record_longest_part();

  // ---- Values ----------------------------------------------------------------------

  // Reads one value. False if a container was opened, or if the loop stopped before the
  // value.
  [[gnu::always_inline]] bool next(Ref& value) {
    return read_short(value) || read(value);
  }
  // Reads the most frequent values without tables. Returns false, and reads nothing,
  // for other values.
  bool read_short(Ref& value);
  bool read(Ref& value);
  inline bool read_any(Ref& value);
  // Reads a value that contains no values.
  bool read_leaf(Ref& value);
  inline bool read_bytes(Ref& value);
  bool read_extension(Ref& value, BytesView bytes, std::uint8_t type);
  // Reads the object of a reference; false if it is incomplete or missing.
  bool read_complete_reference(Ref& value, std::uint64_t number);
  bool read_reference(Ref& value, std::uint64_t number);
  void take(Ref& value, const Slot& slot, std::uint64_t number) {
    if (number == references_seen_) ++references_seen_;
    value = slot.object;
    built_.cost = slot.cost;
  }
  Ref module_at(BytesView bytes);
  std::uint64_t module_index(BytesView bytes);

  bool open(Ref& value, const wire::Lead& lead);
  inline bool open_container(Ref& value, FrameKind kind, std::uint64_t count,
                             std::size_t offset, std::size_t slot);
  // Makes a container of `count` values; false if the payload is too short for so many.
  inline bool make_container(FrameKind kind, std::uint64_t count, Ref& object);
  std::uint64_t fill_short(PyObject* object, std::uint64_t count, HashCost& cost);
  bool read_byte_array(Ref& value, std::uint64_t count, std::size_t offset,
                       std::size_t slot);
  // Sets up the frame for a map that is a part of a node; false if it is a plain dict.
  bool begin_map_of_node(Frame& frame);
  bool open_map_of_node(Ref& value, Frame& frame);
  bool open_instance(std::uint64_t count, std::size_t offset, std::size_t slot);
  Ref new_instance(PyObject* type);
  // Makes an object by a short call, whose head and tag were read: `count` values
  // follow, and the node starts at `offset`. False if the node is not a short call.
  bool read_call(Ref& value, std::uint8_t tag, std::uint64_t count, std::size_t offset,
                 std::size_t slot);
  bool open_node(Ref& value, std::uint8_t tag, std::uint64_t count, std::size_t offset,
                 std::size_t slot);
  void record_node(Ref& object, const Frame& frame, const HashCost& cost);
  Ref read_parts(Frame& frame);
  Ref read_part(wire::NodeTag node);
  std::unique_ptr<NodeParts> new_parts(std::uint8_t tag);
  void recycle_parts(std::unique_ptr<NodeParts> parts);
  HashCost cost_of_earlier(const Frame& earlier) const;
  void push(Frame&& frame);

  // Whether a small list, dict or node is next; their heads share a bit pattern.
  bool is_container_next() const {
    return at_ != end_ && (*at_ & 0xe0) == wire::kEmptyMap;
  }
  // Whether the bytes are [] and {}, and no value from here up to `more` bytes after
  // them is referenced.
  bool is_empty_rest_at(const std::uint8_t* at, std::size_t more) const {
    return static_cast<std::size_t>(end_ - at) >= 2 + more &&
           at[0] == wire::kEmptyArray && at[1] == wire::kEmptyMap &&
           built_.positions.are_none_before(position_at(at) + 2 + more);
  }
  // Whether one more container would exceed max_depth.
  bool is_full() const {
    return built_.stack.size() + open_instances_ >= limits_.max_depth;
  }
  // Refuses a container that would exceed max_depth.
  bool demand_room() {
    return !is_full() || refuse(ErrorCode::kLimitExceeded,
                                "containers nested deeper than max_depth allows");
  }
  // Whether a container may announce this many values. Each value takes a byte, so no
  // sound payload announces more in total. Without this bound, nested containers that
  // each claim the rest of the payload would reserve memory quadratic in its size.
  bool announce(std::uint64_t values) {
    announced_ += values;
    return is_verified() || announced_ <= static_cast<std::uint64_t>(end_ - start_);
  }

  std::uint64_t position_at(const std::uint8_t* at) const {
    return static_cast<std::uint64_t>(at - start_);
  }
  std::size_t offset_of(const std::uint8_t* at) const {
    return base_ + static_cast<std::size_t>(at - start_);
  }
  // The slot of the value that starts here; kNoSlot if it is not referenced.
  std::size_t current_slot() {
    if (at_ != target_) return kNoSlot;
    const std::size_t slot = built_.positions.take_slot_at(position_at(at_));
    update_target();
    return slot;
  }
  void update_target() {
    has_passed_shared_ = built_.positions.are_all_passed();
    const bool is_ahead =
        !has_passed_shared_ && built_.positions.next() < position_at(end_);
    target_ = is_ahead ? start_ + built_.positions.next() : nullptr;
  }
  std::size_t reference_count() const {
    return scope_ ? scope_->size() : built_.slots.size();
  }
  // The slot of a reference in the current scope; null for a bad number.
  const Slot* slot_of_reference(std::uint64_t number) const {
    if (number >= reference_count()) return nullptr;
    return &built_.slots[scope_ ? scope_->index_of(number) : number];
  }

  // ---- Foreign code ----------------------------------------------------------------

  // Calls a function that may run foreign code. The payload must be verified.
  template <typename Function>
  auto run_foreign(Function function) {
    built_.hide();
    const CollectorPause::Break collector_break(context_->collector);
    return function();
  }
  // run_foreign() for a function that hashes a dict key or set item.
  template <typename Function>
  auto run_hashing(PyObject* key, Function function) {
    return is_simple(key) || !is_verified() ? function() : run_foreign(function);
  }
  // Calls a function of the node's codec; an opaque object may replace the result.
  Ref call_codec(Ref (*codec)(GraphDecoder&, Frame&), Frame& frame);

  // ---- Keys ------------------------------------------------------------------------

  bool must_defer() const { return built_.stack.size() > deferral_depth_; }
  // Whether a key or item of this frame may be hashed; refuses it otherwise.
  bool demand_hashable(PyObject* key, Frame& frame);
  // Checks the result of a C function that hashes: an unhashable key makes the payload
  // malformed.
  bool check_hashed(int result);
  // Refuses a dict with equal keys.
  bool demand_distinct_keys(const Frame& frame);
  // Puts the gathered items of a frozenset into it, or defers them.
  bool fill_frozen(const Frame& frame);
  void insert_deferred();

  const State& state_;
  const Limits& limits_;
  DecodeContext* context_ = nullptr;  // Null until the payload is verified.

  const std::uint8_t* start_;
  const std::uint8_t* first_ = start_;  // The first byte read: of the payload or value.
  const std::uint8_t* at_;
  const std::uint8_t* end_;
  const std::uint8_t* batch_start_ = start_;  // See can_batch().
  const std::uint8_t* target_ = nullptr;      // Where the next shared object starts.
  std::size_t base_;
  std::size_t offset_ = 0;  // The offset of the current value, for errors.
  bool is_running_ = true;
  bool is_name_ = false;  // Whether the next text is the name of an attribute.
  bool reads_module_numbers_ = false;  // Modules are read as numbers in the manifest.
  // All shared positions are passed.
  bool has_passed_shared_ = false;
  bool builds_instances_ = false;
  bool makes_calls_ = false;
  bool keeps_history_ = false;
  std::vector<KeyGuess> guesses_;  // Empty in small payloads.
  std::size_t dicts_ = 0;
  Ref value_;  // See take_value().
  // Without a scope, numbers of references are indexes of shared positions.
  std::optional<envelope::ReferenceScope> scope_;

  // Used before the payload is verified:
  std::uint64_t announced_ = 0;     // Values of all containers so far.
  std::size_t open_instances_ = 0;  // Each counts twice for verify(): node and state.
  std::uint64_t references_seen_ = 0;
  envelope::CheckedPart longest_part_;

  // While references to an incomplete tuple or frozenset exist, hashing may reach it.
  // So entries of dicts and sets inside the frame of this depth are deferred until that
  // frame is closed.
  std::size_t deferral_depth_ = kNoDeferral;
  std::vector<DeferredEntry> deferred_;
  std::unique_ptr<NodeParts> spare_parts_;  // Reused from the last complete node.
  BuildState built_;
};

// The tuple of constants of a code body. `nested`: its nested code objects, in order.
Ref decode_constants(const State& state, const Section& constants, const Limits& limits,
                     const std::vector<Ref>& nested);

// How a kind of node is built. `create` is called once `create_after` children are
// complete, and returns the object for references from then on. `finish` is
// called with all children, and returns the object if `create` is null.
struct NodeCodec {
  wire::NodeTag tag;
  std::uint8_t create_after;
  Ref (*create)(GraphDecoder&, Frame&);
  Ref (*finish)(GraphDecoder&, Frame&);
};

inline bool Frame::is_reduced() const {
  return node && (node->codec->tag == wire::NodeTag::kObject ||
                  node->codec->tag == wire::NodeTag::kNewObject);
}

template <wire::NodeTag kTag>
bool Frame::awaits(PartOf<kTag> part) const {
  return node && node->codec->tag == kTag && node->children.size() == part.position;
}

inline bool GraphDecoder::read_complete_reference(Ref& value, std::uint64_t number) {
  const Slot* const slot = slot_of_reference(number);
  const bool is_complete =
      slot != nullptr && slot->object && slot->depth == 0 && number <= references_seen_;
  if (is_complete) take(value, *slot, number);
  return is_complete;
}

[[gnu::always_inline]] inline bool GraphDecoder::read_short(Ref& value) {
  // No value that is read here, except text, is longer.
  constexpr std::ptrdiff_t kLongest = wire::kMaxNumberSize;
  if (at_ == target_ || end_ - at_ < kLongest) return false;
  const std::uint8_t first = *at_;
  if (first < 0x80) {
    value = Ref::steal(PyLong_FromLong(first));
    ++at_;
    return true;
  }
  if ((first & 0xe0) == 0xa0) {
    const std::size_t size = first & 0x1f;
    if (size >= static_cast<std::size_t>(end_ - at_)) return false;
    value = built_.texts.make(at_ + 1, size, static_cast<std::size_t>(end_ - at_ - 1),
                              is_name_);
    if (!value) return false;  // read() refuses it.
    at_ += 1 + size;
    return true;
  }
  if (first == 0xcb) {
    value = Ref::steal(
        PyFloat_FromDouble(std::bit_cast<double>(wire::read_big_endian(at_ + 1, 8))));
    at_ += wire::kMaxNumberSize;
    return true;
  }
  if ((first & ~1) == wire::kFixedExtension &&
      at_[1] == static_cast<std::uint8_t>(wire::ExtType::kReference)) {
    const std::size_t size = std::size_t{1} << (first & 1);
    if (!read_complete_reference(value, wire::read_big_endian(at_ + 2, size)))
      return false;
    at_ += 2 + size;
    return true;
  }
  if (first == wire::kNilByte || (first & ~1) == wire::kFalseByte) {
    value = Ref::share(first == wire::kNilByte     ? Py_None
                       : first == wire::kFalseByte ? Py_False
                                                   : Py_True);
    ++at_;
    return true;
  }
  std::int64_t integer = 0;
  if (!wire::is_wide_integer(first) || !wire::read_wide_integer(at_, integer)) {
    return false;
  }
  value = Ref::steal(PyLong_FromLongLong(integer));
  at_ += wire::kLeads[first].head;
  return true;
}

}  // namespace waybill::py
