// Reads leaves, opens containers, and builds instances of ordinary classes and the
// objects of short calls, which need no node frame.
// Tested by tests/python/kinds/test_values.py, test_instances_received.py,
// tests/python/untrusted/test_unverified_data.py and test_untrusted_input.py.

#include <algorithm>
#include <array>
#include <bit>
#include <span>
#include <utility>

#include "python/decode/graph_decoder.h"
#include "python/decode/scalars.h"
#include "python/decode/standard_types.h"
#include "python/runtime/attribute.h"
#include "python/runtime/compat.h"
#include "python/runtime/objects.h"
#include "python/runtime/text.h"
#include "verify/short_call.h"
#include "wire/format.h"
#include "wire/number.h"
#include "wire/reader.h"
#include "wire/utf8.h"

namespace waybill::py {

namespace {

using wire::ExtType;
using wire::NodeTag;

double double_at(const std::uint8_t* bytes) {
  return std::bit_cast<double>(wire::read_big_endian(bytes, 8));
}

// Whether verify() accepts an extension as a value.
bool is_sound(ExtType type, BytesView bytes) {
  switch (type) {
    case ExtType::kInteger:
      return wire::is_big_integer(bytes);
    case ExtType::kComplex:
      return bytes.size() == 16;
    case ExtType::kText:
      return wire::is_utf8(wire::as_text(bytes), wire::Surrogates::kAllowed);
    case ExtType::kSingleton:
      return bytes.size() == 1;
    default:
      return false;
  }
}

// The value of an extension: an int of more than 64 bits, a complex number, text with
// lone surrogates, Ellipsis or NotImplemented; null without an error for others.
// `bytes` must satisfy is_sound().
Ref value_of_extension(ExtType type, BytesView bytes) {
  switch (type) {
    case ExtType::kInteger:
      return integer_from_bytes(bytes.data(), bytes.size());
    case ExtType::kComplex:
      return Ref::steal(
          PyComplex_FromDoubles(double_at(bytes.data()), double_at(bytes.data() + 8)));
    case ExtType::kText:
      return new_text(wire::as_text(bytes));
    case ExtType::kSingleton:
      if (bytes[0] == static_cast<std::uint8_t>(wire::Singleton::kEllipsis)) {
        return Ref::share(Py_Ellipsis);
      }
      if (bytes[0] == static_cast<std::uint8_t>(wire::Singleton::kNotImplemented)) {
        return Ref::share(Py_NotImplemented);
      }
      return {};
    default:
      return {};
  }
}

}  // namespace

bool GraphDecoder::read(Ref& value) {
  const std::uint8_t* const start = at_;
  const std::size_t depth = built_.stack.size();
  if (read_any(value)) return true;
  if (built_.stack.size() != depth) return false;
  if (is_verified()) fail(ErrorCode::kMalformed, "an incomplete value");
  stop_before(start, value);
  return false;
}

// Reads a value. False if a container was opened, or if the value is refused.
[[gnu::always_inline]] inline bool GraphDecoder::read_any(Ref& value) {
  if (at_ == end_) return false;
  const wire::Lead& lead = wire::kLeads[*at_];
  if (lead.head > end_ - at_) return false;
  offset_ = offset();
  built_.cost = {};
  if (lead.counts == wire::Counts::kItems || lead.counts == wire::Counts::kPairs) {
    return open(value, lead);
  }
  const std::size_t slot = current_slot();
  if (!read_leaf(value)) return false;
  if (slot != kNoSlot) built_.slots[slot] = {value, 0, built_.cost};
  // Later payloads refer to no leaves except long text and bytes.
  if (keeps_history_ && lead.counts == wire::Counts::kBytes) {
    context_->history.record(offset_ - base_, value.get(), built_.cost);
  }
  return true;
}

bool GraphDecoder::read_leaf(Ref& value) {
  const wire::Lead& lead = wire::kLeads[*at_];
  if (lead.head > end_ - at_) return false;
  if (lead.counts == wire::Counts::kBytes) return read_bytes(value);
  if (lead.counts != wire::Counts::kNothing) return false;
  wire::Token token;
  wire::set_scalar(token, at_);
  value = scalar_of(token);
  at_ += lead.head;
  return true;
}

[[gnu::always_inline]] inline bool GraphDecoder::read_bytes(Ref& value) {
  const wire::Lead& lead = wire::kLeads[*at_];
  const std::uint64_t size = wire::length_of(lead, at_);
  const std::uint8_t* bytes = at_ + lead.head;
  if (size > static_cast<std::uint64_t>(end_ - bytes)) return false;
  switch (wire::bytes_type(*at_)) {
    case wire::TokenType::kText:
      value = built_.texts.make(bytes, size, static_cast<std::size_t>(end_ - bytes),
                                is_name_);
      if (!value) return refuse(ErrorCode::kMalformed, "text that is not UTF-8");
      break;
    case wire::TokenType::kBinary:
      value = new_bytes({bytes, size});
      break;
    default:
      if (!read_extension(value, {bytes, size}, bytes[-1])) return false;
  }
  at_ = bytes + size;
  return true;
}

bool GraphDecoder::read_extension(Ref& value, BytesView bytes, std::uint8_t type) {
  switch (static_cast<ExtType>(type)) {
    case ExtType::kReference: {
      std::uint64_t number = 0;
      return wire::index_of(bytes, number)
                 ? read_reference(value, number)
                 : refuse(ErrorCode::kBadReference, "a reference that is not a number");
    }
    case ExtType::kModule:
      if (!is_verified()) return false;
      value = reads_module_numbers_
                  ? Ref::steal(PyLong_FromUnsignedLongLong(module_index(bytes)))
                  : module_at(bytes);
      return true;
    case ExtType::kCode:
      if (!is_verified() || context_->nested == nullptr ||
          context_->next_nested >= context_->nested->size()) {
        break;
      }
      value = (*context_->nested)[context_->next_nested++];
      return true;
    case ExtType::kSingleton:
      if (is_verified() && context_->nested == nullptr &&
          bytes[0] == static_cast<std::uint8_t>(wire::Singleton::kEmpty)) {
        value = state_.empty_cell_marker;
        return true;
      }
      break;
    case ExtType::kInteger:
      built_.cost.steps = bytes.size() / 8;  // Ints do not cache their hashes.
      break;
    default:
      break;
  }
  if (!is_verified() && !is_sound(static_cast<ExtType>(type), bytes)) return false;
  value = value_of_extension(static_cast<ExtType>(type), bytes);
  return value ||
         refuse(ErrorCode::kUnknownTag, "an extension that is not allowed here");
}

// The number of a module in the manifest.
std::uint64_t GraphDecoder::module_index(BytesView bytes) {
  std::uint64_t index = 0;
  const bool is_listed = wire::index_of(bytes, index) && context_->modules != nullptr &&
                         index < modules().size();
  if (!is_listed)
    fail(ErrorCode::kUndeclared, "a module that the manifest does not list");
  return index;
}

Ref GraphDecoder::module_at(BytesView bytes) {
  const std::uint64_t index = module_index(bytes);
  return run_foreign([&] {
    Ref module = modules().get(index);
    const Gate* gate = hooks().gate;
    if (gate != nullptr) {
      const Ref name = modules().name(index);
      LookupCheck(state_, gate, denied_names(), offset_, name.get(), nullptr)
          .check_object(module.get());
    }
    return module;
  });
}

bool GraphDecoder::read_reference(Ref& value, std::uint64_t number) {
  if (read_complete_reference(value, number)) return true;
  const Slot* const slot = slot_of_reference(number);
  if (slot == nullptr || !slot->object || number > references_seen_) {
    return refuse(ErrorCode::kBadReference,
                  "a reference to an object that does not exist yet");
  }
  Frame& frame = built_.stack[slot->depth - 1];
  if (frame.kind == FrameKind::kTuple || frame.kind == FrameKind::kFrozenSet) {
    if (!is_verified()) return false;
    // In Python a tuple holds itself only through an object of another type; hashing a
    // tuple that holds itself directly would not end.
    if (built_.stack.back().hash_depth >= built_.stack.size() - slot->depth) {
      fail(ErrorCode::kBadReference, "a tuple or frozenset that holds itself");
    }
    deferral_depth_ = std::min(deferral_depth_, slot->depth);
  }
  BuildState::fill_holes(frame);
  take(value, *slot, number);
  return true;
}

// ---- Containers --------------------------------------------------------------------

bool GraphDecoder::open(Ref& value, const wire::Lead& lead) {
  const std::size_t offset = this->offset();
  const std::size_t slot = current_slot();
  std::uint64_t count = wire::length_of(lead, at_);
  at_ += lead.head;
  FrameKind kind = FrameKind::kList;
  if (lead.counts == wire::Counts::kPairs) {
    kind = FrameKind::kDict;
    count *= 2;
    if (is_verified() && !built_.stack.empty() && !built_.stack.back().is_plain()) {
      Frame frame{.remaining = count, .offset = offset, .slot = slot};
      if (begin_map_of_node(frame)) return open_map_of_node(value, frame);
    }
  } else if (wire::starts_node(at_, end_)) {
    if (count == 0) return false;
    --count;
    const std::uint8_t tag = at_[2];
    at_ += 3;
    switch (static_cast<NodeTag>(tag)) {
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
        return read_byte_array(value, count, offset, slot);
      case NodeTag::kNewObject:
        if (open_instance(count, offset, slot)) return false;
        [[fallthrough]];
      default:
        if (!is_verified()) return false;
        if (read_call(value, tag, count, offset, slot)) return true;
        return open_node(value, tag, count, offset, slot);
    }
  }
  return open_container(value, kind, count, offset, slot);
}

// `value` becomes the container if that is complete at once.
[[gnu::always_inline]] inline bool GraphDecoder::open_container(Ref& value,
                                                                FrameKind kind,
                                                                std::uint64_t count,
                                                                std::size_t offset,
                                                                std::size_t slot) {
  Ref object;
  if (!make_container(kind, count, object)) return false;
  HashCost cost;
  std::uint64_t filled = 0;
  if (count != 0) {
    if (!demand_room()) return false;
    // References to an open container need its frame.
    const bool can_have_holes = kind == FrameKind::kList || kind == FrameKind::kTuple;
    if (can_have_holes && slot == kNoSlot && !is_container_next() && can_batch()) {
      filled = fill_short(object.get(), count, cost);
    }
  }
  if (filled == count) {
    built_.cost = kind == FrameKind::kTuple ? cost.of_container(count) : HashCost();
    value = std::move(object);
    record(value, slot, offset);
    return true;
  }
  Frame& frame = built_.push(kind, std::move(object), count - filled, offset, slot);
  frame.checks_length = kind == FrameKind::kDict;
  frame.position = filled;
  frame.cost = cost;
  return false;
}

// Fills a new list or tuple of few items with the short values at its start. Usually
// these are all items, so the container needs no frame.
std::uint64_t GraphDecoder::fill_short(PyObject* object, std::uint64_t count,
                                       HashCost& cost) {
  constexpr std::uint64_t kMaxCount = 16;
  if (count > kMaxCount) return 0;
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

[[gnu::always_inline]] inline bool GraphDecoder::make_container(FrameKind kind,
                                                                std::uint64_t count,
                                                                Ref& object) {
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
      if (++dicts_ >= kCacheMinDicts && end_ - at_ >= kCacheMinBytes) {
        built_.texts.enable_cache();
        if (guesses_.empty()) guesses_.resize(kMaxGuesses);
      }
      object = new_dict(length / 2);
      break;
  }
  return true;
}

// Reads [kByteArray, binary] after its lead and tag.
bool GraphDecoder::read_byte_array(Ref& value, std::uint64_t count, std::size_t offset,
                                   std::size_t slot) {
  if (count != 1 || at_ == end_ || (!is_verified() && is_full()) ||
      wire::bytes_type(*at_) != wire::TokenType::kBinary || current_slot() != kNoSlot) {
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
  record(value, slot, offset);
  return true;
}

bool GraphDecoder::begin_map_of_node(Frame& frame) {
  const Frame& top = built_.stack.back();
  if (top.awaits<NodeTag::kFunction>("fields")) {
    frame.kind = FrameKind::kFields;
    frame.object = top.object;
  } else if (top.awaits<NodeTag::kClass>("attributes")) {
    frame.kind = FrameKind::kAttributes;
    frame.object = top.object;
    frame.is_existing = top.is_existing;
    frame.is_opaque = top.is_opaque;
    frame.gathered = Ref::steal(PyDict_New());
  } else if (top.awaits<NodeTag::kModule>("dict")) {
    frame.kind = FrameKind::kDict;
    frame.object = Ref::share(PyModule_GetDict(top.object.get()));
    frame.is_namespace = true;
  } else if (top.awaits<NodeTag::kObject>("pairs") ||
             top.awaits<NodeTag::kNewObject>("pairs")) {
    frame.kind = FrameKind::kPairs;
    frame.object = Ref::steal(PyList_New(0));
  } else if (top.awaits_field(wire::FunctionField::kGlobals)) {
    // Entries go directly into the namespace that the function already has.
    const Frame& function = built_.stack[built_.stack.size() - 2];
    frame.kind = FrameKind::kDict;
    frame.object = Ref::share(function.part<NodeTag::kFunction>("namespace"));
    frame.is_namespace = frame.is_existing = true;
  }
  return static_cast<bool>(frame.object);
}

bool GraphDecoder::open_map_of_node(Ref& value, Frame& frame) {
  if (frame.remaining != 0) {
    push(std::move(frame));
    return false;
  }
  value = frame.gathered ? frame.gathered : frame.object;
  record(value, frame.slot, frame.offset);
  return true;
}

void GraphDecoder::push(Frame&& frame) {
  demand_room();
  built_.push(std::move(frame));
}

// ---- Nodes that need no frame of their own -----------------------------------------

// A new instance of a class; null if the class customizes the creation of instances, or
// if classes of the payload are incomplete.
Ref GraphDecoder::new_instance(PyObject* type) {
  if (!PyType_Check(type)) return {};
  PyTypeObject* const cls = as_type(type);
  if (!state_.ordinary_types.contains(cls)) {
    built_.hide();  // Examining an unusual class may run code.
    if (!state_.ordinary_types.is_ordinary(state_.names, cls)) return {};
  }
  if (is_verified() && !received_definitions().open_types().empty()) return {};
  const Ref no_arguments = Ref::steal(PyTuple_New(0));
  return Ref::steal(cls->tp_new(cls, no_arguments.get(), nullptr));
}

// Reads [class, [], {}, {name: …}, [], {}]: the state goes directly into the dict.
bool GraphDecoder::open_instance(std::uint64_t count, std::size_t offset,
                                 std::size_t slot) {
  const std::size_t size = wire::size_of_reference({at_, end_});
  if (!builds_instances_ || !can_batch() || size == 0 ||
      count != envelope::shape_of(NodeTag::kNewObject).max_count ||
      !is_empty_rest_at(at_ + size, 1)) {
    return false;
  }
  const std::uint8_t* const map = at_ + size + 2;
  const wire::Lead& lead = wire::kLeads[*map];
  if (lead.counts != wire::Counts::kPairs || lead.head > end_ - map) return false;
  const std::uint64_t values = 2 * wire::length_of(lead, map);
  // verify() counts the node and its state as two containers.
  if (values == 0 || !announce(values) || limits_.max_depth < 2 ||
      built_.stack.size() + open_instances_ >= limits_.max_depth - 1) {
    return false;
  }
  Ref type;
  if (!read_complete_reference(type, wire::read_big_endian(at_ + 2, size - 2)))
    return false;
  Ref instance = new_instance(type.get());
  if (!instance) return false;
  Ref dict = instance_dict(instance.get());
  if (!dict || !PyDict_CheckExact(dict.get())) return false;
  at_ = map + lead.head;
  if (!is_verified()) ++open_instances_;
  built_.push({.kind = FrameKind::kInstance,
               .checks_length = true,
               .object = std::move(dict),
               .remaining = values,
               .offset = offset_of(map),
               .slot = slot,
               .instance = std::move(instance),
               .instance_offset = offset});
  return true;
}

// Arguments refer only to complete objects: a reference to an open container
// needs the frames in between.
bool GraphDecoder::read_call(Ref& value, std::uint8_t tag, std::uint64_t count,
                             std::size_t offset, std::size_t slot) {
  using envelope::ShortCall;
  if (tag != static_cast<std::uint8_t>(NodeTag::kObject) || !makes_calls_ ||
      count != envelope::shape_of(NodeTag::kObject).min_count) {
    return false;
  }
  std::array<Ref, 1 + ShortCall::kMaxArguments> parts;  // The callable first.
  Ref* next = parts.data();
  const auto take_reference = [&](std::uint64_t number) {
    const Slot* const named = slot_of_reference(number);
    if (named == nullptr || named->depth != 0) return false;
    *next = named->object;
    return static_cast<bool>(*next++);
  };
  const std::uint8_t* const start = at_;
  const auto take_leaf = [&](BytesView bytes) {
    at_ = bytes.data();
    offset_ = this->offset();
    return read_leaf(*next++);
  };
  const auto call = envelope::short_call_at({at_, end_}, take_reference, take_leaf);
  at_ = start;
  if (call.size == 0 ||
      !built_.positions.are_none_before(position_at(at_) + call.size) ||
      counts_keys_of(parts.front().get())) {
    return false;
  }
  std::array<PyObject*, ShortCall::kMaxArguments> arguments;
  for (std::size_t i = 0; i < call.arguments; ++i) arguments[i] = parts[i + 1].get();
  at_ += call.size;
  offset_ = offset;
  const std::span<PyObject* const> given(arguments.data(), call.arguments);
  PyObject* const callable = parts.front().get();
  if (const StandardType* type = standard_type(*this, callable)) {
    demand_arguments(*this, *type, given);
  }
  value = run_foreign([&] {
    return Ref::steal(
        PyObject_Vectorcall(callable, given.data(), given.size(), nullptr));
  });
  built_.cost = {};
  record(value, slot, offset);
  return true;
}

}  // namespace waybill::py
