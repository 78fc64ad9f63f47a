// Known nodes, and instances of ordinary classes, among plain data. Tested by
// tests/python/cache/test_recipes.py and test_known_classes.py.

#include <algorithm>
#include <cstring>
#include <utility>

#include "format/shapes.h"
#include "python/decode/plain_decoder.h"
#include "python/decode/plain_loop.h"
#include "python/runtime/attribute.h"
#include "python/runtime/compat.h"
#include "wire/format.h"

namespace waybill::py {

// Passes over a node if it is the next that is known, and refers to the same.
bool PlainDecoder::take_node(Ref& value, const std::uint8_t* start, std::size_t slot) {
  if (nodes_passed_ == nodes_.size()) return give_up();
  const envelope::ReusableNode& node = nodes_[nodes_passed_];
  const std::size_t size = node.bytes.size();
  if (size > static_cast<std::size_t>(end_ - start) ||
      std::memcmp(start, node.bytes.data(), size) != 0 ||
      stack_.size() + open_instances_ + size > max_depth_ ||
      !refers_to_same(node, slot)) {
    return give_up();
  }
  const auto position = static_cast<std::uint64_t>(start - start_);
  cost_ = {};
  envelope::TargetCheck inside(node);
  const auto meet = [&](std::uint64_t target, std::size_t number) {
    if (!inside.meet(target - position, number)) return false;
    if (inside.type() != nullptr) note(number, objects_[inside.type()->object].get());
    return true;
  };
  if (!positions_.pass_to(position + size, meet) || !inside.is_complete()) {
    return give_up();
  }
  are_passed_ = positions_.are_passed();
  references_seen_ = std::max(references_seen_, node.references_after);
  value = objects_[nodes_passed_++];
  note(slot, value.get());
  at_ = start + size;
  return true;
}

bool PlainDecoder::refers_to_same(const envelope::ReusableNode& node,
                                  std::size_t slot) const {
  return references_seen_ == node.references_before &&
         node.references_after <= slots_.size() &&
         std::ranges::all_of(node.to_starts, [&](const auto& to) {
           return to.node == nodes_passed_
                      ? slot == to.number
                      : slots_[to.number].object.get() == objects_[to.node].get();
         });
}

bool PlainDecoder::pass_nothing(std::size_t more) {
  if (static_cast<std::size_t>(end_ - at_) < 2 + more || at_[0] != wire::kEmptyArray ||
      at_[1] != wire::kEmptyMap ||
      !positions_.are_none_before(static_cast<std::uint64_t>(at_ - start_) + 2 +
                                  more)) {
    return give_up();
  }
  at_ += 2;
  return true;
}

// None of a class with __del__: it would see an instance that is given up.
Ref PlainDecoder::new_instance(PyObject* type) {
  auto* cls = reinterpret_cast<PyTypeObject*>(type);
  if (!PyType_Check(type) || !state_->ordinary_types.have(state_->names, cls) ||
      cls->tp_finalize != nullptr || cls->tp_del != nullptr) {
    return {};
  }
  const Ref no_arguments = Ref::steal(PyTuple_New(0));
  Ref instance = Ref::steal_or_null(cls->tp_new(cls, no_arguments.get(), nullptr));
  if (!instance) forgive(PyExc_TypeError);  // Of an abstract class.
  return instance;
}

// A reference, or a known node. What else makes a class is not for here, and would be
// read by recursion.
bool PlainDecoder::is_class_next() const {
  const std::uint8_t* const node = at_ + 1;
  return at_ != end_ && (wire::kLeads[*at_].counts == wire::Counts::kBytes ||
                         (end_ - node >= 3 && node[0] == 0xd4 &&
                          node[1] == static_cast<std::uint8_t>(wire::ExtType::kNode) &&
                          node[2] == static_cast<std::uint8_t>(wire::NodeTag::kClass)));
}

// [class, [], {}, {name: …}, [], {}]: its state goes straight into its dict.
bool PlainDecoder::open_instance(std::uint64_t count, std::size_t slot) {
  Ref type;
  if (state_ == nullptr ||
      count != envelope::shape_of(wire::NodeTag::kNewObject).most || !is_class_next() ||
      !read(type) || !pass_nothing(1)) {
    return give_up();
  }
  const wire::Lead& lead = wire::kLeads[*at_];
  Ref instance = new_instance(type.get());
  if (!instance || lead.counts != wire::Counts::kPairs || lead.head > end_ - at_) {
    return give_up();
  }
  Ref dict = instance_dict(instance.get());
  const std::uint64_t values = 2 * wire::length_of(lead, at_);
  announced_ += values;
  if (!dict || !PyDict_CheckExact(dict.get()) || values == 0 ||
      announced_ > static_cast<std::uint64_t>(end_ - start_)) {
    return give_up();
  }
  at_ += lead.head;
  cost_ = {};
  note(slot, instance.get());
  // The node and its state are two containers to those who verify.
  ++open_instances_;
  if (stack_.size() + open_instances_ >= max_depth_) return give_up();
  stack_.push_back({Kind::kInstance,
                    values,
                    0,
                    slot,
                    std::move(dict),
                    {},
                    {},
                    {},
                    std::move(instance)});
  return false;
}

Ref decode_plain_around(const State& state, const Envelope& envelope,
                        std::span<const envelope::ReusableNode> nodes,
                        std::span<const Ref> objects, const Limits& limits) {
  const CollectorPause pause;
  PlainDecoder decoder(envelope.bytes, envelope.payload.offset, limits,
                       envelope.shared);
  decoder.have(state, nodes, objects);
  Ref value = decoder.decode();
  return decoder.size() == envelope.payload.bytes.size() ? std::move(value) : Ref();
}

}  // namespace waybill::py
