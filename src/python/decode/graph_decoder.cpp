// The loop that builds objects: reads a value, hands it to the container that waits for
// it, closes the containers that are complete.
//
// References. The envelope lists the positions that references mean, so one number is
// compared per value, and only those objects are remembered.
//
// Cycles. Lists, dicts, sets, functions and classes exist before what they hold, so
// what they hold may refer to them. Tuples and frozensets do too, which Python code
// cannot do: what that means for hashing is in decoder_hashing.cpp.
//
// Tested by tests/python/kinds/test_values.py, test_sharing.py,
// tests/python/untrusted/test_untrusted_input.py.

#include "python/decode/graph_decoder.h"

#include <algorithm>

#include "python/runtime/attribute.h"
#include "python/runtime/compat.h"

namespace waybill::py {

namespace {

using wire::ExtType;
using wire::NodeTag;
using wire::Token;
using wire::TokenType;

using Frame = GraphDecoder::Frame;
using FrameKind = GraphDecoder::FrameKind;

// In so many bytes of payload short texts come again.
constexpr std::size_t kWorthRemembering = 2048;

// Puts an item where there may be a stand-in, which is dropped.
void put_list_item(PyObject* list, Py_ssize_t index, Ref item) {
  Ref old = Ref::steal_or_null(PyList_GET_ITEM(list, index));
  PyList_SET_ITEM(list, index, item.release());
}

void put_tuple_item(PyObject* tuple, Py_ssize_t index, Ref item) {
  Ref old = Ref::steal_or_null(PyTuple_GET_ITEM(tuple, index));
  PyTuple_SET_ITEM(tuple, index, item.release());
}

}  // namespace

GraphDecoder::GraphDecoder(const State& state, const VerifiedEnvelope& envelope,
                           CodeBuilder& code, ModuleImporter& modules,
                           const DecodeHooks& hooks, const Limits& limits)
    : state_(state),
      limits_(limits),
      envelope_(&envelope),
      reader_(envelope->payload.bytes, limits, envelope->payload.offset),
      code_(&code),
      modules_(&modules),
      hooks_(hooks),
      is_data_only_(hooks.gate != nullptr && hooks.gate->is_data_only()),
      lets_no_code_in_(hooks.gate != nullptr &&
                       hooks.gate->objection(Request::kCode, {}, {})),
      denied_names_(state, hooks.gate),
      start_(envelope->payload.offset),
      positions_(envelope->shared),
      slots_(envelope->shared.size()),
      keys_(limits) {
  stack_.reserve(first_frames_.size() / sizeof(Frame));
  if (envelope->payload.bytes.size() >= kWorthRemembering) texts_.remember();
  if (hooks.history != nullptr) {
    history_ = Ref::steal(PyDict_New());
    check(PyList_Append(hooks.history, history_.get()));
  }
}

GraphDecoder::GraphDecoder(const State& state, const Section& constants,
                           const std::vector<Ref>& nested, const Limits& limits)
    : state_(state),
      limits_(limits),
      reader_(constants.bytes, limits, constants.offset),
      denied_names_(state, nullptr),
      nested_(&nested),
      start_(constants.offset),
      positions_({}),
      keys_(limits) {}

Ref GraphDecoder::build() {
  Ref value = read();
  for (;;) {
    if (value) {
      if (stack_.empty()) return value;
      deliver(std::move(value));
    }
    while (stack_.back().left == 0) {
      value = settle(finish());
      if (!value) break;  // There is more to it.
      if (stack_.empty()) return value;
      deliver(std::move(value));
    }
    value = read();
  }
}

void GraphDecoder::fail(ErrorCode code, std::string detail) {
  raise_decode(state_, code, offset_, std::move(detail));
}

void GraphDecoder::set_slot(std::size_t slot, PyObject* object, std::size_t depth) {
  if (slot == kNoSlot) return;
  slots_[slot].object = Ref::share(object);
  slots_[slot].depth = depth;
}

Ref GraphDecoder::read() {
  Token token;
  if (!reader_.next(token)) raise(state_, reader_.error());
  offset_ = token.offset;
  if (token.type == TokenType::kArray) return settle(open_array(token));
  if (token.type == TokenType::kMap) return settle(open_map(token));
  const std::size_t slot = slot_at(token.offset);
  cost_ = {};
  const bool is_attribute = !stack_.empty() &&
                            stack_.back().kind == FrameKind::kInstance &&
                            !stack_.back().key;
  Ref value = leaf(token, is_attribute);
  set_slot(slot, value.get(), 0);
  if (slot != kNoSlot) slots_[slot].cost = cost_;
  last_slot_ = slot;
  // Of leaves only long text and bytes are referred to from later payloads.
  if (history_ && token.type >= TokenType::kText) {
    remember(token.offset, value.get(), cost_);
  }
  return value;
}

Ref GraphDecoder::push(Frame frame) {
  if (stack_.size() >= limits_.max_depth) {
    fail(ErrorCode::kLimitExceeded, "more containers inside each other than max_depth");
  }
  const Ref& known = frame.instance ? frame.instance : frame.object;
  if (known) set_slot(frame.slot, known.get(), stack_.size() + 1);
  const bool is_direct =
      frame.kind == FrameKind::kTuple || frame.kind == FrameKind::kFrozenSet ||
      (frame.codec != nullptr && frame.codec->tag == NodeTag::kSlice);
  if (is_direct) frame.direct = stack_.empty() ? 1 : stack_.back().direct + 1;
  stack_.push_back(std::move(frame));
  // Code that looks at all objects (gc.get_objects()) must not find the holes.
  if (stack_.back().has_places()) PyObject_GC_UnTrack(stack_.back().object.get());
  return {};
}

Ref GraphDecoder::open_array(const Token& token) {
  std::uint8_t tag = 0;
  if (token.count > 0 && reader_.take_node_tag(tag)) return open_node(token, tag);
  const std::size_t slot = slot_at(token.offset);
  Ref list = Ref::steal(PyList_New(static_cast<Py_ssize_t>(token.count)));
  if (token.count == 0) return empty(std::move(list), token.offset, slot);
  Frame frame;
  frame.kind = FrameKind::kList;
  frame.left = token.count;
  frame.offset = token.offset;
  frame.slot = slot;
  frame.object = std::move(list);
  return push(std::move(frame));
}

// A container that is complete as it is.
Ref GraphDecoder::empty(Ref object, std::size_t offset, std::size_t slot) {
  offset_ = offset;
  last_slot_ = slot;
  cost_ = {};
  set_slot(slot, object.get(), 0);
  if (history_) remember(offset, object.get(), cost_);
  return object;
}

Ref GraphDecoder::open_map(const Token& token) {
  Frame frame;
  frame.kind = FrameKind::kDict;
  frame.left = token.count * 2;
  frame.offset = token.offset;
  frame.slot = slot_at(token.offset);
  if (!stack_.empty()) {
    const Frame& top = stack_.back();
    if (top.awaits<NodeTag::kFunction>("fields")) {
      frame.kind = FrameKind::kFields;
      frame.object = top.object;
    } else if (top.awaits<NodeTag::kClass>("attributes")) {
      frame.kind = FrameKind::kAttributes;
      frame.object = top.object;
      frame.is_known = top.is_known;
      frame.said = Ref::steal(PyDict_New());
    } else if (top.awaits<NodeTag::kModule>("dict")) {
      frame.object = Ref::share(PyModule_GetDict(top.object.get()));
    } else if (top.awaits<NodeTag::kObject>("pairs") ||
               top.awaits<NodeTag::kNewObject>("pairs")) {
      frame.kind = FrameKind::kPairs;
      frame.object = Ref::steal(PyList_New(0));
    } else if (top.kind == FrameKind::kFields && top.key &&
               PyLong_AsLong(top.key.get()) ==
                   static_cast<long>(wire::FunctionField::kGlobals)) {
      // Straight into the namespace that the function already has.
      frame.object = Ref::share(PyFunction_GET_GLOBALS(top.object.get()));
    }
  }
  if (!frame.object) {
    frame.object = new_dict(static_cast<Py_ssize_t>(token.count));
    frame.is_whole = true;
  }
  if (token.count == 0) {
    return empty(frame.said ? frame.said : frame.object, frame.offset, frame.slot);
  }
  return push(std::move(frame));
}

Ref GraphDecoder::open_node(const Token& token, std::uint8_t tag) {
  Frame frame;
  frame.left = token.count - 1;
  frame.offset = token.offset;
  frame.slot = slot_at(token.offset);
  if (const auto* node = made_at(token.offset)) return take(*node, frame.slot);
  switch (static_cast<NodeTag>(tag)) {
    case NodeTag::kTuple:
      frame.kind = FrameKind::kTuple;
      frame.object = Ref::steal(PyTuple_New(static_cast<Py_ssize_t>(frame.left)));
      return push(std::move(frame));
    case NodeTag::kSet:
      frame.kind = FrameKind::kSet;
      frame.object = Ref::steal(PySet_New(nullptr));
      return push(std::move(frame));
    case NodeTag::kFrozenSet:
      frame.kind = FrameKind::kFrozenSet;
      frame.object = Ref::steal(PyFrozenSet_New(nullptr));
      return push(std::move(frame));
    default:
      break;
  }
  if (static_cast<NodeTag>(tag) == NodeTag::kNewObject && open_instance(frame)) {
    return read_instance(std::move(frame));
  }
  if (static_cast<NodeTag>(tag) == NodeTag::kObject) {
    if (Ref object = read_reduced(frame)) return object;
  }
  frame.kind = FrameKind::kNode;
  frame.codec = node_codec(tag);
  if (frame.codec == nullptr ||
      (nested_ != nullptr && !envelope::shape_of(tag)->is_constant)) {
    fail(ErrorCode::kUnknownTag, "a node that has no meaning here");
  }
  if (frame.codec->create != nullptr && frame.codec->create_after == 0) {
    frame.object = call(frame.codec->create, frame);
  }
  return push(std::move(frame));
}

void GraphDecoder::deliver(Ref value) {
  Frame& frame = stack_.back();
  --frame.left;
  const auto index = static_cast<Py_ssize_t>(frame.position++);
  frame.cost.add(cost_);
  switch (frame.kind) {
    case FrameKind::kList:
      // Code that the payload calls may have got hold of the list and changed it.
      if (index >= PyList_GET_SIZE(frame.object.get())) {
        fail(ErrorCode::kMalformed, "a list that was changed while it was built");
      }
      put_list_item(frame.object.get(), index, std::move(value));
      return;
    case FrameKind::kTuple:
      put_tuple_item(frame.object.get(), index, std::move(value));
      return;
    case FrameKind::kPairs:
      if (index % 2 == 0) demand_hashable(value.get(), frame);
      check(PyList_Append(frame.object.get(), value.get()));
      return;
    case FrameKind::kFrozenSet:
      demand_hashable(value.get(), frame);
      frame.children.push_back(std::move(value));
      return;
    case FrameKind::kSet:
      demand_hashable(value.get(), frame);
      if (must_wait() && !is_simple(value.get())) {
        late_.push_back({frame.object, std::move(value), {}});
      } else {
        hashed(add(frame.object.get(), value.get()));
      }
      return;
    case FrameKind::kNode:
      deliver_to_node(frame, std::move(value));
      return;
    case FrameKind::kDict:
    case FrameKind::kFields:
    case FrameKind::kAttributes:
    case FrameKind::kInstance:
      deliver_to_dict(frame, std::move(value));
      return;
  }
}

void GraphDecoder::deliver_to_node(Frame& frame, Ref value) {
  frame.children.push_back(std::move(value));
  const NodeCodec& codec = *frame.codec;
  if (codec.create == nullptr || frame.object ||
      frame.children.size() != codec.create_after) {
    return;
  }
  offset_ = frame.offset;
  frame.object = call(codec.create, frame);
  if (PyType_Check(frame.object.get()) && !frame.is_known) {
    open_types_.push_back(frame.object.get());
  }
  set_slot(frame.slot, frame.object.get(), 0);
}

void GraphDecoder::deliver_to_dict(Frame& frame, Ref value) {
  if (!frame.key) {
    demand_hashable(value.get(), frame);
    frame.key = std::move(value);
    return;
  }
  const Ref key = std::move(frame.key);
  if (frame.kind == FrameKind::kFields) {
    const std::vector<Ref>& cells = stack_[stack_.size() - 2].cells;
    set_function_field(*this, frame.object.get(), cells,
                       PyLong_AsUnsignedLong(key.get()), value.get());
  } else if (frame.kind == FrameKind::kAttributes) {
    hashed(PyDict_SetItem(frame.said.get(), key.get(), value.get()));
    if (frame.is_known) return;  // Until the payload is complete.
    outside([&] {
      return Ref::steal(PyObject_CallFunctionObjArgs(state_.set_class_attribute.get(),
                                                     frame.object.get(), key.get(),
                                                     value.get(), nullptr));
    });
  } else if (frame.has_late || (must_wait() && !is_simple(key.get()))) {
    // Those that follow wait too: the order of a dict means something.
    frame.has_late = true;
    frame.is_whole = false;
    late_.push_back({frame.object, key, std::move(value)});
  } else {
    // Keys that were unequal at the sender's may be equal here; those of data may not.
    if (!is_data_only_ && !is_simple(key.get())) frame.is_whole = false;
    hashed(put(frame.object.get(), key.get(), value.get()));
  }
}

Ref GraphDecoder::finish() {
  const std::size_t depth = stack_.size();
  Frame frame = std::move(stack_.back());
  offset_ = frame.offset;
  last_slot_ = frame.slot;
  const NodeTag tag = frame.codec != nullptr ? frame.codec->tag : NodeTag{};
  const bool is_hashed_through = frame.kind == FrameKind::kTuple ||
                                 tag == NodeTag::kSlice || tag == NodeTag::kRange;
  HashCost cost;
  if (is_hashed_through) cost = frame.cost.around(frame.position);
  if (tag == NodeTag::kStreamReference) cost = cost_of_earlier(frame);
  if (tag == NodeTag::kSlice && cost.depth > kMaxHashDepth) {
    // Python drops them on the C stack, one inside the other.
    fail(ErrorCode::kLimitExceeded, "more than 1000 slices inside each other");
  }
  if (frame.slot != kNoSlot) slots_[frame.slot].cost = cost;
  if (frame.kind == FrameKind::kNode) {
    Ref object = frame.instead ? frame.instead : frame.object;
    if (frame.codec->finish != nullptr && !frame.instead) {
      Ref finished = call(frame.codec->finish, frame);
      if (!object) object = std::move(finished);
    }
    stack_.pop_back();
    if (!open_types_.empty() && open_types_.back() == frame.object.get()) {
      open_types_.pop_back();
    }
    set_slot(frame.slot, object.get(), 0);
    if (history_) remember(frame.offset, object.get(), cost);
    if (watcher_ != nullptr) show(frame, object.get());
    cost_ = cost;
    return object;
  }
  stack_.pop_back();
  if (frame.slot != kNoSlot) slots_[frame.slot].depth = 0;
  if (frame.has_places()) PyObject_GC_Track(frame.object.get());
  if (frame.kind == FrameKind::kFrozenSet) {
    fill(frame, depth);
  } else {
    demand_whole(frame);
  }
  if (depth == late_depth_) insert_late();
  if (frame.kind == FrameKind::kInstance) return finish_instance(std::move(frame));
  if (frame.kind == FrameKind::kAttributes) frame.object = frame.said;
  if (history_) remember(frame.offset, frame.object.get(), cost);
  cost_ = cost;
  return std::move(frame.object);
}

Ref decode_constants(const State& state, const Section& constants, const Limits& limits,
                     const std::vector<Ref>& nested) {
  GraphDecoder decoder(state, constants, nested, limits);
  Ref list = decoder.decode();
  return Ref::steal(PyList_AsTuple(list.get()));
}

}  // namespace waybill::py
