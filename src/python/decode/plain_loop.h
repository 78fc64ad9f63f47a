#pragma once

// One loop over the bytes of a payload of plain data, with a stack of open containers.
// See plain_decoder.h, which has the functions for others.

#include <Python.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "python/decode/key_guard.h"
#include "python/decode/shared_positions.h"
#include "python/decode/str_maker.h"
#include "python/runtime/ref.h"
#include "python/runtime/state.h"
#include "verify/reusable_nodes.h"
#include "waybill/error.h"
#include "waybill/limits.h"
#include "wire/lead.h"
#include "wire/number.h"

namespace waybill::py {

// Accepts exactly what verify() and GraphDecoder accept, or less: whatever it does not
// know or like it gives up on, and they decide. Runs no code of others. One payload per
// decoder.
class PlainDecoder {
 public:
  // `start`: of the payload in `bytes`.
  PlainDecoder(BytesView bytes, std::size_t start, const Limits& limits,
               const std::vector<std::uint64_t>& shared)
      : start_(bytes.data() + start),
        at_(start_),
        end_(bytes.data() + bytes.size()),
        max_depth_(limits.max_depth),
        keys_(limits),
        are_passed_(shared.empty()),
        positions_(shared),
        slots_(shared.size()) {
    stack_.reserve(kUsualDepth);
  }

  // What stands in the payload and is made elsewhere.
  void have(const State& state, std::span<const envelope::ReusableNode> nodes,
            std::span<const Ref> objects) {
    state_ = &state;
    nodes_ = nodes;
    objects_ = objects;
  }

  // Null if this is not for here.
  Ref decode();

  // Where the payload ends, once it has been decoded.
  std::size_t size() const { return static_cast<std::size_t>(at_ - start_); }

 private:
  enum class Kind : std::uint8_t { kList, kTuple, kSet, kFrozenSet, kDict, kInstance };
  static constexpr std::size_t kNoSlot = SharedPositions::kNone;
  // From this dict on, with so many bytes to come, short texts come again.
  static constexpr std::size_t kDictsWorthACache = 4;
  static constexpr std::ptrdiff_t kBytesWorthACache = 1024;
  static constexpr std::size_t kUsualDepth = 8;

  struct Frame {
    Kind kind;
    std::uint64_t left;      // Values still to come; keys count.
    std::uint64_t position;  // Values that came.
    std::size_t slot;
    Ref object;
    Ref key;        // kDict: waits for its value.
    HashCost cost;  // Of all in it.
    std::unique_ptr<KeyProbes> probes = {};
    Ref instance = {};  // kInstance: whose dict `object` is.
  };

  // An object that references mean.
  struct Slot {
    Ref object;
    HashCost cost;
  };

  // Reads one value. False if there is none yet: a container was opened, or this is
  // not for here (given_up_).
  bool next(Ref& value) { return read_short(value) || read(value); }
  // What there is most of, before all tables. False, with nothing read, for all else.
  bool read_short(Ref& value);
  bool read(Ref& value);
  bool read_bytes(Ref& value);
  bool read_extension(Ref& value, const std::uint8_t* bytes, std::size_t size);
  bool read_reference(Ref& value, BytesView bytes);
  bool read_byte_array(Ref& value, std::uint64_t count, std::size_t slot);
  bool open(Ref& value, const wire::Lead& lead);
  bool take_node(Ref& value, const std::uint8_t* start, std::size_t slot);
  bool is_class_next() const;
  bool open_instance(std::uint64_t count, std::size_t slot);
  Ref new_instance(PyObject* type);
  // Passes over [] and {}, of which references mean nothing, `more` bytes behind them
  // included.
  bool pass_nothing(std::size_t more);
  bool refers_to_same(const envelope::ReusableNode& node, std::size_t slot) const;
  // Makes a container of `count` values; false if this is not for here.
  bool make(Kind kind, std::uint64_t count, Ref& object);

  void put(Frame& frame, Ref value);
  void fill(Frame& frame, Ref& value);
  void fill_with_numbers(Frame& list);
  void fill_dict(Frame& frame, Ref& value);
  Ref close();

  // The slot of a value that starts here; kNoSlot if no reference means it.
  std::size_t slot_here() {
    const std::size_t slot =
        positions_.slot_at(static_cast<std::uint64_t>(at_ - start_));
    are_passed_ = positions_.are_passed();
    return slot;
  }
  void note(std::size_t slot, PyObject* object) {
    if (slot != kNoSlot) slots_[slot] = {Ref::share(object), cost_};
  }
  bool give_up() {
    given_up_ = true;
    return false;
  }
  // Gives up on a key or item that is not to be hashed.
  void look_at(PyObject* key, Frame& frame);
  // For functions that hash: what cannot be hashed is not for here.
  void hashed(int result);

  const std::uint8_t* start_;
  const std::uint8_t* at_;
  const std::uint8_t* end_;
  std::size_t max_depth_;
  bool given_up_ = false;
  KeyGuard keys_;
  HashCost cost_;  // Of the value at hand.
  std::vector<Frame> stack_;
  std::uint64_t announced_ = 0;  // Values of all containers so far.
  std::size_t dicts_ = 0;
  StrMaker texts_;
  bool are_passed_;  // All that references mean: what follows needs no slot.
  SharedPositions positions_;
  std::uint64_t references_seen_ = 0;
  std::vector<Slot> slots_;
  std::span<const envelope::ReusableNode> nodes_;
  std::span<const Ref> objects_;
  std::size_t nodes_passed_ = 0;
  const State* state_ = nullptr;
  bool is_name_ = false;  // Text that comes next is the name of an attribute.
  std::size_t open_instances_ = 0;
};

[[gnu::always_inline]] inline bool PlainDecoder::read_short(Ref& value) {
  constexpr std::ptrdiff_t kLongest = 32;  // Beyond it, no end has to be looked for.
  if (!are_passed_ || end_ - at_ < kLongest) return false;
  const std::uint8_t first = *at_;
  if (first < 0x80) {
    value = Ref::steal(PyLong_FromLong(first));
    ++at_;
    return true;
  }
  if ((first & 0xe0) == 0xa0) {
    const std::size_t size = first & 0x1f;
    value =
        texts_.make(at_ + 1, size, static_cast<std::size_t>(end_ - at_ - 1), is_name_);
    if (!value) return false;  // For read() to give up on.
    at_ += 1 + size;
    return true;
  }
  if (first == 0xcb) {
    value = Ref::steal(
        PyFloat_FromDouble(std::bit_cast<double>(wire::big_endian(at_ + 1, 8))));
    at_ += wire::kLongestNumber;
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
