#pragma once

// The decode cache. Workers receive the same function with other arguments, and other
// instances of the same class: envelopes that share header, manifest, code and
// definitions, the prefix. For a cached prefix, functions are built by a recipe and
// classes are looked up; nothing of the prefix is read, verified or built again. The
// value after it is verified and built.

#include <Python.h>

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "python/cache/received_class.h"
#include "python/cache/recipe.h"
#include "python/decode/graph_decoder.h"
#include "python/runtime/ref.h"
#include "python/runtime/state.h"
#include "verify/verified_prefix.h"
#include "waybill/bytes.h"

namespace waybill::py {

// A cache entry: a verified prefix, and how to get the objects of its definitions.
// Holds code, recipes, weak references to classes, and the module builtins. Holds no
// other module, no globals and no function.
class CachedEnvelope final : public NodeObserver {
 public:
  // Null for an envelope that cannot be cached: without reusable definitions, too
  // large, or with lazy imports. `replaced_count`: the number of entries for this
  // prefix before this one.
  static std::unique_ptr<CachedEnvelope> make(const State& state,
                                              const VerifiedEnvelope& envelope,
                                              std::uint32_t replaced_count);
  explicit CachedEnvelope(const State& state) : state_(state) {}

  std::uint32_t replaced_count() const { return replaced_count_; }
  bool is_start_of(BytesView bytes) const { return prefix_->is_start_of(bytes); }

  // The object of an envelope with this prefix. Null if its definitions differ, if a
  // class has changed, if a module is not imported or lacks a name, or if the envelope
  // is not sound. Then no foreign code has run, nothing was imported, and no buffer was
  // taken from `hooks`, which must allow the cache.
  Ref decode(State& state, BytesView bytes, const DecodeHooks& hooks);

  // Starts recording an envelope that is decoded in full; false if its definitions
  // differ. The decoder reports functions and classes to on_node_built(), and
  // finish_recording() makes the entry ready for decode(). cancel_recording() ends the
  // recording without a result.
  bool start_recording(BytesView bytes);
  const std::vector<std::size_t>& node_starts() const override { return starts_; }
  void on_node_built(std::size_t number, PyObject* object, bool did_exist,
                     PyObject* serials) override;
  void finish_recording();
  void cancel_recording();

 private:
  static constexpr std::size_t kMaxImports = 16;

  // By number of import; null for modules that are not needed at load.
  using Modules = std::array<Ref, kMaxImports>;
  // What a call of decode() has got and found.
  struct Inputs {
    const Modules& modules;
    std::span<const Ref> stored;  // The stored buffers.
    const DecodeHooks& hooks;
    CollectorPause& collector_pause;
  };
  struct Context;

  bool find_modules(Modules& modules) const;
  bool can_reuse_classes();
  bool make_objects(const Modules& modules, std::vector<Ref>& objects) const;
  Ref object_at(std::size_t position, std::span<const Ref> objects) const;
  bool has_functions() const { return classes_.size() != nodes_.size(); }
  bool rebind_methods(std::span<const Ref> objects) const;
  bool can_rebind_methods() const;
  PyObject* new_globals(std::span<const Ref> objects) const;
  Ref decode_value(State& state, GraphDecoder& decoder, std::span<const Ref> objects,
                   const Inputs& inputs) const;

  const State& state_;
  std::unique_ptr<envelope::VerifiedPrefix> prefix_;
  std::vector<Ref> imports_;  // Names of modules; null if not needed at load.
  std::uint32_t replaced_count_ = 0;
  std::vector<Recipe::Node> nodes_;
  std::vector<ReceivedClass> classes_;  // The classes among the nodes, in their order.
  bool are_namespaces_named_ = false;   // See key_of_namespace().
  // Indexes in classes_ of the classes whose methods get the globals of new functions.
  std::vector<std::size_t> rebound_classes_;
  std::optional<Recipe> recipe_;
  bool is_ready_ = false;  // Whether decode() may be called.
  // Whether definitions are built each time: the entry then only saves verifying them.
  bool rebuilds_definitions_ = false;
  // Used only while recording:
  std::vector<std::size_t> starts_;
  std::size_t built_count_ = 0;
  bool did_classes_exist_ = false;
  bool detects_changes_ = false;  // Whether changes of each class are detected.
  // Addresses of the functions outside of classes, and of their globals.
  std::vector<PyObject*> functions_, globals_;
};

// A set-associative table of entries, keyed by their first bytes. A prefix gets an
// entry when it is received for the second time; a new entry replaces the oldest of its
// set. Needs the GIL.
class DecodeCache {
 private:
  struct Entry {
    std::uint64_t key = 0;
    std::unique_ptr<CachedEnvelope> envelope;

    bool is_start_of(std::uint64_t other_key, BytesView bytes) const {
      return key == other_key && envelope && envelope->is_start_of(bytes);
    }
  };
  struct Set {
    std::array<Entry, 4> entries;
    std::size_t next = 0;  // The entry to evict next.
  };

 public:
  // The key is a hash of this many bytes. They hold the start of the manifest, with
  // functions and lines, or of the code, with names, so few prefixes share a key.
  static constexpr std::size_t kKeyBytes = 48;
  // The number of bytes for shorter prefixes. No prefix is shorter than this.
  static constexpr std::size_t kShortKeyBytes = 32;

  // Takes an entry out of the table while an envelope is decoded, so that code that
  // runs meanwhile and decodes a similar envelope does not find it. The destructor puts
  // the entry back.
  class Lease {
   public:
    Lease(DecodeCache& cache, BytesView bytes);
    ~Lease();
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;

    // CachedEnvelope::decode; null if there is no entry.
    Ref decode(State& state, const DecodeHooks& hooks);

    // The entry that records while the envelope is decoded in full; the caller finishes
    // the recording. Null if there is none: most prefixes are received once. `prefix`:
    // the envelope up to the end of its last code body, or up to the value of its
    // payload if it has no code.
    CachedEnvelope* start_recording(const State& state, BytesView prefix,
                                    const VerifiedEnvelope& envelope);

   private:
    static constexpr std::uint32_t kMaxReplaced = 8;

    // Sets the key, and takes the entry with this key; false if there is none.
    bool take_entry(std::size_t key_size);
    Entry& slot_for() const;

    DecodeCache& cache_;
    Entry* slot_ = nullptr;  // The slot from which the entry was taken.
    BytesView bytes_;
    std::uint64_t key_;
    std::unique_ptr<CachedEnvelope> entry_;
  };

 private:
  // Whether an envelope with this prefix was received recently. Records this one.
  bool check_and_mark_recent(BytesView prefix);
  Set& set_of(std::uint64_t key) { return sets_[key % sets_.size()]; }

  std::array<Set, 64> sets_;
  std::array<std::uint64_t, 512> recent_prefixes_{};  // Hashes of prefixes.
};

}  // namespace waybill::py
