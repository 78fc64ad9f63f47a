#pragma once

// Builds the objects of a payload in one loop over its bytes, with a stack of its own.

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
// them; a payload of these alone is complete then. Once the caller has verified the
// payload, decode() continues from there with everything that payloads can hold.
class GraphDecoder {
 public:
  // `start`: of the payload in `bytes`, which goes on to the end of what may be read.
  // `base`: the offset of the payload, for frames and errors. Everything but `shared`,
  // the positions that references mean, must outlive the decoder.
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
  ~GraphDecoder() { built_.abandon(); }  // Before code of others runs.
  GraphDecoder(const GraphDecoder&) = delete;
  GraphDecoder& operator=(const GraphDecoder&) = delete;

  // ---- Before the payload is verified ---------------------------------------------

  // Begins at the value of a payload whose definitions are known, and has instances of
  // ordinary classes built. `object_at`: gives what stands at a position in the
  // definitions. False if references mean something there that is null.
  template <typename ObjectAt>
  bool begin_at_value(const Envelope& envelope, ObjectAt object_at) {
    const std::size_t value = envelope.definitions.value;
    builds_instances_ = true;
    at_ = first_ = start_ + value;
    scope_ = envelope::ReferenceScope::of_value(envelope);
    built_.positions.pass_to(value);
    for (std::size_t i = 0; i < scope_->size(); ++i) {
      const std::size_t place = scope_->place_of(i);
      if (envelope.shared[place] >= value) continue;
      built_.slots[place].object = object_at(envelope.shared[place]);
      if (!built_.slots[place].object) return false;
    }
    return true;
  }
  // Builds plain data; true if the root is complete. What is open is hidden before code
  // of others can run; see BuildState::hide(). Throws PyError for MemoryError alone.
  bool begin();
  // Returns to where reading began, and drops what was built.
  void restart();
  // The root, once it is complete.
  Ref take_value() { return std::exchange(value_, {}); }
  // Whether each shared position was passed and each of them referred to, as verify()
  // demands.
  bool is_complete() const {
    return built_.positions.are_passed() && references_seen_ == reference_count();
  }
  // The longest container that was completed.
  const envelope::CheckedPart& passed() const { return passed_; }
  // Where the next value starts.
  std::size_t offset() const { return offset_of(at_); }

  // ---- Once it is verified ---------------------------------------------------------

  // Builds the root, from where begin() has stopped. Throws PyError: DecodeError, or
  // what code that the payload calls raised. Call once.
  Ref decode(DecodeContext& context);
  // What references with this number mean in the whole payload.
  const Ref& object_at(std::size_t number) const { return built_.slots[number].object; }

  // ---- For node codecs -----------------------------------------------------------

  const State& state() const { return state_; }
  const Limits& limits() const { return limits_; }
  const DecodeHooks& hooks() const { return context_->hooks; }
  CodeBuilder& code() { return *context_->code; }
  ModuleImporter& modules() { return *context_->modules; }
  Arrivals& arrivals() { return context_->arrivals; }
  DeniedNames& denied_names() { return context_->denied_names; }
  [[noreturn]] void fail(ErrorCode code, std::string detail);
  // For a node kReplacement: makes the node around it mean this object.
  void put_instead(PyObject* object);
  // Cells without content that came since the last call: those that the function at
  // hand introduces.
  std::vector<Ref> take_fresh_cells() {
    return std::exchange(context_->fresh_cells, {});
  }
  void add_fresh_cell(Ref cell) { context_->fresh_cells.push_back(std::move(cell)); }
  bool is_empty(PyObject* object) const { return object == state_.empty.get(); }
  // Whether calls of standard types are held to their rows; see standard_types.h.
  bool holds_calls_to_table() const {
    return context_->hooks.gate != nullptr && built_.keys.is_strict();
  }
  bool lets_no_code_in() const { return context_->lets_no_code_in; }
  // Counts memory that calls take beside what is in the payload.
  void take_memory(std::uint64_t bytes) {
    context_->taken_memory += bytes;
    if (context_->taken_memory > limits_.max_memory) {
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
  std::uint64_t next_buffer() { return context_->buffer_count++; }
  // What the table of buffers has under a number, which was verified.
  const Ref& stored(std::uint64_t number) const { return context_->stored[number]; }
  // What makes classes: a function of waybill._source.extension for those that another
  // Python took apart.
  PyObject* class_maker() {
    return code().is_foreign() ? late(state_, &LateHelpers::make_foreign_class)
                               : state_.make_class.get();
  }
  // The globals of functions with this name, package and number; null if the payload
  // had none yet.
  Ref known_namespace(const Frame& frame) const;
  void note_namespace(const Frame& frame, const Ref& globals);
  // Where the node of a frame starts, in bytes from the start of the payload.
  std::size_t position_of(const Frame& frame) const { return frame.offset - base_; }
  // How many bytes were read since this offset.
  std::size_t size_from(std::size_t offset) const { return this->offset() - offset; }

 private:
  // An entry that waits for its key to be complete.
  struct Late {
    Ref container, key, value;
  };
  // A key of a dict: the next at its depth often has the same one at the same place.
  struct Guess {
    // Whether its bytes are there.
    bool is_at(const std::uint8_t* at, const std::uint8_t* end) const {
      return size != 0 && size <= static_cast<std::size_t>(end - at) &&
             std::memcmp(at, start, size) == 0;
    }

    const std::uint8_t* start = nullptr;
    std::size_t size = 0;
    Ref key;
  };

  static constexpr std::size_t kNoSlot = BuildState::kNoSlot;
  static constexpr std::size_t kNotLate = static_cast<std::size_t>(-1);
  static constexpr std::size_t kGuesses = 64;
  // From this dict on, with so many bytes to come, short texts come again.
  static constexpr std::size_t kDictsWorthACache = 4;
  static constexpr std::ptrdiff_t kBytesWorthACache = 1024;

  bool is_verified() const { return context_ != nullptr; }
  // Refuses a verified payload. In a payload that is not verified the loop stops
  // instead, and verify() reports the error. Returns false.
  bool refuse(ErrorCode code, const char* detail) {
    if (is_verified()) fail(code, detail);
    return stop();
  }
  bool stop() { return is_going_ = false; }
  // Stops before a value, as if nothing of it had been read.
  void stop_before(const std::uint8_t* start, Ref& value);

  // ---- The loop --------------------------------------------------------------------
  //
  // `value`: the value that was read last; null once the frame on top has it.

  void build_definitions();
  // Builds until the root is complete or the loop has stopped. True if value_ is the
  // root; else value_ is what the frame on top gets next, or null.
  bool run();
  // Whether nothing is to be noted of single values, so that runs of them may be read
  // at once.
  bool is_free() const { return at_ >= free_from_ && late_depth_ == kNotLate; }
  // Reads what the frame on top gets next.
  inline void read_on(Ref& value);
  inline void fill(Frame& frame, Ref& value);
  [[gnu::noinline]] void fill_with_numbers(Frame& list);
  [[gnu::noinline]] void fill_list(Frame& list, Ref& value);
  [[gnu::noinline]] void fill_dict(Frame& frame, Ref& value);
  // Puts a key before its dict's next value; false if it has stopped.
  inline bool read_key(Frame& frame, Ref& value);

  // Hands a finished value to the frame on top; keeps it if the loop stops.
  void deliver(Ref& value);
  bool deliver_to_dict(Frame& frame, Ref& value);
  void deliver_to_node(Frame& frame, Ref value);
  bool deliver_to_frozen_set(Frame& frame, const Ref& value);
  bool deliver_to_set(const Frame& frame, const Ref& value);
  void deliver_field(Frame& frame, const Ref& value);
  void deliver_attribute(Frame& frame, Ref value);
  bool set_item(Frame& frame, const Ref& value);
  void pass_nothing(Frame& frame);
  bool translate(Ref& name, Ref& value);

  // Closes the frame on top. `value` stays null if more values follow, or the loop
  // stops.
  inline void close(Ref& value);
  Ref finish_node();
  void finish_instance();

  // Notes a value that is complete, for references and later payloads. Its class may
  // have another object in its place, which is the value then.
  void note(Ref& value, std::size_t slot, std::size_t offset) {
    if (slot != kNoSlot || keeps_history_) note_shared(value, slot, offset);
  }
  void note_shared(Ref& value, std::size_t slot, std::size_t offset);
  // Notes where the container ended that was completed last.
  void note_passed();

  // ---- Values ----------------------------------------------------------------------

  // Reads one value. False if a container was opened, or the loop stopped before it.
  [[gnu::always_inline]] bool next(Ref& value) {
    return read_short(value) || read(value);
  }
  // What there is most of, before all tables. False, with nothing read, for all else.
  bool read_short(Ref& value);
  bool read(Ref& value);
  inline bool read_any(Ref& value);
  // A value without values in it.
  bool read_leaf(Ref& value);
  inline bool read_bytes(Ref& value);
  bool read_extension(Ref& value, BytesView bytes, std::uint8_t type);
  // What a reference means; false if that is not complete, or not there.
  bool refer_to_complete(Ref& value, std::uint64_t number);
  bool refer(Ref& value, std::uint64_t number);
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
  // Makes a container of `count` values; false if there cannot be as many.
  inline bool make_container(FrameKind kind, std::uint64_t count, Ref& object);
  std::uint64_t fill_few(PyObject* object, std::uint64_t count, HashCost& cost);
  bool read_byte_array(Ref& value, std::uint64_t count, std::size_t offset,
                       std::size_t slot);
  // The map of a node that is no dict of the payload; false if it is one.
  bool begin_map_of_node(Frame& frame);
  bool open_map_of_node(Ref& value, Frame& frame);
  bool open_instance(std::uint64_t count, std::size_t offset, std::size_t slot);
  Ref new_instance(PyObject* type);
  // Makes an object by a short call, of which head and tag were read: `count` values
  // follow, and the node starts at `offset`. False if the node is no short call.
  bool read_call(Ref& value, std::uint8_t tag, std::uint64_t count, std::size_t offset,
                 std::size_t slot);
  bool open_node(Ref& value, std::uint8_t tag, std::uint64_t count, std::size_t offset,
                 std::size_t slot);
  void note_node(Ref& object, const Frame& frame, const HashCost& cost);
  Ref read_parts(Frame& frame);
  Ref read_part(wire::NodeTag node);
  std::unique_ptr<NodeParts> new_parts(std::uint8_t tag);
  void give_back(std::unique_ptr<NodeParts> parts);
  HashCost cost_of_earlier(const Frame& earlier) const;
  void push(Frame&& frame);

  // Whether a small list, dict or node is next; all of their heads are alike.
  bool is_container_next() const {
    return at_ != end_ && (*at_ & 0xe0) == wire::kEmptyMap;
  }
  // Whether [] and {} stand there, and references mean nothing up to `more` bytes
  // behind them.
  bool is_nothing_at(const std::uint8_t* at, std::size_t more) const {
    return static_cast<std::size_t>(end_ - at) >= 2 + more &&
           at[0] == wire::kEmptyArray && at[1] == wire::kEmptyMap &&
           built_.positions.are_none_before(position_at(at) + 2 + more);
  }
  // Whether one more container would be too many inside each other.
  bool is_full() const {
    return built_.stack.size() + open_instances_ >= limits_.max_depth;
  }
  // Refuses a container that would be one too many.
  bool demand_room() {
    return !is_full() || refuse(ErrorCode::kLimitExceeded,
                                "more containers inside each other than max_depth");
  }
  // Whether so many values may be announced. Each has a byte, so no sound payload
  // announces more; containers that claim all that is left, one inside the other, would
  // reserve its square.
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
  // The slot of a value that starts here; kNoSlot if no reference means it.
  std::size_t slot_here() {
    if (at_ != target_) return kNoSlot;
    const std::size_t slot = built_.positions.slot_at(position_at(at_));
    look_for_target();
    return slot;
  }
  // After positions were passed.
  void look_for_target() {
    are_passed_ = built_.positions.are_passed();
    const bool is_ahead = !are_passed_ && built_.positions.next() < position_at(end_);
    target_ = is_ahead ? start_ + built_.positions.next() : nullptr;
  }
  std::size_t reference_count() const {
    return scope_ ? scope_->size() : built_.slots.size();
  }
  // What a reference means here; null if there is no such number.
  const Slot* slot_of_reference(std::uint64_t number) const {
    if (number >= reference_count()) return nullptr;
    return &built_.slots[scope_ ? scope_->place_of(number) : number];
  }

  // ---- Code of others
  // ----------------------------------------------------------------

  // Runs what may run code of anybody's, in a payload that is verified.
  template <typename Function>
  auto outside(Function function) {
    built_.hide();
    const CollectorPause::Break others(context_->collector);
    return function();
  }
  // The same, where the key of a dict or an item of a set is hashed.
  template <typename Function>
  auto hashing(PyObject* key, Function function) {
    return is_simple(key) || !is_verified() ? function() : outside(function);
  }
  // Calls a codec of the node, where something opaque may take its place.
  Ref call_codec(Ref (*codec)(GraphDecoder&, Frame&), Frame& frame);

  // ---- Keys ------------------------------------------------------------------------

  bool must_wait() const { return built_.stack.size() > late_depth_; }
  // Whether a key or item of this frame may be hashed; refuses it otherwise.
  bool demand_hashable(PyObject* key, Frame& frame);
  // For results of C functions that hash: what cannot be hashed is a bad payload.
  bool hashed(int result);
  // Refuses a dict in which one key took the place of another.
  bool demand_whole(const Frame& frame);
  // Puts the gathered items of a frozenset into it, or has them wait.
  bool fill_frozen(const Frame& frame);
  void insert_late();

  const State& state_;
  const Limits& limits_;
  DecodeContext* context_ = nullptr;  // Null as long as the payload is not verified.

  const std::uint8_t* start_;
  const std::uint8_t* first_ = start_;  // Of what it reads: the payload, or its value.
  const std::uint8_t* at_;
  const std::uint8_t* end_;
  const std::uint8_t* free_from_ = start_;  // See is_free().
  const std::uint8_t* target_ = nullptr;    // The next value that references mean.
  std::size_t base_;
  std::size_t offset_ = 0;  // Of the value at hand, for errors.
  bool is_going_ = true;
  bool is_name_ = false;  // Text that comes next is the name of an attribute.
  bool reads_module_numbers_ = false;  // A module means its number in the manifest.
  bool are_passed_ = false;  // All that references mean: what follows needs no slot.
  bool builds_instances_ = false;
  bool makes_calls_ = false;
  bool keeps_history_ = false;
  std::vector<Guess> guesses_;  // None in small payloads.
  std::size_t dicts_ = 0;
  Ref value_;  // See take_value().
  // None: numbers are places among the shared positions.
  std::optional<envelope::ReferenceScope> scope_;

  // Of a payload that is not verified.
  std::uint64_t announced_ = 0;     // Values of all containers so far.
  std::size_t open_instances_ = 0;  // verify() counts node and state of each as two.
  std::uint64_t references_seen_ = 0;
  envelope::CheckedPart passed_;

  // While something refers to a tuple or frozenset that is not complete, hashing may
  // meet it: entries of dicts and sets inside the frame of this depth wait for it.
  std::size_t late_depth_ = kNotLate;
  std::vector<Late> late_;
  std::unique_ptr<NodeParts> spare_parts_;  // Of a node that is finished.
  BuildState built_;
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

inline bool GraphDecoder::refer_to_complete(Ref& value, std::uint64_t number) {
  const Slot* const slot = slot_of_reference(number);
  const bool is_complete =
      slot != nullptr && slot->object && slot->depth == 0 && number <= references_seen_;
  if (is_complete) take(value, *slot, number);
  return is_complete;
}

[[gnu::always_inline]] inline bool GraphDecoder::read_short(Ref& value) {
  // Beyond that, the end has to be looked for by text alone.
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
    if (!value) return false;  // For read() to refuse it.
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
    if (!refer_to_complete(value, wire::read_big_endian(at_ + 2, size))) return false;
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
