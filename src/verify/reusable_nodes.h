#pragma once

// Parts of a payload that mean the same wherever they stand: classes, and functions
// with what they need, as long as no code has to run to make that. Who has seen one
// before need not read it again.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "waybill/envelope.h"
#include "wire/format.h"

namespace waybill::envelope {

// A node, and what it takes for the same bytes to mean the same in another payload with
// the same manifest and code. Positions count from the start of the payload.
struct ReusableNode {
  // What a reference by this number means: the first byte of a known node.
  struct ToStart {
    std::uint64_t number;
    std::size_t node;  // Into the list of known nodes.
  };
  // What is inside and is referred to from inside this node or another.
  struct Target {
    std::uint64_t number;
    std::size_t offset;  // From the start of the node.
  };

  struct Class {
    std::size_t offset;  // From the start of the node.
    std::vector<std::uint8_t> id;
    std::size_t object;  // Into the objects of all nodes; see object_count().
  };

  wire::NodeTag tag{};  // kFunction or kClass.
  std::size_t start = 0;
  std::vector<std::uint8_t> bytes;
  std::size_t uses_before = 0;           // Of code in the payload before the node.
  std::vector<std::uint32_t> code_uses;  // Indices into the code section, in order.
  // How many distinct numbers references have had before the node, and after it.
  std::uint64_t references_before = 0;
  std::uint64_t references_after = 0;
  std::vector<Target> targets;  // By offset.
  std::vector<ToStart> to_starts;
  // By offset: the class, and those inside the node. References from anywhere, by any
  // number, may mean these.
  std::vector<Class> classes;

  bool is_function() const { return tag == wire::NodeTag::kFunction; }
  std::size_t end() const { return start + bytes.size(); }
  // The class that starts there; null if none does.
  const Class* class_at(std::size_t offset) const;
};

// How many objects nodes mean: one for each node, in their order, and then one for each
// class inside of them.
std::size_t object_count(std::span<const ReusableNode> nodes);

// Compares what references mean inside a node with what they meant when it was found.
class TargetCheck {
 public:
  explicit TargetCheck(const ReusableNode& node) : node_(node) {}

  // To be told of each position that references mean behind the start of the node, in
  // order. False if they may not.
  bool meet(std::size_t offset, std::uint64_t number);
  // The class at the position that was met last; null if there is none.
  const ReusableNode::Class* type() const { return type_; }
  // Whether all that references from inside mean was met.
  bool is_complete() const { return met_ == node_.targets.size(); }

 private:
  const ReusableNode& node_;
  std::size_t met_ = 0;
  const ReusableNode::Class* type_ = nullptr;
};

// The known nodes of a payload, in order, none inside another. None refers to anything
// outside of them, and nothing outside refers into them but to classes; no function is
// among what others are made from, who may do anything with it. None at all if there
// are very many. Cost: one pass over the payload, and at most 64 over its references;
// memory by references.
std::vector<ReusableNode> find_reusable_nodes(const VerifiedEnvelope& envelope);

}  // namespace waybill::envelope
