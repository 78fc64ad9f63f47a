#pragma once

// The encode cache: what a function or class by value became when it was the first in a
// payload that is no plain data, kept with a guard for everything in the program that
// the node depends on. A later payload takes the node as it is if each guard still
// holds, wherever in the payload the function or class stands.

#include <Python.h>

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "python/discovery/node_guards.h"
#include "python/encode/kept_sections.h"
#include "python/runtime/memo.h"
#include "python/runtime/ref.h"
#include "python/runtime/state.h"
#include "waybill/bytes.h"

namespace waybill::py {

// Keeps no module, class, function or dict alive. Immutable once it is complete.
class KeptNode {
 public:
  // Notes what a function or class reaches; see NodeGuards. Null if it cannot be kept.
  static std::unique_ptr<KeptNode> look(const State& state, PyObject* root);

  // Whether it would become the same node; `met` gets the objects of the node in the
  // order of offsets(). See NodeGuards::hold().
  bool fits(const State& state, PyObject* root, std::vector<MetObject>& met) const {
    return guards_->hold(state, root, met);
  }

  // The node, as it was written at `base`; the objects that the memo of the encoder
  // noted in it must be those that look() found, but for containers that had one owner.
  // `shared`: where the payload's references lead, all into the node. False if the node
  // cannot be kept.
  bool set_node(BytesView node, std::size_t base, const Memo& memo,
                const std::vector<std::uint64_t>& shared);
  // The end of what is to be kept; `sections` are those of an envelope that holds this
  // node and plain data besides. False if it is too much, or has changed since look().
  bool complete(const State& state, PyObject* root, SeenWorld seen,
                KeptSections sections);

  BytesView node() const { return node_; }
  // Where each object of the node stands in it; kNowhere for a container that nothing
  // but its owner had, which the rest of the payload cannot refer to.
  static constexpr std::uint64_t kNowhere = ~std::uint64_t{0};
  const std::vector<std::uint64_t>& offsets() const { return offsets_; }
  // The objects that references within the node mean, by their numbers in offsets().
  const std::vector<std::uint32_t>& shared() const { return shared_; }
  const KeptSections& sections() const { return sections_; }

 private:
  std::unique_ptr<NodeGuards> guards_;
  struct Key {
    std::uintptr_t key;
    bool is_container;
  };
  std::vector<Key> keys_;  // Until the node is set: of the objects noted.
  std::vector<std::uint8_t> node_;
  std::vector<std::uint64_t> offsets_;
  std::vector<std::uint32_t> shared_;
  KeptSections sections_;
};

// What an encoder has to do with the encode cache. A function or class is kept, and
// taken, where it is the first object of a payload that is no plain data, nor an
// instance of that class: so it begins the manifest and the code section.
struct KeptUse {
  enum class Phase : std::uint8_t {
    kOpen,     // There was plain data alone.
    kWriting,  // A node is written that is to be kept.
    kWritten,  // It was, and all else is plain data.
    kTaken,    // What was kept was taken, and all else is plain data.
    kBegun,    // Another encoder wrote the beginning, and all else is plain data.
    kClosed,   // Nothing of a cache is in this payload.
  };
  Phase phase = Phase::kClosed;
  Ref root, code;                   // A function with its code, or a class.
  std::unique_ptr<KeptNode> notes;  // kWriting, kWritten.
  std::shared_ptr<const KeptNode> taken;
  std::size_t base = 0;   // Where the node begins,
  std::size_t depth = 0;  // and the size of the stack below it.
};

}  // namespace waybill::py
