#pragma once

// The record of a walk over objects: for each object its parent and label, its bytes
// and, if it cannot travel, the reason. The encoder fills it while it writes. Without a
// record, the encoder skips this work.

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

// The amounts written so far: to the payload, as code bodies and as stored buffers.
struct WrittenAmounts {
  std::uint64_t payload = 0;
  std::uint64_t code = 0;
  std::uint64_t buffer_bytes = 0;
  std::size_t buffers = 0;

  std::uint64_t total() const { return payload + code + buffer_bytes; }
};

class WalkRecord {
 public:
  // An object for which bytes were written. The root is first, and holders precede
  // their parts.
  struct Part {
    std::size_t parent = 0;
    Label label;
    Ref object;
    WrittenAmounts begin, end;
    // Whether it is a blocker or an ancestor of one.
    bool is_listed = false;

    std::uint64_t bytes() const { return end.total() - begin.total(); }
  };

  // A blocker: an object that cannot travel, with the edges to it from the objects that
  // refer to it.
  struct BlockedObject {
    std::size_t part = 0;
    std::string reason;
    struct Edge {
      std::size_t parent;
      Label label;
    };
    std::vector<Edge> edges;  // At most kMaxEdges; the first is that of `part`.
    std::uint64_t edge_count = 0;
  };
  static constexpr std::size_t kMaxEdges = 100;

  // The maximum number of parts, apart from blockers and their ancestors. The smallest
  // parts are merged into their holders.
  static constexpr std::size_t kMaxExplainedParts = 20'000;

  // Called every kProgressInterval objects with the number of objects visited and of
  // bytes written so far. An exception from it ends the walk.
  using ProgressCallback =
      std::function<void(std::uint64_t objects, std::uint64_t bytes)>;
  static constexpr std::uint64_t kProgressInterval = 1 << 16;
  void set_progress(ProgressCallback callback) { progress_ = std::move(callback); }

  // Drops the parts, before a walk starts again.
  void clear() {
    WalkRecord begun;
    begun.progress_ = std::move(progress_);
    *this = std::move(begun);
  }

  // ---- Called by the encoder -------------------------------------------------------

  // Called before an object is written.
  void on_begin(EncodeContext& context, PyObject* object);
  // Called after an object was written, or after frames were pushed for it. In that
  // case the object is complete when the stack is back at its depth.
  void on_written(const EncodeContext& context, PyObject* object);
  // Called when an object cannot travel; a nil is written in its place.
  void on_blocked(const EncodeContext& context, PyObject* object, std::string reason);
  // Called after a frame was popped.
  void on_popped(const EncodeContext& context);
  // Whether the current exception comes from the progress callback.
  bool is_stopped() const { return is_stopped_; }

  // ---- The result ------------------------------------------------------------------

  const std::vector<Part>& parts() const { return parts_; }
  const std::vector<BlockedObject>& blockers() const { return blockers_; }
  // The number of parts that were merged into their holders.
  std::uint64_t omitted_count() const { return omitted_count_; }

 private:
  struct OpenPart {
    std::size_t part;
    std::size_t depth;  // The depth of the stack when the part began.
  };
  static constexpr std::uint64_t kLargest = std::uint64_t{1} << 62;

  // The innermost open part; the root if there is none.
  std::size_t innermost_part() const { return open_.empty() ? 0 : open_.back().part; }
  void add(PyObject* object);
  // `depth`: of the stack, when the part began.
  void close(const EncodeContext& context, std::size_t part, std::size_t depth);
  void mark_listed(std::size_t part);
  void add_reference(const EncodeContext& context, PyObject* object);
  void fold();

  std::vector<Part> parts_;
  std::vector<OpenPart> open_;
  std::vector<BlockedObject> blockers_;
  std::unordered_map<PyObject*, std::size_t> blocker_of_;
  std::size_t max_parts_ = kMaxExplainedParts;
  std::uint64_t min_bytes_ = 0;  // Smaller parts are merged into their holders.
  std::uint64_t omitted_count_ = 0;
  ProgressCallback progress_;
  std::uint64_t begin_count_ = 0;
  bool is_stopped_ = false;
  // The amounts written at the last on_begin().
  WrittenAmounts begin_;
  std::size_t depth_ = 0;  // The depth of the stack at the last on_begin().
};

}  // namespace waybill::py
