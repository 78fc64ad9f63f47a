// Instances of ordinary classes, which most objects of a program are. Their state goes
// straight into their dict, and what else may stand in their node, and is empty, is
// passed over.
// Tested by tests/python/kinds/test_instances_received.py.

#include <algorithm>

#include "python/decode/graph_decoder.h"
#include "python/runtime/attribute.h"
#include "python/runtime/compat.h"
#include "python/runtime/modules.h"

namespace waybill::py {

namespace {

using wire::kEmptyArray;
using wire::kEmptyMap;
using wire::NodeTag;

// [class, [], {}, {name: …}] as the sender writes it: the class is one that came
// before.
struct Start {
  std::uint64_t type = 0;  // The number of the reference.
  std::size_t size = 0;    // Of all before the map of the state; 0 if it is not so.
};

Start start_of(BytesView node) {
  const std::size_t reference = wire::size_of_reference(node);
  const std::size_t size = reference + 2;
  Start start;
  const bool is_start = reference != 0 && node.size() > size &&
                        wire::index_of(node.subspan(2, reference - 2), start.type) &&
                        node[size - 2] == kEmptyArray && node[size - 1] == kEmptyMap &&
                        node[size] > kEmptyMap &&
                        node[size] < kEmptyArray;  // One attribute to fifteen.
  start.size = is_start ? size : 0;
  return start;
}

// The node of an instance that is there, up to its state, as those have it who read it
// whole. Takes the instance from its frame.
GraphDecoder::Frame node_around(GraphDecoder::Frame& instance) {
  constexpr std::size_t kState = envelope::position_of(NodeTag::kNewObject, "state");
  GraphDecoder::Frame node;
  node.kind = GraphDecoder::FrameKind::kNode;
  node.codec = node_codec(static_cast<std::uint8_t>(NodeTag::kNewObject));
  node.left = envelope::shape_of(NodeTag::kNewObject).most - kState;
  node.offset = instance.offset;
  node.slot = instance.slot;
  node.object = std::move(instance.instance);
  node.children.resize(kState);  // Class, arguments and keywords did their work.
  return node;
}

// Whether a value is next that holds no other and needs no look at what is around it.
bool is_leaf(BytesView rest) {
  if (rest.empty()) return false;
  const wire::Counts counts = wire::kLeads[rest[0]].counts;
  return counts == wire::Counts::kNothing ||
         (counts == wire::Counts::kBytes &&
          wire::bytes_type(rest[0]) == wire::TokenType::kText);
}

}  // namespace

// A class that has not got its attributes yet may turn out to be no ordinary one.
bool GraphDecoder::is_ordinary(PyTypeObject* type) const {
  return std::ranges::find(open_types_, reinterpret_cast<PyObject*>(type)) ==
             open_types_.end() &&
         state_.ordinary_types.have(state_.names, type);
}

bool GraphDecoder::open_instance(Frame& frame) {
  const Start start = start_of(reader_.rest());
  const std::size_t state = reader_.offset() + start.size - start_;
  // Without code each name of the state is looked at; see demand_no_shadow().
  if (start.size == 0 || history_ || lets_no_code_in_ || start.type >= slots_.size() ||
      !positions_.are_none_before(state + 1)) {
    return false;
  }
  PyObject* type = slots_[start.type].object.get();
  if (type == nullptr || !PyType_Check(type)) return false;
  auto* cls = reinterpret_cast<PyTypeObject*>(type);
  if (!is_ordinary(cls)) return false;
  const Ref no_arguments = Ref::steal(PyTuple_New(0));
  frame.instance = Ref::steal(cls->tp_new(cls, no_arguments.get(), nullptr));
  frame.object = instance_dict(frame.instance.get());
  if (!frame.object || !PyDict_CheckExact(frame.object.get())) {
    frame.object = frame.instance = Ref();
    return false;
  }
  BytesView passed;
  wire::Token attributes;
  reader_.take(passed, start.size);
  if (!reader_.next(attributes)) raise(state_, reader_.error());
  frame.kind = FrameKind::kInstance;
  frame.left = attributes.count * 2;
  frame.is_whole = true;
  return true;
}

// The attributes up to the first that is more than a leaf.
void GraphDecoder::read_attributes(Frame& frame) {
  wire::Token token;
  while (frame.left != 0 && is_leaf(reader_.rest())) {
    offset_ = reader_.offset();
    const std::size_t slot = slot_at(offset_);
    Ref value = short_text(!frame.key);
    if (!value) {
      if (!reader_.next(token)) raise(state_, reader_.error());
      value = leaf(token, !frame.key);
    }
    set_slot(slot, value.get(), 0);
    --frame.left;
    ++frame.position;
    if (!frame.key) {
      frame.key = std::move(value);
    } else {
      const Ref name = std::move(frame.key);
      hashed(PyDict_SetItem(frame.object.get(), name.get(), value.get()));
    }
  }
}

// What the state holds refers to the instance, and code that it calls may look at it or
// fill it: until all is there it has nothing.
Ref GraphDecoder::read_apart(Frame frame) {
  push(node_around(frame));
  frame.slot = kNoSlot;
  const Ref instance_dict = std::move(frame.object);
  frame.kind = FrameKind::kDict;
  frame.object = Ref::steal(PyDict_Copy(instance_dict.get()));
  PyDict_Clear(instance_dict.get());
  return push(std::move(frame));
}

Ref GraphDecoder::read_instance(Frame frame) {
  set_slot(frame.slot, frame.instance.get(), 0);
  read_attributes(frame);
  if (frame.left != 0) {
    return frame.slot == kNoSlot ? push(std::move(frame))
                                 : read_apart(std::move(frame));
  }
  offset_ = frame.offset;
  demand_whole(frame);
  last_slot_ = frame.slot;
  return finish_instance(std::move(frame));
}

// The state is there; items and pairs follow, and most have none.
Ref GraphDecoder::finish_instance(Frame frame) {
  cost_ = {};
  const BytesView rest = reader_.rest();
  BytesView passed;
  if (rest.size() >= 2 && rest[0] == kEmptyArray && rest[1] == kEmptyMap &&
      positions_.are_none_before(reader_.offset() + 2 - start_)) {
    reader_.take(passed, 2);
    return std::move(frame.instance);
  }
  // Items and pairs are for an instance that has no state yet.
  const Ref state = Ref::steal(PyDict_Copy(frame.object.get()));
  PyDict_Clear(frame.object.get());
  Frame node = node_around(frame);
  node.children.push_back(state);
  --node.left;
  return push(std::move(node));
}

}  // namespace waybill::py
