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

#include "python/import_collector.h"
#include "python/memo.h"
#include "python/ref.h"
#include "python/state.h"
#include "waybill/bytes.h"

namespace waybill::py {

// An object that the rest of a payload may refer to, and its key in the memo.
struct MetObject {
  std::uintptr_t key = 0;
  Ref object;
};

// Holds text, numbers, names and weak references: no module, class, function or dict is
// kept alive. Immutable once it is complete.
class KeptFunction {
 public:
  // The sections of an envelope that holds this function and plain data besides.
  struct Sections {
    std::vector<std::uint8_t> manifest, code, places;
    std::vector<std::size_t> code_ends;  // Of each body in `code`.
  };

  // Notes what the function reaches: its defaults, cells, annotations, globals, and the
  // same of functions by value among these. Null if something there cannot be compared
  // later, or if it is more than kMaxGuards.
  static std::unique_ptr<KeptFunction> look(const State& state, PyObject* function);

  // Whether this function, which has the same code, would become the same node: every
  // look-up is made again, and nothing from the time before is trusted. `met` gets the
  // objects of the node in the order of offsets(). Cost: a few dict look-ups for each
  // global. May run code of others, in dicts whose keys are no exact text.
  bool fits(const State& state, PyObject* function, std::vector<MetObject>& met) const;

  // The node, as it was written at `base`; the objects that the memo of the encoder
  // noted in it must be those that look() found, but for tuples that had one owner.
  // `shared`: where the payload's references lead, all into the node. False if the node
  // cannot be kept.
  bool set_node(BytesView node, std::size_t base, const Memo& memo,
                const std::vector<std::uint64_t>& shared);
  // The end of what is to be kept. False if it is too much, or has changed since
  // look().
  bool complete(const State& state, PyObject* function, SeenWorld seen,
                Sections sections);

  BytesView node() const { return node_; }
  // Where each object of the node stands in it; kNowhere for a tuple that nothing but
  // its owner had, which the rest of the payload cannot refer to.
  static constexpr std::uint64_t kNowhere = ~std::uint64_t{0};
  const std::vector<std::uint64_t>& offsets() const { return offsets_; }
  // The objects that references within the node mean, by their numbers in offsets().
  const std::vector<std::uint32_t>& shared() const { return shared_; }
  const Sections& sections() const { return sections_; }

 private:
  class Noting;
  class Comparing;

  // What one look at the program showed.
  struct Guard {
    enum class Kind : std::uint8_t {
      kAbsent,     // Nothing.
      kConstant,   // Text, a number or a singleton.
      kSeen,       // An object that came before: its number.
      kTuple,      // A tuple of so many items, whose guards follow.
      kCount,      // So many cells, or names of a dict.
      kModule,     // A module that can be imported, by its name.
      kGlobal,     // A class or function that is found in a module.
      kFunction,   // A function by value; its own guards come later.
      kNamespace,  // What a globals dict says of itself.
      kObject,     // An object without guards of its own: a cell, a dict.
    };
    Kind kind = Kind::kAbsent;
    bool is_shared = false;    // kConstant: it is long enough to be referred to.
    std::uint32_t number = 0;  // kSeen, kTuple, kCount; kNamespace: two bits.
    Ref held{};                // kConstant: itself. kGlobal: a weak reference.
    // Of a module or global; kNamespace: __name__ and __package__.
    Ref module{}, name{};
  };

  template <typename Visitor>
  static bool walk(const State& state, PyObject* root, Visitor& visitor);
  template <typename Visitor>
  static bool walk_annotations(const State& state, PyObject* function,
                               Visitor& visitor);

  std::uint64_t generation_ = 0;  // Of the caches, see State.
  std::vector<Guard> guards_;
  std::vector<Ref> codes_;  // Weak references, of functions but the root.
  SeenWorld seen_;
  struct Key {
    std::uintptr_t key;
    bool is_tuple;
  };
  std::vector<Key> keys_;  // Until the node is set: of the objects noted.
  std::vector<std::uint8_t> node_;
  std::vector<std::uint64_t> offsets_;
  std::vector<std::uint32_t> shared_;
  Sections sections_;
};

}  // namespace waybill::py
