#pragma once

// Open containers and nodes: those that still receive values.

#include <Python.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "format/shapes.h"
#include "python/decode/key_guard.h"
#include "python/runtime/ref.h"
#include "python/runtime/state.h"

namespace waybill::py {

struct NodeCodec;

// A part of a node, by its name in format/shapes.h. Another name does not compile.
template <wire::NodeTag kTag>
struct PartOf {
  consteval PartOf(const char* name)  // NOLINT: implicit by design.
      : position(envelope::position_of(kTag, name)) {}
  std::size_t position;
};

enum class FrameKind : std::uint8_t {
  // Containers of plain data.
  kList,
  kTuple,
  kSet,
  kFrozenSet,
  kDict,
  kInstance,  // The dict of an instance of an ordinary class.
  // Others.
  kPairs,  // A map that is read as a flat list.
  kNode,
  kFields,      // The fields of a function.
  kAttributes,  // The attributes of a class, which are set one by one.
};

// The members that only frames of nodes have.
struct NodeParts {
  // Keeps only the allocated memory, for the next node.
  void clear() {
    children.clear();
    cells.clear();
    replacement = {};
  }

  const NodeCodec* codec = nullptr;
  std::vector<Ref> children;  // The complete parts.
  std::vector<Ref> cells;     // kFunction: the new cells of its closure.
  Ref replacement;            // If set, replaces the node's own object.
};

struct Frame {
  static constexpr std::size_t kNoSlot = static_cast<std::size_t>(-1);

  FrameKind kind = FrameKind::kNode;
  bool has_deferred = false;   // kDict: an entry is deferred, so all later ones are.
  bool checks_length = false;  // kDict: the length shows whether keys were equal.
  // kNode, kAttributes: this process had the class before. kDict: existing names keep
  // their values.
  bool is_existing = false;
  bool are_holes_filled = false;  // kList, kTuple: holes hold None.
  bool is_hidden = false;         // See BuildState::hide().
  bool is_opaque = false;         // `object` is the opaque object of the node.
  bool is_namespace = false;      // kDict: globals of functions, or a module's.
  bool is_bound = false;          // kDict: the incomplete value is stored under `key`.
  bool is_detached = false;  // kInstance: `object` is not the instance's own dict yet.
  Ref object{};              // Null for a node that is not created yet.
  std::uint64_t remaining = 0;  // Values still to be read; keys count.
  std::uint64_t position = 0;   // Values that were read.
  std::size_t offset = 0;
  std::size_t slot = kNoSlot;
  // The number of nested tuples and frozensets, without other containers in between, up
  // to and including this frame.
  std::size_t hash_depth = 0;
  HashCost cost{};  // The cost of all values in it.
  Ref key{};        // kDict, kInstance, kFields, kAttributes: key of the next value.
  Ref instance{};   // kInstance: the instance; `object` is its dict.
  std::size_t instance_offset = 0;  // kInstance: where its node starts.
  // kFrozenSet: a list of the items, or null if they are in the set. kAttributes: a
  // dict of the attributes in the payload.
  Ref gathered{};
  std::unique_ptr<KeyProbes> probes{};
  std::unique_ptr<NodeParts> node{};  // kNode

  bool is_plain() const { return kind <= FrameKind::kInstance && !is_namespace; }
  // Whether the object was made with holes for its items.
  bool has_holes() const {
    return (kind == FrameKind::kList || kind == FrameKind::kTuple) &&
           remaining + position != 0;
  }
  // kNode: a complete part.
  template <wire::NodeTag kTag>
  PyObject* part(PartOf<kTag> part) const {
    return node->children[part.position].get();
  }
  // Whether this is the node of an object that a call makes.
  bool is_reduced() const;
  // part() for nodes of one kind.
  template <wire::NodeTag kTag>
  auto parts() const {
    return [this](PartOf<kTag> name) { return part(name); };
  }
  // Whether this is the next part of the node.
  template <wire::NodeTag kTag>
  bool awaits(PartOf<kTag> part) const;
  // Whether the next value is this field of a function.
  bool awaits_field(wire::FunctionField field) const;
};

// Adds a note to the current exception, raised by foreign code: the path from the root
// of the payload to the object that was being built. Waybill's own errors name the
// place, and get none. `stack`: the open frames.
void describe_failure(const State& state, std::span<const Frame> stack);

// Whether an open namespace has this name.
bool has_name(const Frame& frame, PyObject* name);

}  // namespace waybill::py
