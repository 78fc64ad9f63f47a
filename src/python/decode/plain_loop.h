#pragma once

// One loop over the bytes of plain data: None, bool, int, float, str, bytes, bytearray,
// and lists, tuples, dicts, sets and frozensets of them. It builds payloads that hold
// nothing else, and for GraphDecoder what is plain in all others.

#include <Python.h>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "format/definitions.h"
#include "python/decode/build_state.h"
#include "python/runtime/ref.h"
#include "python/runtime/state.h"
#include "verify/passed_part.h"
#include "waybill/bytes.h"
#include "waybill/envelope.h"
#include "waybill/limits.h"
#include "wire/format.h"
#include "wire/lead.h"
#include "wire/number.h"
#include "wire/reader.h"

namespace waybill::py {

// Passes over no value but those that verify() and GraphDecoder accept, and stops
// before all else. So a payload need not be verified before: whoever finds that the
// loop has stopped verifies it, and GraphDecoder goes on there. Runs no code of others
// while something is open that is not hidden. Throws PyError, MemoryError at most.
class PlainLoop {
 public:
  // Calls what the payload calls, which may run code of others.
  class Maker {
   public:
    virtual ~Maker() = default;
    virtual bool may_make(PyObject* callable) const = 0;
    // `offset`: of the node, for errors. Throws PyError, any exception.
    virtual Ref make(PyObject* callable, std::span<PyObject* const> arguments,
                     std::size_t offset) = 0;
  };

  // `start`: of the payload in `bytes`, which goes on to the end of what may be read.
  // `base`: the offset of the payload, for frames and errors.
  PlainLoop(BytesView bytes, std::size_t start, std::size_t base, const Limits& limits,
            const std::vector<std::uint64_t>& shared)
      : start_(bytes.data() + start),
        at_(start_),
        end_(bytes.data() + bytes.size()),
        base_(base),
        max_depth_(limits.max_depth),
        built_(limits, shared) {}
  // For the payload of an envelope.
  PlainLoop(const Envelope& envelope, const Limits& limits)
      : PlainLoop(envelope.bytes, envelope.payload.offset, envelope.payload.offset,
                  limits, envelope.shared) {}

  // Begins at the value of a payload whose definitions are known, and has instances of
  // ordinary classes built. `object_at`: gives what stands at a position in the
  // definitions. False if references mean something there that is null.
  template <typename ObjectAt>
  bool begin_at_value(const State& state, const Envelope& envelope,
                      ObjectAt object_at) {
    const std::size_t value = envelope.definitions.value;
    state_ = &state;
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
  // The payload has been verified: what comes from here on needs no second check, and
  // keys may have code of their own. Nodes are left to others. `open_types`: classes
  // that have not got their attributes yet; null if no instances are to be built.
  // `maker`: of objects that a short call makes; null if they are left to others, too.
  void trust(const State& state, const std::vector<PyObject*>* open_types,
             Maker* maker) {
    is_trusted_ = true;
    state_ = &state;
    open_types_ = open_types;
    maker_ = maker;
    references_seen_ = built_.slots.size();
    open_instances_ = 0;
  }

  // What references mean from here on.
  void use_scope(const envelope::ReferenceScope& scope) { scope_ = scope; }

  // run() from the start of the payload.
  bool begin();
  // Fills the containers on top of the stack, and closes those that are complete. True
  // if the root is complete. Else it has stopped where GraphDecoder has to go on:
  // before the value at offset(), or before what the frame on top does with the value
  // that was built last, or before that frame is closed. What is open is hidden then.
  bool run();
  // Whether a node is next before which it stops; false if that takes a closer look.
  bool is_other_node_next() const {
    if (value_ || end_ - at_ <= 4 || (at_[0] & 0xf0) != wire::kEmptyArray ||
        !wire::starts_node(at_ + 1, end_)) {
      return false;
    }
    const auto tag = static_cast<wire::NodeTag>(at_[3]);
    const bool may_be_call = tag == wire::NodeTag::kObject && maker_ != nullptr &&
                             wire::size_of_reference({at_ + 4, end_}) != 0;
    return !may_be_call && !is_for_it(tag);
  }
  // Makes an object by a short call, of which head and tag were read: `count` values
  // follow, and the node starts at `offset`. False if that is not for here.
  bool read_call(Ref& value, std::size_t offset, std::uint64_t count, std::size_t slot);
  // The root, or the value that the frame on top gets; null if there is none.
  Ref take_value() { return std::exchange(value_, {}); }
  // To the start of what it reads, as if nothing had been built.
  void restart(const Limits& limits);

  // Whether all was met that has to be in a payload that was not verified.
  bool is_complete() const {
    const std::size_t count = scope_ ? scope_->size() : built_.slots.size();
    return built_.positions.are_passed() && references_seen_ == count;
  }
  // The longest container that was completed before trust() was called.
  const envelope::PassedPart& passed() const { return passed_; }
  // Where the next value starts.
  std::size_t offset() const { return base_ + static_cast<std::size_t>(at_ - start_); }
  // Of a container that is given by take_value().
  std::size_t value_offset() const { return value_offset_; }
  void go_to(std::size_t offset) { at_ = start_ + (offset - base_); }
  BuildState& built() { return built_; }

 private:
  static constexpr std::size_t kNoSlot = BuildState::kNoSlot;
  // From this dict on, with so many bytes to come, short texts come again.
  static constexpr std::size_t kDictsWorthACache = 4;
  static constexpr std::ptrdiff_t kBytesWorthACache = 1024;

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
  static constexpr std::size_t kGuesses = 64;

  // Whether it knows such nodes.
  static bool is_for_it(wire::NodeTag tag) {
    using wire::NodeTag;
    return tag == NodeTag::kTuple || tag == NodeTag::kSet ||
           tag == NodeTag::kFrozenSet || tag == NodeTag::kByteArray ||
           tag == NodeTag::kNewObject;
  }
  // Reads one value. False if there is none: a container was opened, or the loop
  // stopped before it.
  [[gnu::always_inline]] bool next(Ref& value) {
    return read_short(value) || read(value);
  }
  // What there is most of, before all tables. False, with nothing read, for all else.
  bool read_short(Ref& value);
  bool read(Ref& value);
  bool read_any(Ref& value);
  bool read_bytes(Ref& value);
  bool read_extension(Ref& value, const std::uint8_t* bytes, std::size_t size);
  bool read_reference(Ref& value, BytesView bytes);
  bool refer(Ref& value, std::uint64_t number);
  bool read_byte_array(Ref& value, std::uint64_t count, std::size_t slot);
  inline bool open(Ref& value, const wire::Lead& lead);
  inline bool open_container(Ref& value, FrameKind kind, std::uint64_t count,
                             std::size_t offset, std::size_t slot);
  std::uint64_t fill_few(PyObject* object, std::uint64_t count, HashCost& cost);
  // Makes a container of `count` values; false if there cannot be as many.
  inline bool make(FrameKind kind, std::uint64_t count, Ref& object);
  Ref leaf(BytesView bytes);
  bool is_class_next() const;
  // Whether a small list, dict or node is next; all of their heads are alike.
  bool is_container_next() const {
    return at_ != end_ && (*at_ & 0xe0) == wire::kEmptyMap;
  }
  bool open_instance(const std::uint8_t* start, std::uint64_t count, std::size_t slot);
  Ref new_instance(PyObject* type);
  // Whether [] and {} are next, of which references mean nothing, `more` bytes behind
  // them included.
  bool is_nothing_next(std::size_t more) const;
  // Whether one more container would be too many inside each other.
  bool is_full() const { return built_.stack.size() + open_instances_ >= max_depth_; }
  // Whether so many values may be announced. Each has a byte, so no sound payload
  // announces more; containers that claim all that is left, one inside the other, would
  // reserve its square.
  bool announce(std::uint64_t values) {
    announced_ += values;
    return is_trusted_ || announced_ <= static_cast<std::uint64_t>(end_ - start_);
  }

  // Each of these stops the loop if something is not for here. Inside of each other
  // they would be too large for a compiler to inline what is small.
  inline void fill(Frame& frame, Ref& value);
  [[gnu::noinline]] void fill_with_numbers(Frame& list);
  [[gnu::noinline]] void fill_list(Frame& list, Ref& value);
  [[gnu::noinline]] void fill_dict(Frame& frame, Ref& value);
  void put(Frame& frame, Ref& value);
  inline void close(Ref& value);

  // Whether a key or item may be hashed here.
  bool may_hash(PyObject* key, Frame& frame);
  // Reads the next key of a dict; false if it is not for here.
  bool read_key(Frame& frame, Ref& value);
  // Puts a value under the key that waits for it; false if that is not for here.
  bool set_item(Frame& frame, PyObject* value);
  // For functions that hash: false if they could not.
  static bool hashed(int result);
  void stop() { is_going_ = false; }
  // Before a value, as if nothing of it had been read.
  void stop_before(const std::uint8_t* start, Ref& value);

  // The slot of a value that starts here; kNoSlot if no reference means it.
  std::size_t slot_here() {
    if (at_ != target_) return kNoSlot;
    const std::size_t slot =
        built_.positions.slot_at(static_cast<std::uint64_t>(at_ - start_));
    look_for_target();
    return slot;
  }
  // After positions were passed.
  void look_for_target() {
    are_passed_ = built_.positions.are_passed();
    const bool is_ahead = !are_passed_ && built_.positions.next() <
                                              static_cast<std::uint64_t>(end_ - start_);
    target_ = is_ahead ? start_ + built_.positions.next() : nullptr;
  }
  // Notes where the container ended that was completed last.
  void note_passed() {
    constexpr std::size_t kWorthPassing = 64;
    const std::size_t size = offset() - value_offset_;
    if (size < kWorthPassing || size <= passed_.size()) return;
    passed_ = {value_offset_, offset(), built_.positions.passed(), references_seen_};
  }
  // What a reference means here; null if there is no such number.
  const Slot* slot_of_reference(std::uint64_t number) const {
    if (number >= (scope_ ? scope_->size() : built_.slots.size())) return nullptr;
    return &built_.slots[scope_ ? scope_->place_of(number) : number];
  }
  // Notes an object that is complete.
  void note(std::size_t slot, PyObject* object) {
    if (slot != kNoSlot) built_.slots[slot] = {Ref::share(object), 0, built_.cost};
  }

  const std::uint8_t* start_;
  const std::uint8_t* first_ = start_;  // Of what it reads: the payload, or its value.
  const std::uint8_t* at_;
  const std::uint8_t* end_;
  std::size_t base_;
  std::size_t max_depth_;
  bool is_going_ = true;
  bool is_trusted_ = false;
  bool is_name_ = false;     // Text that comes next is the name of an attribute.
  bool are_passed_ = false;  // All that references mean: what follows needs no slot.
  const std::uint8_t* target_ = nullptr;  // The next value that they mean, or null.
  std::vector<Guess> guesses_;            // None in small payloads.
  std::uint64_t announced_ = 0;           // Values of all containers so far.
  std::size_t dicts_ = 0;
  // Those who verify count the node and the state of an instance as two.
  std::size_t open_instances_ = 0;
  std::uint64_t references_seen_ = 0;
  // None: numbers are places among the shared positions.
  std::optional<envelope::ReferenceScope> scope_;
  envelope::PassedPart passed_;
  std::size_t value_offset_ = 0;
  Ref value_;  // See take_value().
  const State* state_ = nullptr;
  const std::vector<PyObject*>* open_types_ = nullptr;
  Maker* maker_ = nullptr;
  BuildState built_;
};

// A tuple that is open is left to who knows how to hash what refers to it.
inline bool PlainLoop::refer(Ref& value, std::uint64_t number) {
  const Slot* const found = slot_of_reference(number);
  if (found == nullptr || number > references_seen_) return false;
  const Slot& slot = *found;
  if (!slot.object) return false;
  if (slot.depth != 0) [[unlikely]] {
    Frame& frame = built_.stack[slot.depth - 1];
    if (frame.kind == FrameKind::kTuple || frame.kind == FrameKind::kFrozenSet) {
      return false;
    }
    BuildState::fill_holes(frame);
  }
  if (number == references_seen_) ++references_seen_;
  value = slot.object;
  built_.cost = slot.cost;
  return true;
}

[[gnu::always_inline]] inline bool PlainLoop::read_short(Ref& value) {
  // Beyond that, the end has to be looked for by text alone.
  constexpr std::ptrdiff_t kLongest = wire::kLongestNumber;
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
    if (!value) return false;  // For read() to stop before it.
    at_ += 1 + size;
    return true;
  }
  if (first == 0xcb) {
    value = Ref::steal(
        PyFloat_FromDouble(std::bit_cast<double>(wire::big_endian(at_ + 1, 8))));
    at_ += wire::kLongestNumber;
    return true;
  }
  if ((first & ~1) == wire::kFixedExtension &&
      at_[1] == static_cast<std::uint8_t>(wire::ExtType::kReference)) {
    const std::size_t size = std::size_t{1} << (first & 1);
    if (!refer(value, wire::big_endian(at_ + 2, size))) return false;
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
