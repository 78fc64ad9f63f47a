#pragma once

// The encode cache: what a function or class by value became, kept with a guard for
// everything in the program that the node depends on. A later payload takes the node as
// it is if each guard still holds.
//
// A node names modules and code by their numbers in the payload, so it is kept for
// where it stood: first of all that is no plain data, or behind a node that is kept
// itself. What a program sends again and again – a task, a task with an object, objects
// of several classes – so becomes a chain of nodes, with plain data in between.
// References are written anew: what they mean, plain data may refer to as well.

#include <Python.h>

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "python/encode/kept_sections.h"
#include "python/encode/kept_table.h"
#include "python/encode/written_objects.h"
#include "python/guards/guards.h"
#include "python/runtime/memo.h"
#include "python/runtime/ref.h"
#include "python/runtime/state.h"
#include "waybill/bytes.h"

namespace waybill::py {

// Keeps no module, class, function or dict alive. Node, guards and references do not
// change once they are set.
class KeptNode {
 public:
  // References of this size mean one of the first 256 shared objects.
  static constexpr std::size_t kReferenceSize = 3;
  static constexpr std::size_t kMaxReferences = 256;
  static constexpr std::size_t kMaxSuccessors = 8;

  // Notes what a function or class reaches; see ReachGuards. `visited` has the objects
  // of the nodes before it, and gets those that it adds. Null if it cannot be kept.
  static std::shared_ptr<KeptNode> look(const State& state, PyObject* root,
                                        std::vector<VisitedObject>& visited);

  // False once the caches have been emptied: it never fits again.
  bool is_current(const State& state) const { return guards_->is_current(state); }

  // Whether it would become the same node behind the same nodes, whose objects
  // `visited` has; gets those that it adds, in the order of offsets(). See
  // ReachGuards::hold().
  bool fits(const State& state, PyObject* root,
            std::vector<VisitedObject>& visited) const {
    return visited.size() == first_ && guards_->hold(state, root, visited);
  }

  // The node, as it was written at `base`; the objects that the memo of the encoder
  // noted in it must be those that look() found. `references`: those within the node.
  // False if the node cannot be kept.
  bool set_node(BytesView node, std::size_t base, const Memo& memo,
                std::span<const VisitedObject> visited,
                std::span<const WrittenReference> references);

  BytesView node() const { return node_; }
  // How many objects the nodes before it have.
  std::size_t first() const { return first_; }
  // Where each object that it adds stands in it; kNowhere if no note was made of it.
  static constexpr std::uint64_t kNowhere = ~std::uint64_t{0};
  const std::vector<std::uint64_t>& offsets() const { return offsets_; }

  struct Reference {
    std::size_t position;  // Where in the node it is written,
    std::size_t number;    // and which of the chain's objects it means.
  };
  const std::vector<Reference>& references() const { return references_; }

  // The sections of an envelope that holds this node, those before it and plain data
  // besides, with the source of all code or without any; null if none has been written.
  const KeptSections* sections(bool has_source) const {
    const auto& kept = sections_[has_source ? 1 : 0];
    return kept ? &*kept : nullptr;
  }
  // Sets them, unless another thread has, and what was looked up for them besides the
  // values that are guarded. False if they are too large.
  bool set_sections(KeptSections sections, bool has_source, SeenWorld seen);

  // The nodes that were kept behind this one.
  KeptTable& successors() { return successors_; }

 private:
  std::unique_ptr<ReachGuards> guards_;
  std::size_t first_ = 0;
  std::vector<std::uint8_t> node_;
  std::vector<std::uint64_t> offsets_;
  std::vector<Reference> references_;
  std::array<std::optional<KeptSections>, 2> sections_;
  KeptTable successors_{kMaxSuccessors};
};

}  // namespace waybill::py
