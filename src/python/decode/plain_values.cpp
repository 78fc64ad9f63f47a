// Reads leaves, and opens containers. Tested by
// tests/python/untrusted/test_plain_loop.py.

#include <utility>

#include "python/decode/plain_loop.h"
#include "python/decode/scalars.h"
#include "python/runtime/compat.h"
#include "wire/format.h"
#include "wire/number.h"
#include "wire/reader.h"
#include "wire/token.h"
#include "wire/utf8.h"

namespace waybill::py {

using wire::ExtType;
using wire::NodeTag;

namespace {

// Of an extension that is a value by itself, what verify() demands.
bool is_sound(ExtType type, BytesView bytes) {
  switch (type) {
    case ExtType::kInteger:
      return wire::is_big_integer(bytes);
    case ExtType::kComplex:
      return bytes.size() == 16;
    case ExtType::kText:
      return wire::is_utf8({reinterpret_cast<const char*>(bytes.data()), bytes.size()},
                           wire::Surrogates::kAllowed);
    case ExtType::kSingleton:
      return bytes.size() == 1;
    default:
      return false;
  }
}

}  // namespace

bool PlainLoop::read(Ref& value) {
  const std::uint8_t* const start = at_;
  const std::size_t depth = built_.stack.size();
  if (read_any(value)) return true;
  if (built_.stack.size() == depth) stop_before(start, value);
  return false;
}

// False if a container was opened, or if this is not for here.
[[gnu::always_inline]] inline bool PlainLoop::read_any(Ref& value) {
  if (at_ == end_) return false;
  const std::uint8_t first = *at_;
  const wire::Lead& lead = wire::kLeads[first];
  if (lead.head > end_ - at_) return false;
  if (lead.counts == wire::Counts::kItems || lead.counts == wire::Counts::kPairs) {
    return open(value, lead);
  }
  const std::size_t slot = slot_here();
  if (lead.counts == wire::Counts::kBytes) {
    if (!read_bytes(value)) return false;
  } else {
    if (lead.counts == wire::Counts::kInvalid) return false;
    wire::Token token;
    wire::set_scalar(token, at_);
    value = scalar_of(token);
    at_ += lead.head;
  }
  note(slot, value.get());
  return true;
}

bool PlainLoop::read_bytes(Ref& value) {
  const std::uint8_t first = *at_;
  const wire::Lead& lead = wire::kLeads[first];
  const std::uint64_t size = wire::length_of(lead, at_);
  const std::uint8_t* bytes = at_ + lead.head;
  if (size > static_cast<std::uint64_t>(end_ - bytes)) return false;
  at_ = bytes + size;
  switch (wire::bytes_type(first)) {
    case wire::TokenType::kText:
      value = built_.texts.make(bytes, size, static_cast<std::size_t>(end_ - bytes),
                                is_name_);
      return static_cast<bool>(value);
    case wire::TokenType::kBinary:
      value = Ref::steal(PyBytes_FromStringAndSize(reinterpret_cast<const char*>(bytes),
                                                   static_cast<Py_ssize_t>(size)));
      return true;
    default:
      return read_extension(value, bytes, size);
  }
}

bool PlainLoop::read_extension(Ref& value, const std::uint8_t* bytes,
                               std::size_t size) {
  const auto type = static_cast<ExtType>(bytes[-1]);
  if (type == ExtType::kReference) return read_reference(value, {bytes, size});
  if (!is_sound(type, {bytes, size})) return false;
  if (type == ExtType::kInteger) built_.cost.steps = size / 8;  // Keeps no hash.
  value = value_of_extension(type, {bytes, size});
  return static_cast<bool>(value);
}

bool PlainLoop::read_reference(Ref& value, BytesView bytes) {
  std::uint64_t number = 0;
  return wire::index_of(bytes, number) && refer(value, number);
}

// [kByteArray, binary], of which the lead and the tag were read.
bool PlainLoop::read_byte_array(Ref& value, std::uint64_t count, std::size_t slot) {
  if (count != 1 || at_ == end_ || is_full() ||
      wire::bytes_type(*at_) != wire::TokenType::kBinary || slot_here() != kNoSlot) {
    return false;
  }
  const wire::Lead& lead = wire::kLeads[*at_];
  if (lead.counts != wire::Counts::kBytes || lead.head > end_ - at_) return false;
  const std::uint64_t size = wire::length_of(lead, at_);
  at_ += lead.head;
  if (size > static_cast<std::uint64_t>(end_ - at_)) return false;
  value = Ref::steal(PyByteArray_FromStringAndSize(reinterpret_cast<const char*>(at_),
                                                   static_cast<Py_ssize_t>(size)));
  at_ += size;
  built_.cost = {};
  note(slot, value.get());
  return true;
}

bool PlainLoop::open(Ref& value, const wire::Lead& lead) {
  const std::uint8_t* const start = at_;
  const std::size_t slot = slot_here();
  std::uint64_t count = wire::length_of(lead, at_);
  at_ += lead.head;
  FrameKind kind = FrameKind::kList;
  if (lead.counts == wire::Counts::kPairs) {
    kind = FrameKind::kDict;
    count *= 2;
  } else if (wire::starts_node(at_, end_)) {
    if (count == 0) return false;
    --count;
    const auto tag = static_cast<NodeTag>(at_[2]);
    at_ += 3;
    switch (tag) {
      case NodeTag::kTuple:
        kind = FrameKind::kTuple;
        break;
      case NodeTag::kSet:
        kind = FrameKind::kSet;
        break;
      case NodeTag::kFrozenSet:
        kind = FrameKind::kFrozenSet;
        break;
      case NodeTag::kByteArray:
        return read_byte_array(value, count, slot);
      case NodeTag::kNewObject:
        return open_instance(start, count, slot);
      case NodeTag::kObject:
        if (maker_ != nullptr) {
          const std::size_t offset = base_ + static_cast<std::size_t>(start - start_);
          return read_call(value, offset, count, slot);
        }
        [[fallthrough]];
      default:
        return false;
    }
  }
  return open_container(value, kind, count,
                        base_ + static_cast<std::size_t>(start - start_), slot);
}

// A container that is complete at once is the value.
[[gnu::always_inline]] inline bool PlainLoop::open_container(Ref& value, FrameKind kind,
                                                             std::uint64_t count,
                                                             std::size_t offset,
                                                             std::size_t slot) {
  Ref object;
  if (!make(kind, count, object)) return false;
  if (count == 0) {
    built_.cost = kind == FrameKind::kTuple ? HashCost().around(0) : HashCost();
    note(slot, object.get());
    value = std::move(object);
    return true;
  }
  if (is_full()) return false;
  const bool has_places = kind == FrameKind::kList || kind == FrameKind::kTuple;
  HashCost cost;
  std::uint64_t filled = 0;
  // What refers to what it is in has to find a frame.
  if (has_places && slot == kNoSlot && !is_container_next()) {
    filled = fill_few(object.get(), count, cost);
  }
  if (filled == count) {
    built_.cost = kind == FrameKind::kTuple ? cost.around(count) : HashCost();
    value = std::move(object);
    return true;
  }
  Frame& frame = built_.push(kind, std::move(object), count - filled, offset, slot);
  frame.is_whole = kind == FrameKind::kDict;
  frame.position = filled;
  frame.cost = cost;
  return false;
}

// Fills a new list or tuple of few items with the short values that come first, mostly
// all of it, so that it needs no frame.
std::uint64_t PlainLoop::fill_few(PyObject* object, std::uint64_t count,
                                  HashCost& cost) {
  constexpr std::uint64_t kFew = 16;
  if (count > kFew) return 0;
  PyObject** const items = PySequence_Fast_ITEMS(object);
  Ref item;
  for (std::uint64_t filled = 0; filled < count; ++filled) {
    built_.cost = {};
    if (!read_short(item)) return filled;
    items[filled] = item.release();
    cost.add(built_.cost);
  }
  return count;
}

bool PlainLoop::make(FrameKind kind, std::uint64_t count, Ref& object) {
  if (!announce(count)) return false;
  const auto length = static_cast<Py_ssize_t>(count);
  switch (kind) {
    case FrameKind::kList:
      object = Ref::steal(PyList_New(length));
      break;
    case FrameKind::kTuple:
      object = Ref::steal(PyTuple_New(length));
      break;
    case FrameKind::kSet:
      object = Ref::steal(PySet_New(nullptr));
      break;
    case FrameKind::kFrozenSet:
      object = Ref::steal(PyFrozenSet_New(nullptr));
      break;
    default:
      if (++dicts_ >= kDictsWorthACache && end_ - at_ >= kBytesWorthACache) {
        built_.texts.remember();
        if (guesses_.empty()) guesses_.resize(kGuesses);
      }
      object = new_dict(length / 2);
      break;
  }
  return true;
}

}  // namespace waybill::py
