#pragma once

// Envelopes that come again, or begin as one before did: the same function with other
// arguments, an instance of the same class. Functions and classes that are known are
// not read, checked and built again.

#include <Python.h>

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "python/cache/known_class.h"
#include "python/cache/recipe.h"
#include "python/decode/graph_decoder.h"
#include "python/runtime/ref.h"
#include "python/runtime/state.h"
#include "verify/checked_head.h"
#include "waybill/bytes.h"

namespace waybill::py {

// An envelope that was checked and gave an object. Holds recipes of functions, and weak
// references to classes: no module but the first `builtins`, no globals, no function.
class ReceivedEnvelope final : public NodeWatcher {
 public:
  // Null for an envelope that is not worth keeping.
  // `times`: how many took each other's place before.
  static std::unique_ptr<ReceivedEnvelope> make(const State& state,
                                                const VerifiedEnvelope& envelope,
                                                std::uint32_t times);
  explicit ReceivedEnvelope(const State& state) : state_(state) {}

  std::uint32_t times_taken_up() const { return times_; }
  bool is_start_of(BytesView bytes) const { return head_->is_start_of(bytes); }

  // The object of an envelope that this is the start of. Null if a class or code of it
  // is gone, if a module that it needs is not imported, or if it goes on differently;
  // nothing has been imported, called or built then but what is gone again.
  Ref decode(State& state, BytesView bytes);

  // Whether an envelope that this is the start of goes on with the same known nodes. If
  // so, these are to be watched while it is read in full; then either finish(), from
  // which on decode() knows what was built, or cancel().
  bool begin(BytesView bytes);
  const std::vector<std::size_t>& starts() const override { return starts_; }
  void built(std::size_t number, PyObject* object, bool was_there) override;
  void finish();
  void cancel();

 private:
  static constexpr std::size_t kMaxImports = 16;

  // What makes the object of a known node again.
  struct Maker {
    std::vector<KnownClass> classes;  // The class, and those inside it.
    Ref function;                     // While it is watched.

    bool is_function() const { return classes.empty(); }
  };
  // A node that is watched: of which maker, and which of its classes.
  struct Watched {
    std::size_t maker;
    std::size_t type;
  };
  // By number of import; null for those that are not needed at load.
  using Modules = std::array<Ref, kMaxImports>;

  bool find_modules(Modules& modules) const;
  bool make_recipe();
  Ref decode_around(State& state, const Modules& modules,
                    std::span<const Ref> objects) const;
  bool make_nodes(const Modules& modules, std::span<Ref> nodes) const;
  bool shares_what_changes(const Maker& function) const;

  const State& state_;
  std::unique_ptr<envelope::CheckedHead> head_;
  std::vector<Ref> imports_;  // Names of modules; null if not needed at load.
  std::uint32_t times_ = 0;
  std::vector<Maker> makers_;  // One for each known node.
  std::optional<Recipe> recipe_;
  bool is_noted_ = false;  // All that makers need is there.
  // While nodes are watched.
  std::vector<std::size_t> starts_;
  std::vector<Watched> watched_;
  std::size_t built_ = 0;
  bool was_all_there_ = false;
  bool can_tell_changes_ = false;  // Of each class.
};

// The last of them, by how they begin. Bounded: one takes the place of another, and one
// that came but once takes none. Needs the GIL.
class ReceivedEnvelopes {
 private:
  struct Entry {
    std::uint64_t key = 0;
    std::unique_ptr<ReceivedEnvelope> envelope;

    bool is_start_of(std::uint64_t its_key, BytesView bytes) const {
      return key == its_key && envelope && envelope->is_start_of(bytes);
    }
  };
  // Those with one remainder of their keys.
  struct Set {
    std::array<Entry, 4> entries;
    std::size_t next = 0;  // Which gives way.
  };

 public:
  // By what envelopes are found: after the header comes the manifest, with functions
  // and lines, then the code, with names. Four that are equal so far have room.
  static constexpr std::size_t kKeyBytes = 48;
  // For heads that are shorter. None is shorter than that.
  static constexpr std::size_t kShortKeyBytes = 32;

  // An envelope that is being read. Has what is known of it, alone, until it goes.
  class Visit {
   public:
    Visit(ReceivedEnvelopes& all, BytesView bytes);
    ~Visit();
    Visit(const Visit&) = delete;
    Visit& operator=(const Visit&) = delete;

    // ReceivedEnvelope::decode; null if nothing is known.
    Ref decode(State& state);

    // What is to watch while the envelope is read in full, and is to be finished then.
    // Null if it is not worth it: most come once. `head`: the start of the envelope up
    // to the end of its last code body. `open` gives the envelope as a
    // Result<VerifiedEnvelope>; it is asked for one at most.
    template <typename Open>
    ReceivedEnvelope* take_up(const State& state, BytesView head, Open open) {
      if (head.size() < kShortKeyBytes) return nullptr;
      if (!known_ && head.size() >= kKeyBytes) find(kKeyBytes);
      if (!known_ && !all_.came_before(head)) return nullptr;
      if (known_ && known_->begin(bytes_)) return known_.get();
      // Those that go on differently each time would be taken up each time.
      const std::uint32_t times = known_ ? known_->times_taken_up() + 1 : 0;
      if (times >= kMaxTimes) return nullptr;
      const auto& envelope = open();
      known_ = envelope ? ReceivedEnvelope::make(state, *envelope, times) : nullptr;
      return known_ && known_->begin(bytes_) ? known_.get() : nullptr;
    }

   private:
    static constexpr std::uint32_t kMaxTimes = 8;

    // Takes what is known by a key of so many bytes, and goes by this key from then on.
    bool find(std::size_t key_size);
    Entry& place_for() const;

    ReceivedEnvelopes& all_;
    Entry* place_ = nullptr;  // Where what is known came from.
    BytesView bytes_;
    std::uint64_t key_;
    std::unique_ptr<ReceivedEnvelope> known_;
  };

 private:
  // Whether one with this head came lately; from now on one has.
  bool came_before(BytesView head);
  Set& set_of(std::uint64_t key) { return sets_[key % sets_.size()]; }

  std::array<Set, 64> sets_;
  std::array<std::uint64_t, 512> seen_{};  // Hashes of the heads of those that came.
};

}  // namespace waybill::py
