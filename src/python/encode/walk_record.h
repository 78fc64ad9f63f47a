#pragma once

// What a walk came to, object by object: how each hangs on what holds it, which bytes
// it brought, and why it cannot travel if it cannot. The encoder fills it while it
// writes; a walk that is not recorded does nothing of it.

#include <Python.h>

#include <cstdint>
#include <functional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "python/encode/paths/label.h"
#include "python/runtime/ref.h"

namespace waybill::py {

struct EncodeContext;

// How much was written: to the payload, of code bodies and of stored buffers.
struct Written {
  std::uint64_t payload = 0;
  std::uint64_t code = 0;
  std::uint64_t buffer_bytes = 0;
  std::size_t buffers = 0;

  std::uint64_t total() const { return payload + code + buffer_bytes; }
};

class WalkRecord {
 public:
  // An object of which something was written. The root stands first, and a part after
  // the one that holds it.
  struct Part {
    std::size_t parent = 0;
    Label label;
    Ref object;
    Written begin, end;
    // It cannot travel, or leads to what cannot.
    bool is_listed = false;

    std::uint64_t bytes() const { return end.total() - begin.total(); }
  };

  // An object that cannot travel, and how each that refers to it does.
  struct Blocked {
    std::size_t part = 0;
    std::string reason;
    struct Way {
      std::size_t parent;
      Label label;
    };
    std::vector<Way> ways;  // At most kMostWays; the first is the part's own.
    std::uint64_t way_count = 0;
  };
  static constexpr std::size_t kMostWays = 100;

  // More parts than that are never kept, but for those that lead to what cannot travel:
  // the smallest are taken together with what holds them.
  static constexpr std::size_t kMostParts = 20'000;

  // Called every kStep objects, with how many were met and the bytes that were written.
  // What it throws ends the walk.
  using Tell = std::function<void(std::uint64_t objects, std::uint64_t bytes)>;
  static constexpr std::uint64_t kStep = 1 << 16;
  void watch(Tell tell) { tell_ = std::move(tell); }

  // For a walk that begins anew.
  void clear() {
    WalkRecord begun;
    begun.tell_ = std::move(tell_);
    *this = std::move(begun);
  }

  // ---- Called by the encoder -------------------------------------------------------

  // Something is to be written.
  void begin(const EncodeContext& context);
  // It was, or frames were pushed for it: then more of it comes until the stack is as
  // low as it was.
  void written(const EncodeContext& context, PyObject* object);
  // It cannot travel; a nil stands in its place.
  void blocked(const EncodeContext& context, PyObject* object, std::string reason);
  // A frame was popped.
  void popped(const EncodeContext& context);
  // Whether what is thrown came from who watches, and is no object's.
  bool is_stopped() const { return is_stopped_; }

  // ---- The result ------------------------------------------------------------------

  const std::vector<Part>& parts() const { return parts_; }
  const std::vector<Blocked>& blockers() const { return blockers_; }
  // Parts that were taken together with what holds them.
  std::uint64_t summed_up() const { return summed_up_; }

 private:
  struct Open {
    std::size_t part;
    std::size_t depth;  // Of the stack, when it began.
  };
  static constexpr std::uint64_t kLargest = std::uint64_t{1} << 62;

  // The innermost part that is open; the root, before there is one.
  std::size_t around() const { return open_.empty() ? 0 : open_.back().part; }
  void add(PyObject* object);
  // `depth`: of the stack, when the part began.
  void close(const EncodeContext& context, std::size_t part, std::size_t depth);
  void keep(std::size_t part);
  void add_reference(const EncodeContext& context, PyObject* object);
  void fold();

  std::vector<Part> parts_;
  std::vector<Open> open_;
  std::vector<Blocked> blockers_;
  std::unordered_map<PyObject*, std::size_t> blocker_of_;
  std::size_t most_ = kMostParts;
  std::uint64_t least_ = 0;  // Bytes of a part that stays.
  std::uint64_t summed_up_ = 0;
  Tell tell_;
  std::uint64_t begun_ = 0;
  bool is_stopped_ = false;
  // Of what begin() announced.
  Written begin_;
  std::size_t depth_ = 0;  // Of the stack.
};

}  // namespace waybill::py
