#pragma once

// A payload as a flat tree in which subtrees can be compared, and passed over, at once.

#include <cstdint>
#include <vector>

#include "format/payload_cursor.h"
#include "waybill/envelope.h"

namespace waybill::envelope {

class PayloadTree {
 public:
  struct Node {
    // Of all that the value means: code by content, modules by name, references by what
    // they refer to. Equal values have equal hashes, whatever the tables around them.
    std::uint64_t hash = 0;
    std::size_t offset = 0;  // In the envelope.
    std::uint32_t end = 0;  // The index of the first node behind this and all it holds.
    wire::TokenType type = wire::TokenType::kNil;
    std::uint8_t tag = 0;  // wire::NodeTag, for arrays that are nodes; else 0.
  };

  // `envelope` must outlive this. A payload that cannot be read, or has 2^32 values,
  // gives an empty tree.
  explicit PayloadTree(const Envelope& envelope);

  bool empty() const { return nodes_.empty(); }
  const Node& operator[](std::uint32_t index) const { return nodes_[index]; }

  // The values directly in a container, without a node's tag; keys and values of maps
  // in turn.
  std::vector<std::uint32_t> children(std::uint32_t index) const;

  // A reader at the value.
  wire::Reader at(std::uint32_t index) const;

 private:
  using Cursor = PayloadCursor<std::uint32_t>;  // The note: a node in nodes_.

  bool build();
  std::uint64_t leaf_hash(Cursor& cursor) const;
  std::uint64_t reference_hash(const Cursor& cursor) const;

  const Envelope& envelope_;
  std::vector<Node> nodes_;
};

}  // namespace waybill::envelope
