#pragma once

// The encode cache: what a function by value became when it was the first in a payload
// that is no plain data, kept on its code object with a guard for everything in the
// program that the node depends on. A later payload takes the node as it is if each
// guard still holds, wherever in the payload the function stands.

#include <Python.h>

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "python/discovery/function_guards.h"
#include "python/encode/kept_sections.h"
#include "python/runtime/memo.h"
#include "python/runtime/ref.h"
#include "python/runtime/state.h"
#include "waybill/bytes.h"

namespace waybill::py {

// Keeps no module, class, function or dict alive. Immutable once it is complete.
class KeptFunction {
 public:
  // Notes what the function reaches; see FunctionGuards. Null if it cannot be kept.
  static std::unique_ptr<KeptFunction> look(const State& state, PyObject* function);

  // Whether this function would become the same node; `met` gets the objects of the
  // node in the order of offsets(). See FunctionGuards::hold().
  bool fits(const State& state, PyObject* function, std::vector<MetObject>& met) const {
    return guards_->hold(state, function, met);
  }

  // The node, as it was written at `base`; the objects that the memo of the encoder
  // noted in it must be those that look() found, but for tuples that had one owner.
  // `shared`: where the payload's references lead, all into the node. False if the node
  // cannot be kept.
  bool set_node(BytesView node, std::size_t base, const Memo& memo,
                const std::vector<std::uint64_t>& shared);
  // The end of what is to be kept; `sections` are those of an envelope that holds this
  // function and plain data besides. False if it is too much, or has changed since
  // look().
  bool complete(const State& state, PyObject* function, SeenWorld seen,
                KeptSections sections);

  BytesView node() const { return node_; }
  // Where each object of the node stands in it; kNowhere for a tuple that nothing but
  // its owner had, which the rest of the payload cannot refer to.
  static constexpr std::uint64_t kNowhere = ~std::uint64_t{0};
  const std::vector<std::uint64_t>& offsets() const { return offsets_; }
  // The objects that references within the node mean, by their numbers in offsets().
  const std::vector<std::uint32_t>& shared() const { return shared_; }
  const KeptSections& sections() const { return sections_; }

 private:
  std::unique_ptr<FunctionGuards> guards_;
  struct Key {
    std::uintptr_t key;
    bool is_tuple;
  };
  std::vector<Key> keys_;  // Until the node is set: of the objects noted.
  std::vector<std::uint8_t> node_;
  std::vector<std::uint64_t> offsets_;
  std::vector<std::uint32_t> shared_;
  KeptSections sections_;
};

}  // namespace waybill::py
