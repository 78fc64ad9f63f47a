// One loop over the bytes of a plain payload, with a stack of open containers.
//
// It accepts exactly what verify() and GraphDecoder accept, or less: whatever it does
// not know or like it gives up on, and they decide.
// tests/python/untrusted/test_plain_decoder.py compares the two.

#include "python/decode/plain_decoder.h"

#include <algorithm>
#include <bit>
#include <utility>
#include <vector>

#include "format/plain.h"
#include "python/decode/key_guard.h"
#include "python/decode/scalars.h"
#include "python/decode/shared_positions.h"
#include "python/decode/text_maker.h"
#include "python/runtime/compat.h"
#include "wire/format.h"
#include "wire/lead.h"
#include "wire/number.h"
#include "wire/reader.h"
#include "wire/token.h"

namespace waybill::py {

namespace {

using wire::ExtType;
using wire::NodeTag;

class PlainDecoder {
 public:
  PlainDecoder(BytesView bytes, std::size_t start, const Limits& limits,
               const std::vector<std::uint64_t>& shared)
      : start_(bytes.data() + start),
        at_(start_),
        end_(bytes.data() + bytes.size()),
        max_depth_(limits.max_depth),
        keys_(limits),
        are_passed_(shared.empty()),
        positions_(shared),
        slots_(shared.size()) {}

  // Null if this is not for here.
  Ref decode();

  // Where the payload ends, once it has been decoded.
  std::size_t size() const { return static_cast<std::size_t>(at_ - start_); }

 private:
  enum class Kind : std::uint8_t { kList, kTuple, kSet, kFrozenSet, kDict };
  static constexpr std::size_t kNoSlot = SharedPositions::kNone;
  static constexpr std::size_t kDictsWorthACache = 4;

  struct Frame {
    Kind kind;
    std::uint64_t left;      // Values still to come; keys count.
    std::uint64_t position;  // Values that came.
    std::size_t slot;
    Ref object;
    Ref key;        // kDict: waits for its value.
    HashCost cost;  // Of all in it.
    std::unique_ptr<KeyProbes> probes = {};
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
  bool open(Ref& value, const wire::Lead& lead);
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
  void note(std::size_t slot, PyObject* object);
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
  TextMaker texts_;
  bool are_passed_;  // All that references mean: what follows needs no slot.
  SharedPositions positions_;
  std::uint64_t references_seen_ = 0;
  std::vector<Slot> slots_;
};

Ref PlainDecoder::decode() {
  Ref value;
  read(value);
  while (!given_up_ && !stack_.empty()) {
    Frame& frame = stack_.back();
    if (value) put(frame, std::exchange(value, {}));
    if (given_up_) break;
    fill(frame, value);  // May have opened another, which ends the reference.
    if (!given_up_ && stack_.back().left == 0) value = close();
  }
  const bool is_whole =
      !given_up_ && positions_.are_passed() && references_seen_ == slots_.size();
  return is_whole ? std::move(value) : Ref();
}

// Values come one after the other until a container is opened.
void PlainDecoder::fill(Frame& frame, Ref& value) {
  cost_ = {};
  switch (frame.kind) {
    case Kind::kList:
      if (are_passed_) fill_with_numbers(frame);
      while (frame.left != 0 && next(value)) {
        PyList_SET_ITEM(frame.object.get(), static_cast<Py_ssize_t>(frame.position++),
                        value.release());
        --frame.left;
      }
      return;
    case Kind::kDict:
      fill_dict(frame, value);
      return;
    default:
      while (frame.left != 0 && next(value)) {
        put(frame, std::exchange(value, {}));
        if (given_up_) return;
        cost_ = {};
      }
      return;
  }
}

// Pairs of leaves, without a way through the frame. What has opened a container ends
// the reference to the frame, so a key is put there before its value is read.
void PlainDecoder::fill_dict(Frame& frame, Ref& value) {
  while (frame.left != 0) {
    if (!frame.key) {
      if (!next(value)) return;
      look_at(value.get(), frame);
      if (given_up_) return;
      frame.key = std::move(value);
      ++frame.position;
      --frame.left;
    }
    if (!next(value)) return;
    hashed(PyDict_SetItem(frame.object.get(), frame.key.get(), value.get()));
    frame.key = value = Ref();
    ++frame.position;
    --frame.left;
    if (given_up_) return;
    cost_ = {};
  }
}

// Passes on the numbers that come next, of which big lists are full; the last bytes of
// the envelope are left to others.
void PlainDecoder::fill_with_numbers(Frame& list) {
  const std::uint8_t* at = at_;
  PyObject** const first = PySequence_Fast_ITEMS(list.object.get());
  PyObject** item = first + list.position;
  PyObject** const end = item + list.left;
  for (; item != end && end_ - at >= static_cast<std::ptrdiff_t>(wire::kLongestNumber);
       ++item) {
    std::int64_t value = 0;
    if (*at == 0xcb) {
      const auto real = std::bit_cast<double>(wire::big_endian(at + 1, 8));
      *item = Ref::steal(PyFloat_FromDouble(real)).release();
      at += wire::kLongestNumber;
    } else if (*at < 0x80) {
      *item = Ref::steal(PyLong_FromLong(*at)).release();
      ++at;
    } else if (wire::is_wide_integer(*at) && wire::read_wide_integer(at, value)) {
      *item = Ref::steal(PyLong_FromLongLong(value)).release();
      at += wire::kLeads[*at].head;
    } else {
      break;
    }
  }
  at_ = at;
  list.position = static_cast<std::uint64_t>(item - first);
  list.left = static_cast<std::uint64_t>(end - item);
}

void PlainDecoder::put(Frame& frame, Ref value) {
  --frame.left;
  const auto index = static_cast<Py_ssize_t>(frame.position++);
  frame.cost.add(cost_);
  switch (frame.kind) {
    case Kind::kList:
      PyList_SET_ITEM(frame.object.get(), index, value.release());
      return;
    case Kind::kTuple:
      PyTuple_SET_ITEM(frame.object.get(), index, value.release());
      return;
    case Kind::kSet:
    case Kind::kFrozenSet:
      look_at(value.get(), frame);
      if (given_up_) return;
      hashed(PySet_Add(frame.object.get(), value.get()));
      return;
    case Kind::kDict:
      if (!frame.key) {
        look_at(value.get(), frame);
        frame.key = std::move(value);
        return;
      }
      hashed(PyDict_SetItem(frame.object.get(), frame.key.get(), value.get()));
      frame.key = Ref();
      return;
  }
}

[[gnu::always_inline]] inline void PlainDecoder::look_at(PyObject* key, Frame& frame) {
  const bool is_dict = frame.kind == Kind::kDict;
  const std::uint64_t count = frame.position + frame.left;
  const KeyGuard::Finding finding = keys_.look_at(
      key, cost_, is_dict ? KeyProbes::Kind::kDict : KeyProbes::Kind::kSet,
      is_dict ? count / 2 : count, is_dict ? frame.position / 2 : frame.position - 1,
      frame.probes);
  if (finding != KeyGuard::Finding::kFine) give_up();
}

void PlainDecoder::hashed(int result) {
  if (result >= 0) return;
  // Frozensets inside each other are compared by recursion.
  if (!PyErr_ExceptionMatches(PyExc_TypeError) &&
      !PyErr_ExceptionMatches(PyExc_RecursionError)) {
    throw PyError();
  }
  PyErr_Clear();
  give_up();
}

Ref PlainDecoder::close() {
  Frame frame = std::move(stack_.back());
  stack_.pop_back();
  const auto length = static_cast<Py_ssize_t>(frame.position / 2);
  if (frame.kind == Kind::kDict && PyDict_GET_SIZE(frame.object.get()) != length) {
    give_up();  // Equal keys.
  }
  cost_ = {};
  if (frame.kind == Kind::kTuple) cost_ = frame.cost.around(frame.position);
  note(frame.slot, frame.object.get());
  return std::move(frame.object);
}

bool PlainDecoder::read(Ref& value) {
  if (at_ == end_) return give_up();
  const std::uint8_t first = *at_;
  const wire::Lead& lead = wire::kLeads[first];
  if (lead.head > end_ - at_) return give_up();
  if (lead.counts == wire::Counts::kItems || lead.counts == wire::Counts::kPairs) {
    return open(value, lead);
  }
  const std::size_t slot = slot_here();
  if (lead.counts == wire::Counts::kBytes) {
    if (!read_bytes(value)) return false;
  } else {
    if (lead.counts == wire::Counts::kInvalid) return give_up();
    wire::Token token;
    wire::set_scalar(token, at_);
    value = scalar_of(token);
    at_ += lead.head;
  }
  note(slot, value.get());
  return true;
}

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
    value = texts_.make(at_ + 1, size, static_cast<std::size_t>(end_ - at_ - 1));
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

bool PlainDecoder::read_bytes(Ref& value) {
  const std::uint8_t first = *at_;
  const wire::Lead& lead = wire::kLeads[first];
  const std::uint64_t size = wire::length_of(lead, at_);
  const std::uint8_t* bytes = at_ + lead.head;
  if (size > static_cast<std::uint64_t>(end_ - bytes)) return give_up();
  at_ = bytes + size;
  switch (wire::bytes_type(first)) {
    case wire::TokenType::kText:
      value = texts_.make(bytes, size, static_cast<std::size_t>(end_ - bytes));
      return value || give_up();
    case wire::TokenType::kBinary:
      value = Ref::steal(PyBytes_FromStringAndSize(reinterpret_cast<const char*>(bytes),
                                                   static_cast<Py_ssize_t>(size)));
      return true;
    default:
      return read_extension(value, bytes, size);
  }
}

bool PlainDecoder::read_extension(Ref& value, const std::uint8_t* bytes,
                                  std::size_t size) {
  std::uint64_t number = 0;
  if (static_cast<ExtType>(bytes[-1]) != ExtType::kReference ||
      !wire::index_of({bytes, size}, number) || number >= slots_.size() ||
      number > references_seen_) {
    return give_up();
  }
  const Slot& slot = slots_[number];
  if (!slot.object) return give_up();
  if (number == references_seen_) ++references_seen_;
  value = slot.object;
  cost_ = slot.cost;
  return true;
}

bool PlainDecoder::open(Ref& value, const wire::Lead& lead) {
  const std::size_t slot = slot_here();
  std::uint64_t count = wire::length_of(lead, at_);
  at_ += lead.head;
  Kind kind = Kind::kList;
  if (lead.counts == wire::Counts::kPairs) {
    kind = Kind::kDict;
    count *= 2;
  } else if (end_ - at_ >= 3 && at_[0] == 0xd4 &&
             at_[1] == static_cast<std::uint8_t>(ExtType::kNode)) {
    if (count == 0) return give_up();
    --count;
    switch (static_cast<NodeTag>(at_[2])) {
      case NodeTag::kTuple:
        kind = Kind::kTuple;
        break;
      case NodeTag::kSet:
        kind = Kind::kSet;
        break;
      case NodeTag::kFrozenSet:
        kind = Kind::kFrozenSet;
        break;
      default:
        return give_up();
    }
    at_ += 3;
  }
  Ref object;
  if (!make(kind, count, object)) return false;
  if (count == 0) {
    cost_ = kind == Kind::kTuple ? HashCost().around(0) : HashCost();
    note(slot, object.get());
    value = std::move(object);
    return true;
  }
  // What Python code could not refer to yet is noted when it is complete.
  if (kind == Kind::kList || kind == Kind::kDict || kind == Kind::kSet) {
    note(slot, object.get());
  }
  if (stack_.size() >= max_depth_) return give_up();
  stack_.push_back({kind, count, 0, slot, std::move(object), {}, {}, {}});
  return false;
}

bool PlainDecoder::make(Kind kind, std::uint64_t count, Ref& object) {
  // Each value has a byte, so no sound payload announces more; containers that claim
  // all that is left, one inside the other, would reserve its square.
  announced_ += count;
  if (announced_ > static_cast<std::uint64_t>(end_ - start_)) return give_up();
  const auto length = static_cast<Py_ssize_t>(count);
  switch (kind) {
    case Kind::kList:
      object = Ref::steal(PyList_New(length));
      break;
    case Kind::kTuple:
      object = Ref::steal(PyTuple_New(length));
      break;
    case Kind::kSet:
      object = Ref::steal(PySet_New(nullptr));
      break;
    case Kind::kFrozenSet:
      object = Ref::steal(PyFrozenSet_New(nullptr));
      break;
    case Kind::kDict:
      if (++dicts_ == kDictsWorthACache) texts_.remember();
      object = new_dict(length / 2);
      break;
  }
  return true;
}

void PlainDecoder::note(std::size_t slot, PyObject* object) {
  if (slot != kNoSlot) slots_[slot] = {Ref::share(object), cost_};
}

}  // namespace

Ref decode_plain(BytesView bytes, const Limits& limits) {
  std::vector<std::uint64_t> shared;
  const std::size_t start = envelope::find_plain_payload(bytes, limits, shared);
  if (start == 0) return {};
  const CollectorPause pause;
  PlainDecoder decoder(bytes, start, limits, shared);
  Ref value = decoder.decode();
  if (!value || !envelope::ends_plain(bytes, start + decoder.size())) return {};
  return value;
}

}  // namespace waybill::py
