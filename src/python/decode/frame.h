#pragma once

// Containers and nodes that are being filled.

#include <Python.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "format/shapes.h"
#include "python/decode/key_guard.h"
#include "python/decode/shared_positions.h"
#include "python/runtime/ref.h"

namespace waybill::py {

struct NodeCodec;

// A part of a node, by its name in format/shapes.h. Another name does not compile.
template <wire::NodeTag kTag>
struct PartOf {
  consteval PartOf(const char* name)  // NOLINT: a name is one.
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
  kAttributes,  // What is set on a class, one by one.
};

// What the frame of a node has beside that of a container.
struct NodeParts {
  // Forgets all but its memory.
  void clear() {
    children.clear();
    cells.clear();
    instead = {};
  }

  const NodeCodec* codec = nullptr;
  std::vector<Ref> children;  // Those that came.
  std::vector<Ref> cells;     // Of a function: those that it introduces.
  Ref instead;                // What the node means in place of what it made.
};

struct Frame {
  static constexpr std::size_t kNoSlot = SharedPositions::kNone;

  FrameKind kind = FrameKind::kNode;
  bool has_late = false;  // kDict: an entry waits, so all that follow do.
  bool is_whole = false;  // kDict: its length is checked at the end.
  // A class that was there before; kDict: names that are there keep their values.
  bool is_known = false;
  bool has_no_holes = false;  // kList, kTuple: each place has at least a stand-in.
  bool is_hidden = false;     // See BuildState::hide().
  bool is_opaque = false;     // `object` stands in for what cannot be built.
  bool is_namespace = false;  // kDict: globals of functions, or a module's.
  bool is_bound = false;      // kDict: `key` has its value, which is not complete.
  bool is_apart = false;      // kInstance: `object` is not the instance's own dict yet.
  Ref object;                 // Null for a node that is not created yet.
  std::uint64_t left = 0;     // Values still to come; keys count.
  std::uint64_t position = 0;  // Values that came.
  std::size_t offset = 0;
  std::size_t slot = kNoSlot;
  // How many frames up to this one, without a break, are tuples, frozensets or slices.
  std::size_t direct = 0;
  HashCost cost;  // Of all in it.
  Ref key;        // kDict, kInstance, kFields, kAttributes: waits for its value.
  Ref instance;   // kInstance: whose dict `object` is,
  std::size_t instance_offset = 0;  // and where its node begins.
  // kFrozenSet: a list of its items, or null if they are in it. kAttributes: a dict of
  // what the payload says.
  Ref gathered;
  std::unique_ptr<KeyProbes> probes;
  std::unique_ptr<NodeParts> node;  // kNode

  // Whether it is a container of plain data.
  bool is_plain() const { return kind <= FrameKind::kInstance && !is_namespace; }
  // Whether it was made with all its places, which are filled one by one.
  bool has_places() const {
    return (kind == FrameKind::kList || kind == FrameKind::kTuple) &&
           left + position != 0;
  }
  // kNode: a part that has come.
  template <wire::NodeTag kTag>
  PyObject* part(PartOf<kTag> part) const {
    return node->children[part.position].get();
  }
  // Whether it is such a node, and this part is the next to come.
  template <wire::NodeTag kTag>
  bool awaits(PartOf<kTag> part) const;
  // Whether it is the fields of a function, and the next value is that of this one.
  bool awaits_field(wire::FunctionField field) const;
};

// Whether a namespace that is being filled has this name.
bool has_name(const Frame& frame, PyObject* name);

}  // namespace waybill::py
