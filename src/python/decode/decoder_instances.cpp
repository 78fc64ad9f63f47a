// Instances of ordinary classes, which PlainLoop opens: what it leaves of them.
// Tested by tests/python/kinds/test_instances_received.py.

#include <utility>

#include "python/decode/graph_decoder.h"

namespace waybill::py {

// The state is there; items and pairs follow, and most have none. They are for an
// instance that has no state yet, so it is taken away until they came.
Ref GraphDecoder::finish_instance(Frame frame) {
  constexpr std::size_t kState =
      envelope::position_of(wire::NodeTag::kNewObject, "state");
  if (!frame.is_apart) {
    const Ref dict = std::exchange(frame.object, {});
    frame.object = Ref::steal(PyDict_Copy(dict.get()));
    PyDict_Clear(dict.get());
  }
  Frame node;
  node.left = envelope::shape_of(wire::NodeTag::kNewObject).most - kState - 1;
  node.position = kState + 1;
  node.offset = frame.offset;
  node.slot = frame.slot;
  node.object = std::move(frame.instance);
  node.node = std::make_unique<NodeParts>(
      node_codec(static_cast<std::uint8_t>(wire::NodeTag::kNewObject)));
  node.node->children.resize(kState);  // Class, arguments and keywords did their work.
  node.node->children.push_back(std::move(frame.object));
  return push(std::move(node));
}

}  // namespace waybill::py
