// The loop that builds objects: reads a value, hands it to the container that waits for
// it, closes the containers that are complete.
//
// References. The envelope lists the positions that references mean, so one number is
// compared per value, and only those objects are remembered.
//
// Cycles. Lists, dicts, sets, functions and classes exist before what they hold, so
// what they hold may refer to them. Tuples and frozensets do too, which Python code
// cannot do: what that means for hashing is in decoder_leaves.cpp.
//
// Tested by tests/python/kinds/test_values.py, test_sharing.py,
// tests/python/untrusted/test_untrusted_input.py.

#include "python/decode/graph_decoder.h"

#include <algorithm>

#include "python/decode/failure_path.h"
#include "python/decode/nodes/opaque.h"
#include "python/runtime/attribute.h"
#include "python/runtime/compat.h"

namespace waybill::py {

namespace {

using wire::NodeTag;
using wire::Token;
using wire::TokenType;

// In so many bytes of payload short texts come again.
constexpr std::size_t kWorthRemembering = 2048;

}  // namespace

bool Frame::awaits_field(wire::FunctionField field) const {
  return kind == FrameKind::kFields && key &&
         PyLong_AsLong(key.get()) == static_cast<long>(field);
}

GraphDecoder::GraphDecoder(const State& state, const VerifiedEnvelope& envelope,
                           PlainLoop& plain, CodeBuilder& code, ModuleImporter& modules,
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
      plain_(plain),
      history_(hooks.history) {
  if (envelope->payload.bytes.size() >= kWorthRemembering) built_.texts.remember();
}

GraphDecoder::GraphDecoder(const State& state, const Section& constants,
                           PlainLoop& plain, const std::vector<Ref>& nested,
                           const Limits& limits)
    : state_(state),
      limits_(limits),
      reader_(constants.bytes, limits, constants.offset),
      denied_names_(state, nullptr),
      nested_(&nested),
      start_(constants.offset),
      plain_(plain),
      history_(nullptr) {}

GraphDecoder::~GraphDecoder() { built_.abandon(); }  // Before code of others runs.

// What the loop of plain data has begun is gone on with.
Ref GraphDecoder::decode() {
  if (envelope_ != nullptr) {
    arrivals_.use_sources(*envelope_);
    const std::size_t value = (*envelope_)->definitions.value;
    arrivals_.find_targets(*envelope_, known_code_uses_ ? value : 0);
  }
  // Positions of all objects are noted here alone, and so are attributes of a class
  // that is there already.
  plain_from_ = history_ ? SIZE_MAX : start_ + arrivals_.end_of_targets();
  if (plain_from_ > start_) plain_.restart(limits_);
  // Without code each name of a state is looked at; see demand_no_shadow().
  const bool may_make = !history_ && hooks_.opaque == nullptr;
  plain_.trust(state_, lets_no_code_in_ ? nullptr : &arrivals_.open_types(),
               may_make ? this : nullptr);
  try {
    if (envelope_ != nullptr) enter_value();
    Ref object = build();
    arrivals_.apply();
    return object;
  } catch (const PyError&) {
    describe_failure(state_, built_.stack);
    throw;
  }
}

void GraphDecoder::use_scope(const envelope::ReferenceScope& scope) {
  scope_ = scope;
  plain_.use_scope(scope);
}

// Builds the definitions, each of which is complete before the next begins, unless they
// are there. Others refer to them.
void GraphDecoder::enter_value() {
  const Definitions& definitions = (*envelope_)->definitions;
  if (definitions.value == 0) return;
  const bool are_there = known_code_uses_.has_value();
  const std::size_t start = are_there ? definitions.value : definitions.start;
  if (!reader_.skip_to(start_ + start)) raise(state_, reader_.error());
  if (are_there) {
    code_->skip_uses(*known_code_uses_);
  } else {
    use_scope(envelope::ReferenceScope::of_definitions(**envelope_));
    for (std::size_t i = 0; i < definitions.count; ++i) build();
  }
  use_scope(envelope::ReferenceScope::of_value(**envelope_));
}

Ref GraphDecoder::build() {
  Ref value;
  for (;;) {
    if (reader_.offset() >= plain_from_ && late_depth_ == kNotLate) {
      value = go_on_plain();
    }
    built_.hide();
    const bool is_open = !built_.stack.empty();
    if (!value && (!is_open || built_.stack.back().left != 0)) value = read();
    if (value) {
      if (built_.stack.empty()) return value;
      deliver(std::move(value));
    }
    while (built_.stack.back().left == 0) {
      value = settle(finish());
      if (!value) break;  // There is more to it.
      if (built_.stack.empty()) return value;
      deliver(std::move(value));
    }
  }
}

// Null if there is no such part.
Ref GraphDecoder::go_on_plain() {
  if (!built_.stack.empty() && !built_.stack.back().is_plain()) return {};
  if (reader_.offset() > plain_.offset()) plain_.go_to(reader_.offset());
  if (!plain_.is_other_node_next()) plain_.run();
  Ref value = plain_.take_value();
  if (!reader_.skip_to(plain_.offset())) raise(state_, reader_.error());
  if (value) offset_ = plain_.value_offset();
  return value;
}

// The object that a class will have where the payload has `value`, which is complete
// and was noted last.
Ref GraphDecoder::settle(Ref value) {
  if (!value || !arrivals_.has_targets() || last_slot_ == kNoSlot) return value;
  Ref own = arrivals_.settle(last_slot_, value.get());
  if (!own) return value;
  if (own.get() != value.get()) set_slot(last_slot_, own.get());
  return own;
}

void GraphDecoder::fail(ErrorCode code, std::string detail) {
  raise_decode(state_, code, offset_, std::move(detail));
}

Ref GraphDecoder::read() {
  Token token;
  if (!reader_.next(token)) raise(state_, reader_.error());
  offset_ = token.offset;
  if (token.type == TokenType::kArray) return settle(open_array(token));
  if (token.type == TokenType::kMap) return settle(open_map(token));
  const std::size_t slot = slot_at(token.offset);
  built_.cost = {};
  const bool is_attribute = !built_.stack.empty() &&
                            built_.stack.back().kind == FrameKind::kInstance &&
                            !built_.stack.back().key;
  Ref value = leaf(token, is_attribute);
  set_slot(slot, value.get());
  if (slot != kNoSlot) built_.slots[slot].cost = built_.cost;
  last_slot_ = slot;
  // Of leaves only long text and bytes are referred to from later payloads.
  if (token.type >= TokenType::kText) remember(token.offset, value.get());
  return value;
}

Ref GraphDecoder::push(Frame&& frame) {
  if (built_.stack.size() >= limits_.max_depth) {
    fail(ErrorCode::kLimitExceeded, "more containers inside each other than max_depth");
  }
  Frame& open = built_.push(std::move(frame));
  if (open.node && open.node->codec->tag == NodeTag::kSlice) built_.count_direct();
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
  built_.cost = {};
  set_slot(slot, object.get());
  remember(offset, object.get());
  return object;
}

Ref GraphDecoder::open_map(const Token& token) {
  Frame frame;
  frame.kind = FrameKind::kDict;
  frame.left = token.count * 2;
  frame.offset = token.offset;
  frame.slot = slot_at(token.offset);
  if (!built_.stack.empty()) {
    const Frame& top = built_.stack.back();
    if (top.awaits<NodeTag::kFunction>("fields")) {
      frame.kind = FrameKind::kFields;
      frame.object = top.object;
    } else if (top.awaits<NodeTag::kClass>("attributes")) {
      frame.kind = FrameKind::kAttributes;
      frame.object = top.object;
      frame.is_known = top.is_known;
      frame.is_opaque = top.is_opaque;
      frame.gathered = Ref::steal(PyDict_New());
    } else if (top.awaits<NodeTag::kModule>("dict")) {
      frame.object = Ref::share(PyModule_GetDict(top.object.get()));
      frame.is_namespace = true;
    } else if (top.awaits<NodeTag::kObject>("pairs") ||
               top.awaits<NodeTag::kNewObject>("pairs")) {
      frame.kind = FrameKind::kPairs;
      frame.object = Ref::steal(PyList_New(0));
    } else if (top.awaits_field(wire::FunctionField::kGlobals)) {
      // Straight into the namespace that the function already has.
      const Frame& function = built_.stack[built_.stack.size() - 2];
      frame.object = Ref::share(function.part<NodeTag::kFunction>("namespace"));
      frame.is_namespace = frame.is_known = true;
    }
  }
  if (!frame.object) {
    frame.object = new_dict(static_cast<Py_ssize_t>(token.count));
    frame.is_whole = true;
  }
  if (token.count == 0) {
    return empty(frame.gathered ? frame.gathered : frame.object, frame.offset,
                 frame.slot);
  }
  return push(std::move(frame));
}

void GraphDecoder::deliver(Ref value) {
  Frame& frame = built_.stack.back();
  --frame.left;
  const auto index = static_cast<Py_ssize_t>(frame.position++);
  frame.cost.add(built_.cost);
  switch (frame.kind) {
    case FrameKind::kList:
      // Code that the payload calls may have got hold of the list and changed it.
      if (index >= PyList_GET_SIZE(frame.object.get())) {
        fail(ErrorCode::kMalformed, "a list that was changed while it was built");
      }
      [[fallthrough]];
    case FrameKind::kTuple:
      BuildState::put_item(frame, index, std::move(value));
      return;
    case FrameKind::kPairs:
      if (index % 2 == 0) demand_hashable(value.get(), frame);
      check(PyList_Append(frame.object.get(), value.get()));
      return;
    case FrameKind::kFrozenSet:
      demand_hashable(value.get(), frame);
      if (!frame.gathered && must_wait() && !is_simple(value.get())) {
        BuildState::gather(frame);
      }
      if (BuildState::gathers(frame)) {
        check(PyList_Append(frame.gathered.get(), value.get()));
      } else {
        hashed(add(frame.object.get(), value.get()));
      }
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

Ref GraphDecoder::call_codec(Ref (*codec)(GraphDecoder&, Frame&), Frame& frame) {
  if (hooks_.opaque == nullptr) return call(codec, frame);
  Ref cause = opaque_cause(*this, frame);
  if (!cause) {
    try {
      return call(codec, frame);
    } catch (const PyError&) {
      if (!may_be_opaque(state_, frame)) throw;
      cause = take_error();
    }
  }
  Ref object = make_opaque(*this, frame, cause.get());
  if (frame.node->codec->tag == NodeTag::kFunction) {
    frame.node->cells = take_fresh_cells();
  }
  frame.object = object;
  frame.is_opaque = true;
  return object;
}

Ref GraphDecoder::finish() {
  if (built_.stack.back().kind == FrameKind::kNode) return finish_node();
  const std::size_t depth = built_.stack.size();
  Frame frame = std::move(built_.stack.back());
  built_.stack.pop_back();
  offset_ = frame.offset;
  last_slot_ = frame.slot;
  HashCost cost;
  if (frame.kind == FrameKind::kTuple) cost = frame.cost.around(frame.position);
  if (frame.slot != kNoSlot) {
    built_.slots[frame.slot].depth = 0;
    built_.slots[frame.slot].cost = cost;
  }
  BuildState::show(frame);
  if (frame.kind == FrameKind::kFrozenSet) {
    fill(frame, depth);
  } else {
    demand_whole(frame);
  }
  if (depth == late_depth_) insert_late();
  if (frame.kind == FrameKind::kInstance) return finish_instance(std::move(frame));
  if (frame.kind == FrameKind::kAttributes) frame.object = frame.gathered;
  built_.cost = cost;
  remember(frame.offset, frame.object.get());
  return std::move(frame.object);
}

Ref decode_constants(const State& state, const Section& constants, const Limits& limits,
                     const std::vector<Ref>& nested) {
  PlainLoop plain(constants.bytes, 0, constants.offset, limits, {});
  GraphDecoder decoder(state, constants, plain, nested, limits);
  Ref list = decoder.decode();
  return Ref::steal(PyList_AsTuple(list.get()));
}

}  // namespace waybill::py
