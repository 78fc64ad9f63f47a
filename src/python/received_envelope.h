#pragma once

// Envelopes that come again, or begin as one before did: the same function with other
// arguments, an instance of the same class. Functions and classes that are known are
// not read, checked and built again.

#include <Python.h>

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "envelope/checked_head.h"
#include "python/graph_decoder.h"
#include "python/known_class.h"
#include "python/ref.h"
#include "python/state.h"
#include "waybill/bytes.h"

namespace waybill::py {

// The globals of functions that came: text, numbers and modules by name.
class KnownGlobals {
 public:
  // False if they hold anything else. `imports`: names of modules; null for those that
  // are not needed at load.
  bool note(const State& state, PyObject* globals, const std::vector<Ref>& imports);

  // A new dict like it, with these modules in the order of `imports`.
  Ref make(const Ref* modules) const;

 private:
  struct Module {
    Ref name;
    std::size_t import;
  };

  Ref plain_;                    // All of them, with None in place of each module.
  std::vector<Module> modules_;  // Those that differ each time.
};

// An envelope that was checked and gave an object. Holds text, numbers, and weak
// references to code and classes: no module but builtins, no globals, no function.
class ReceivedEnvelope {
 public:
  // From an envelope that has passed verify(). Null for one that is not worth keeping.
  // `times`: how many took each other's place before.
  static std::unique_ptr<ReceivedEnvelope> make(const State& state,
                                                const Envelope& envelope,
                                                std::uint32_t times);
  std::uint32_t times_taken_up() const { return times_; }

  bool is_start_of(BytesView bytes) const { return head_->is_start_of(bytes); }

  // The object of an envelope that this is the start of. Null if a class or code of it
  // is gone, if a module that it needs is not imported, or if it goes on differently;
  // nothing has been imported, called or built then but what is gone again.
  Ref decode(State& state, BytesView bytes);

  // Whether an envelope that this is the start of goes on with the same known nodes.
  bool fits(BytesView bytes);

  // Where those stand in the envelope that fitted last, and the classes inside them.
  std::vector<WatchedNode> watched() const;

  // Takes note of what they became.
  void note(const State& state, const std::vector<WatchedNode>& nodes);

 private:
  static constexpr std::size_t kMaxImports = 16;
  static constexpr std::size_t kMaxGlobals = 4;

  // What makes the object of a known node again.
  struct Maker {
    Ref code;                         // Of a function: a weak reference,
    std::size_t globals = 0;          // and which globals.
    std::vector<KnownClass> classes;  // The class, and those inside it.
  };

  // What known nodes are made with: modules in the order of imports_, and the globals
  // that were made, by their number.
  struct Surroundings {
    std::array<Ref, kMaxImports> modules;
    std::array<Ref, kMaxGlobals> globals;
  };

  bool look_around(const State& state, Surroundings& found) const;
  Ref make_object(const State& state, const Maker& maker, Surroundings& around) const;
  bool note_function(const State& state, PyObject* function, Maker& maker,
                     std::vector<PyObject*>& dicts);

  std::unique_ptr<envelope::CheckedHead> head_;
  std::vector<Ref> imports_;  // Names of modules; null if not needed at load.
  std::uint32_t times_ = 0;
  bool is_noted_ = false;  // What follows is there.
  Ref builtins_;           // The module that was in sys.modules.
  std::vector<KnownGlobals> globals_;
  std::vector<Maker> makers_;  // One for each known node.
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
  // An envelope that is being read. Has what is known of it, alone, until it goes.
  class Visit {
   public:
    Visit(ReceivedEnvelopes& all, BytesView bytes);
    ~Visit();
    Visit(const Visit&) = delete;
    Visit& operator=(const Visit&) = delete;

    // ReceivedEnvelope::decode; null if nothing is known.
    Ref decode(State& state);

    // Prepares note(), to be called before the envelope is read in full. False if it is
    // not worth it: most come once. `open` gives the envelope, which has passed
    // verify(), as a Result; it is asked for one at most.
    template <typename Open>
    bool take_up(const State& state, Open open) {
      if (!came_again_) return false;
      if (fits()) return true;
      // Those that go on differently each time would be taken up each time.
      const std::uint32_t times = known_ ? known_->times_taken_up() + 1 : 0;
      if (times >= kMaxTimes) return false;
      const auto& envelope = open();
      known_ = envelope ? ReceivedEnvelope::make(state, *envelope, times) : nullptr;
      return fits();
    }

    // See ReceivedEnvelope.
    std::vector<WatchedNode> watched() const { return known_->watched(); }
    void note(const State& state, const std::vector<WatchedNode>& nodes) {
      known_->note(state, nodes);
    }

   private:
    static constexpr std::uint32_t kMaxTimes = 8;

    Entry& place_for() const;

    bool fits() const { return known_ && known_->fits(bytes_); }

    ReceivedEnvelopes& all_;
    Entry* place_ = nullptr;  // Where what is known came from.
    BytesView bytes_;
    std::uint64_t key_;
    bool came_again_ = false;
    std::unique_ptr<ReceivedEnvelope> known_;
  };

 private:
  Set& set_of(std::uint64_t key) { return sets_[key % sets_.size()]; }

  std::array<Set, 64> sets_;
  std::array<std::uint64_t, 512> seen_{};  // Keys of those that came lately.
};

}  // namespace waybill::py
