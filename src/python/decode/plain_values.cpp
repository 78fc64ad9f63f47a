// Reads leaves, and opens containers. Tested by
// tests/python/untrusted/test_plain_decoder.py.

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

bool PlainDecoder::read_bytes(Ref& value) {
  const std::uint8_t first = *at_;
  const wire::Lead& lead = wire::kLeads[first];
  const std::uint64_t size = wire::length_of(lead, at_);
  const std::uint8_t* bytes = at_ + lead.head;
  if (size > static_cast<std::uint64_t>(end_ - bytes)) return give_up();
  at_ = bytes + size;
  switch (wire::bytes_type(first)) {
    case wire::TokenType::kText:
      value =
          texts_.make(bytes, size, static_cast<std::size_t>(end_ - bytes), is_name_);
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
  const auto type = static_cast<ExtType>(bytes[-1]);
  if (type == ExtType::kReference) return read_reference(value, {bytes, size});
  if (!is_sound(type, {bytes, size})) return give_up();
  if (type == ExtType::kInteger) cost_.steps = size / 8;  // No int keeps its hash.
  value = value_of_extension(type, {bytes, size});
  return value || give_up();
}

bool PlainDecoder::read_reference(Ref& value, BytesView bytes) {
  std::uint64_t number = 0;
  if (!wire::index_of(bytes, number) || number >= slots_.size() ||
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

// [kByteArray, binary], of which the lead and the tag were read.
bool PlainDecoder::read_byte_array(Ref& value, std::uint64_t count, std::size_t slot) {
  if (count != 1 || at_ == end_ || stack_.size() + open_instances_ >= max_depth_ ||
      wire::bytes_type(*at_) != wire::TokenType::kBinary || slot_here() != kNoSlot) {
    return give_up();
  }
  const wire::Lead& lead = wire::kLeads[*at_];
  if (lead.counts != wire::Counts::kBytes || lead.head > end_ - at_) return give_up();
  const std::uint64_t size = wire::length_of(lead, at_);
  at_ += lead.head;
  if (size > static_cast<std::uint64_t>(end_ - at_)) return give_up();
  value = Ref::steal(PyByteArray_FromStringAndSize(reinterpret_cast<const char*>(at_),
                                                   static_cast<Py_ssize_t>(size)));
  at_ += size;
  cost_ = {};
  note(slot, value.get());
  return true;
}

bool PlainDecoder::open(Ref& value, const wire::Lead& lead) {
  const std::uint8_t* const start = at_;
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
      case NodeTag::kByteArray:
        at_ += 3;
        return read_byte_array(value, count, slot);
      case NodeTag::kNewObject:
        at_ += 3;
        return open_instance(count, slot);
      default:
        return take_node(value, start, slot);
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
  if (stack_.size() + open_instances_ >= max_depth_) return give_up();
  stack_.push_back({kind, count, 0, slot, std::move(object), {}, {}, {}, {}});
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
      if (++dicts_ >= kDictsWorthACache && end_ - at_ >= kBytesWorthACache) {
        texts_.remember();
      }
      object = new_dict(length / 2);
      break;
    case Kind::kInstance:
      return give_up();  // See open_instance().
  }
  return true;
}

}  // namespace waybill::py
