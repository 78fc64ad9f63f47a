#pragma once

// One loop over the bytes of plain data, with a stack of open containers. It builds
// payloads that are plain, see plain_decoder.h, and for GraphDecoder what is plain in
// all others.

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

// What was built so far, for all who build parts of one payload.
struct BuiltValues {
  // An object that references mean.
  struct Slot {
    Ref object;
    std::size_t depth = 0;  // Of GraphDecoder's frame while that is open; else 0.
    HashCost cost;
  };

  BuiltValues(const std::vector<std::uint64_t>& shared, const Limits& limits)
      : positions(shared), slots(shared.size()), keys(limits) {}

  SharedPositions positions;
  std::vector<Slot> slots;  // By number.
  KeyGuard keys;
  StrMaker texts;
};

// Accepts exactly what verify() and GraphDecoder accept, or less: what it does not know
// or like is left to them. Runs no code of others. One payload per decoder.
class PlainDecoder {
 public:
  enum class Kind : std::uint8_t { kList, kTuple, kSet, kFrozenSet, kDict, kInstance };
  static constexpr std::size_t kNoSlot = SharedPositions::kNone;

  // A container that is being filled.
  struct Frame {
    Kind kind;
    std::uint64_t left;      // Values still to come; keys count.
    std::uint64_t position;  // Values that came.
    std::size_t offset;      // From the start of the payload.
    std::size_t slot;
    Ref object;
    Ref key;        // kDict: waits for its value.
    HashCost cost;  // Of all in it.
    std::unique_ptr<KeyProbes> probes = {};
    Ref instance = {};  // kInstance: whose dict `object` is.
  };

  // `start`: of the payload in `bytes`.
  PlainDecoder(BytesView bytes, std::size_t start, const Limits& limits,
               const std::vector<std::uint64_t>& shared)
      : start_(bytes.data() + start),
        at_(start_),
        end_(bytes.data() + bytes.size()),
        max_depth_(limits.max_depth),
        built_(shared, limits) {}

  // What stands in the payload and is made elsewhere.
  void have(const State& state, std::span<const envelope::ReusableNode> nodes,
            std::span<const Ref> objects) {
    state_ = &state;
    nodes_ = nodes;
    objects_ = objects;
  }

  // The whole payload. Null if it is not plain, or not sound.
  Ref decode();

  // The value at this offset of a payload that was verified, `depth` containers deep.
  // Null, and stopped_inside(), if there is a value inside that is not plain; null with
  // nothing passed if this is not for here.
  Ref decode_at(std::size_t offset, std::size_t depth);
  // Whether containers are open, to be filled by who can read the value at
  // offset(), and all before it was passed.
  bool stopped_inside() const;
  std::vector<Frame>& open_containers() { return stack_; }
  // Of the nodes that others have made, those that were passed.
  std::size_t nodes_passed() const { return nodes_passed_; }

  // From the start of the payload: where the next value starts.
  std::size_t offset() const { return static_cast<std::size_t>(at_ - start_); }
  // Of the value that was decoded last.
  const HashCost& cost() const { return cost_; }
  BuiltValues& built() { return built_; }

 private:
  // From this dict on, with so many bytes to come, short texts come again.
  static constexpr std::size_t kDictsWorthACache = 4;
  static constexpr std::ptrdiff_t kBytesWorthACache = 1024;
  static constexpr std::size_t kUsualDepth = 8;

  // Builds all that is inside of a value that was read.
  Ref fill_all(Ref value);
  // Reads one value. False if there is none yet: a container was opened, or this is
  // not for here.
  bool next(Ref& value) { return read_short(value) || read(value); }
  // What there is most of, before all tables. False, with nothing read, for all else.
  bool read_short(Ref& value);
  bool read(Ref& value);
  bool read_plain(Ref& value);
  bool read_bytes(Ref& value);
  bool read_extension(Ref& value, const std::uint8_t* bytes, std::size_t size);
  bool read_reference(Ref& value, BytesView bytes);
  bool read_byte_array(Ref& value, std::uint64_t count, std::size_t slot);
  bool open(Ref& value, const wire::Lead& lead);
  bool take_node(Ref& value, const std::uint8_t* start, std::size_t slot);
  bool open_instance(std::uint64_t count, std::size_t offset, std::size_t slot);
  // Whether one more container would be too many inside each other.
  bool is_full() const {
    return depth_ + stack_.size() + open_instances_ >= max_depth_;
  }
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
        built_.positions.slot_at(static_cast<std::uint64_t>(at_ - start_));
    are_passed_ = built_.positions.are_passed();
    return slot;
  }
  void note(std::size_t slot, PyObject* object) {
    if (slot != kNoSlot) built_.slots[slot] = {Ref::share(object), 0, cost_};
  }
  bool give_up() {
    progress_ = Progress::kGivenUp;
    return false;
  }
  [[gnu::cold]] bool stop_before(const std::uint8_t* start);
  bool is_going() const { return progress_ == Progress::kGoing; }
  // To the start of a value, as if nothing of it had been read.
  void go_back_to(const std::uint8_t* start);
  // Gives up on a key or item that is not to be hashed.
  void look_at(PyObject* key, Frame& frame);
  // For functions that hash: what cannot be hashed is not for here.
  void hashed(int result);

  const std::uint8_t* start_;
  const std::uint8_t* at_;
  const std::uint8_t* end_;
  std::size_t max_depth_;
  std::size_t depth_ = 0;  // Of what is decoded here.
  enum class Progress : std::uint8_t {
    kGoing,
    kStopped,  // Before a value that is not plain.
    kGivenUp,
  };
  Progress progress_ = Progress::kGoing;
  HashCost cost_;  // Of the value at hand.
  std::vector<Frame> stack_;
  std::uint64_t announced_ = 0;  // Values of all containers so far.
  std::size_t dicts_ = 0;
  BuiltValues built_;
  bool are_passed_ = false;  // All that references mean: what follows needs no slot.
  std::uint64_t references_seen_ = 0;
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
    value = built_.texts.make(at_ + 1, size, static_cast<std::size_t>(end_ - at_ - 1),
                              is_name_);
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
