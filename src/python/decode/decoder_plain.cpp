// What is plain in a payload, and what the loop of plain data has begun. Tested by
// tests/python/untrusted/test_among_plain_data.py.

#include <utility>

#include "python/decode/graph_decoder.h"

namespace waybill::py {

namespace {

GraphDecoder::FrameKind kind_of(PlainDecoder::Kind kind) {
  switch (kind) {
    case PlainDecoder::Kind::kList:
      return GraphDecoder::FrameKind::kList;
    case PlainDecoder::Kind::kTuple:
      return GraphDecoder::FrameKind::kTuple;
    case PlainDecoder::Kind::kSet:
      return GraphDecoder::FrameKind::kSet;
    case PlainDecoder::Kind::kFrozenSet:
      return GraphDecoder::FrameKind::kFrozenSet;
    case PlainDecoder::Kind::kDict:
      return GraphDecoder::FrameKind::kDict;
    case PlainDecoder::Kind::kInstance:
      return GraphDecoder::FrameKind::kInstance;
  }
  return {};
}

}  // namespace

// Plain data that is kept for later payloads, that a policy looks at, or that is an
// attribute of a class which is there already takes the long way.
void GraphDecoder::begin_plain() {
  uses_plain_ = nested_ == nullptr && !history_ && hooks_.gate == nullptr &&
                attribute_targets_.empty();
  if (!plain_.stopped_inside()) return;
  if (uses_plain_) {
    for (const auto& node : made_.first(plain_.nodes_passed())) {
      code_->skip_uses(node.code_uses.size());
    }
    take_over();
  } else {
    plain_ =
        PlainDecoder((*envelope_)->payload.bytes, 0, limits_, (*envelope_)->shared);
  }
}

bool GraphDecoder::plain_at(std::size_t offset, std::uint64_t count, Ref& value) {
  // What cannot be hashed yet waits for what is outside. The parts of a node are mostly
  // too small to be worth another loop.
  const bool is_part = !stack_.empty() && stack_.back().kind == FrameKind::kNode;
  if (!uses_plain_ || count < (is_part ? 8 : 1) || stack_.size() >= late_depth_) {
    return false;
  }
  value = plain_.decode_at(offset - start_, stack_.size());
  if (value) {
    if (!reader_.skip_to(start_ + plain_.offset())) raise(state_, reader_.error());
    cost_ = plain_.cost();
    last_slot_ = kNoSlot;
    return true;
  }
  // Once is enough: it would begin anew in each container inside.
  uses_plain_ = plain_.stopped_inside();
  if (uses_plain_) take_over();
  return uses_plain_;
}

void GraphDecoder::take_over() {
  for (PlainDecoder::Frame& plain : plain_.open_containers()) {
    Frame frame;
    frame.kind = kind_of(plain.kind);
    frame.object = std::move(plain.object);
    frame.left = plain.left;
    frame.position = plain.position;
    frame.offset = start_ + plain.offset;
    frame.slot = plain.slot;
    frame.cost = plain.cost;
    frame.probes = std::move(plain.probes);
    frame.key = std::move(plain.key);
    frame.instance = std::move(plain.instance);
    frame.is_whole = frame.kind == FrameKind::kDict || frame.instance;
    if (frame.instance && frame.slot != kNoSlot) {
      read_apart(std::move(frame));
    } else {
      push(std::move(frame));
    }
  }
  if (!reader_.skip_to(start_ + plain_.offset())) raise(state_, reader_.error());
}

}  // namespace waybill::py
