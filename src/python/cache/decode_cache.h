#pragma once

// The decode cache. Workers receive the same function with other arguments, and other
// instances of the same class: envelopes that share header, manifest, code and
// definitions. The cache makes their functions by recipes and finds their classes,
// without reading, verifying and building them again. The value of such an envelope is
// verified and built.

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
#include "verify/verified_prefix.h"
#include "waybill/bytes.h"

namespace waybill::py {

// An entry of the cache: a verified prefix, and how to get the objects of its
// definitions. Holds code, recipes and weak references to classes; no module but the
// first `builtins`, no globals, no function.
class CachedEnvelope final : public NodeWatcher {
 public:
  // Null for an envelope that has no definitions that can be made again, that is too
  // large to be kept, or that has lazy imports. `replaced`: how many entries for this
  // prefix were replaced before.
  static std::unique_ptr<CachedEnvelope> make(const State& state,
                                              const VerifiedEnvelope& envelope,
                                              std::uint32_t replaced);
  explicit CachedEnvelope(const State& state) : state_(state) {}

  std::uint32_t replaced() const { return replaced_; }
  bool is_start_of(BytesView bytes) const { return prefix_->is_start_of(bytes); }

  // The object of an envelope with this prefix. Null if its definitions differ, if a
  // class has changed, if a module is not imported or lacks a name, or if the envelope
  // is not sound. Then no code of others has run, and nothing was imported.
  Ref decode(State& state, BytesView bytes);

  // For an envelope with this prefix that is decoded in full: whether it has the same
  // definitions. If so, the decoder reports their functions and classes by built(), and
  // finish() makes the entry ready for decode(). cancel() ends that without a result.
  bool begin(BytesView bytes);
  const std::vector<std::size_t>& starts() const override { return starts_; }
  void built(std::size_t number, PyObject* object, bool was_there) override;
  void finish();
  void cancel();

 private:
  static constexpr std::size_t kMaxImports = 16;

  // By number of import; null for those that are not needed at load.
  using Modules = std::array<Ref, kMaxImports>;

  bool find_modules(Modules& modules) const;
  bool can_make();
  bool make_objects(const Modules& modules, std::vector<Ref>& objects) const;
  Ref object_at(std::size_t position, std::span<const Ref> objects) const;
  bool has_functions() const { return classes_.size() != places_.size(); }
  bool move_methods(std::span<const Ref> objects) const;

  const State& state_;
  std::unique_ptr<envelope::VerifiedPrefix> prefix_;
  std::vector<Ref> imports_;  // Names of modules; null if not needed at load.
  std::uint32_t replaced_ = 0;
  std::vector<Recipe::Place> places_;
  std::vector<KnownClass> classes_;  // Those of the places, in their order.
  // Classes whose methods get the globals of the functions, by number in classes_.
  std::vector<std::size_t> moved_;
  std::optional<Recipe> recipe_;
  bool is_ready_ = false;  // For decode().
  // Whether the definitions are built each time: all that is saved is their check.
  bool builds_anew_ = false;
  // While places are watched.
  std::vector<std::size_t> starts_;
  std::size_t built_ = 0;
  bool was_all_there_ = false;
  bool can_tell_changes_ = false;   // Of each class.
  std::vector<PyObject*> globals_;  // Addresses: of the functions.
};

// A set-associative table of entries, by their first bytes. An envelope gets an entry
// when its prefix comes a second time; a new entry replaces the oldest of its set.
// Needs the GIL.
class DecodeCache {
 private:
  struct Entry {
    std::uint64_t key = 0;
    std::unique_ptr<CachedEnvelope> envelope;

    bool is_start_of(std::uint64_t its_key, BytesView bytes) const {
      return key == its_key && envelope && envelope->is_start_of(bytes);
    }
  };
  struct Set {
    std::array<Entry, 4> entries;
    std::size_t next = 0;  // The entry that is replaced next.
  };

 public:
  // The key is a hash of so many bytes. They hold the start of the manifest, with
  // functions and lines, or of the code, with names, so few prefixes share a key.
  static constexpr std::size_t kKeyBytes = 48;
  // For shorter prefixes. No prefix is shorter than this.
  static constexpr std::size_t kShortKeyBytes = 32;

  // The exclusive use of an entry while an envelope is decoded: code that runs
  // meanwhile may decode a like envelope, and does not find the entry. The destructor
  // puts the entry back.
  class Lease {
   public:
    Lease(DecodeCache& cache, BytesView bytes);
    ~Lease();
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;

    // CachedEnvelope::decode; null if there is no entry.
    Ref decode(State& state);

    // The entry that is to watch while the envelope is decoded in full, and to be
    // finished after that. Null if there is none: most prefixes come once. `prefix`:
    // the envelope up to the end of its last code body. `open` returns the envelope as
    // a Result<VerifiedEnvelope>; it is called once at most.
    template <typename Open>
    CachedEnvelope* start(const State& state, BytesView prefix, Open open) {
      if (prefix.size() < kShortKeyBytes) return nullptr;
      if (!entry_ && prefix.size() >= kKeyBytes) find(kKeyBytes);
      if (!entry_ && !cache_.came_before(prefix)) return nullptr;
      if (entry_ && entry_->begin(bytes_)) return entry_.get();
      // A prefix whose nodes differ each time would get an entry each time.
      const std::uint32_t replaced = entry_ ? entry_->replaced() + 1 : 0;
      if (replaced >= kMaxReplaced) return nullptr;
      const auto& envelope = open();
      entry_ = envelope ? CachedEnvelope::make(state, *envelope, replaced) : nullptr;
      return entry_ && entry_->begin(bytes_) ? entry_.get() : nullptr;
    }

   private:
    static constexpr std::uint32_t kMaxReplaced = 8;

    // Sets the key, and takes the entry that has it.
    bool find(std::size_t key_size);
    Entry& place_for() const;

    DecodeCache& cache_;
    Entry* place_ = nullptr;  // Where the entry came from.
    BytesView bytes_;
    std::uint64_t key_;
    std::unique_ptr<CachedEnvelope> entry_;
  };

 private:
  // Whether an envelope with this prefix came lately. Notes that one has.
  bool came_before(BytesView prefix);
  Set& set_of(std::uint64_t key) { return sets_[key % sets_.size()]; }

  std::array<Set, 64> sets_;
  std::array<std::uint64_t, 512> seen_{};  // Hashes of prefixes.
};

}  // namespace waybill::py
