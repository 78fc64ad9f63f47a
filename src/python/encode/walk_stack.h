#pragma once

// The stack of the walk: a frame for each object that is not completely written. Depth
// costs heap memory, never the C++ stack.

#include <Python.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "python/encode/paths/label.h"
#include "python/runtime/arena.h"
#include "python/runtime/ref.h"
#include "python/runtime/state.h"
#include "wire/writer.h"

namespace waybill::py {

// How an object that is not a plain container is written: raw msgpack with child
// objects between the parts. Codecs make plans, the encoder carries them out.
class Plan {
 public:
  Plan() { steps_.reserve(kUsualSteps); }

  struct Step {
    std::size_t raw_end;  // Raw bytes up to here are written before the child.
    Ref child;            // Null in the last step.
    Label label;
    bool creates_object;     // Once the bytes of this step are read, the object exists.
    bool is_global = false;  // The child is the value of the global in the label.
    bool is_part = false;    // The child is a module of which code needs a part.
  };

  // The writer for the raw bytes after the last child.
  wire::Writer& raw() { return raw_; }

  void add_child(Ref object, Label label) {
    steps_.push_back({raw_.size(), std::move(object), std::move(label), creates_});
    creates_ = false;
  }
  // Sets flags of the last child; see Step.
  void mark_last_global() { steps_.back().is_global = true; }
  void mark_last_part() { steps_.back().is_part = true; }

  // Marks where the reader creates the object: later children may refer to it. Without
  // a call the object exists from the start.
  void mark_creation() {
    creates_ = true;
    creates_late_ = true;
    created_at_ = raw_.size();
  }
  std::size_t created_at() const { return created_at_; }  // Offset in the raw bytes.

  // How to close the node early if a child has created the object already, by a cycle
  // through an object that the creation needs.
  enum class EarlyClose : std::uint8_t {
    kNone,
    kClass,
    kClassWithHomeState,
    kReduced,
    kReducedWithSetter
  };
  void allow_early_close(EarlyClose how) { early_ = how; }
  EarlyClose early() const { return early_; }

  // Marks the child as a persistent id: the hook is not asked for an id of it.
  void mark_child_id() { is_child_id_ = true; }
  bool is_child_id() const { return is_child_id_; }

  // Whether the plan is only raw bytes, and the object exists from the start.
  bool has_no_child() const { return steps_.empty() && !creates_late_; }

  // Closes the plan; called by the encoder.
  void finish() { add_child({}, {}); }

  // Keeps the allocated memory.
  void clear() {
    raw_.clear();
    steps_.clear();
    creates_ = creates_late_ = is_child_id_ = false;
    created_at_ = 0;
    early_ = EarlyClose::kNone;
  }

  bool creates_late() const { return creates_late_; }
  std::vector<Step>& steps() { return steps_; }
  BytesView raw_between(std::size_t begin, std::size_t end) const {
    return raw_.view().subspan(begin, end - begin);
  }

 private:
  static constexpr std::size_t kUsualSteps = 8;

  wire::Writer raw_;
  std::vector<Step> steps_;
  bool creates_ = false;
  bool creates_late_ = false;
  std::size_t created_at_ = 0;
  bool is_child_id_ = false;
  EarlyClose early_ = EarlyClose::kNone;
};

class WalkStack {
 public:
  struct Frame {
    enum class Kind : std::uint8_t { kList, kTuple, kDict, kFrozenDict, kPlan };
    Kind kind;
    Ref object;               // The object whose contents are written.
    Py_ssize_t position = 0;  // Next item or step, or the cursor of PyDict_Next.
    Py_ssize_t count = 0;
    Ref key, pending;  // kDict: the last key, and its value until that is written.
    Ref frozen;        // kFrozenDict: alternating keys and values, indexed by position.
    Ref owner;         // The list, set or instance that has the contents, or null.
    std::unique_ptr<Plan> plan;
    bool is_set = false;    // kTuple: the elements of a set.
    bool is_state = false;  // kDict, kFrozenDict: state of an instance; ends its node.
    std::size_t raw_begin = 0;
    // Number of consecutive frames, up to this one, whose objects only reducers made.
    std::uint32_t synthesized = 0;

    // The object that paths show as the owner of the contents.
    PyObject* owner_in_paths() const { return owner ? owner.get() : object.get(); }

    // Whether a list or dict no longer has the length that was written in its head.
    bool has_changed() const {
      return (kind == Kind::kList && PyList_GET_SIZE(object.get()) != count) ||
             (kind == Kind::kDict && PyDict_GET_SIZE(object.get()) != count);
    }
  };

  // `arena` must outlive this.
  explicit WalkStack(Arena& arena) : frames_(&arena) { frames_.reserve(kUsualDepth); }

  bool empty() const { return frames_.empty(); }
  std::size_t size() const { return frames_.size(); }
  Frame& back() { return frames_.back(); }
  auto begin() const { return frames_.begin(); }
  auto end() const { return frames_.end(); }

  void push(Frame::Kind kind, PyObject* object, Py_ssize_t count) {
    Frame& frame = frames_.emplace_back();
    frame.kind = kind;
    frame.object = Ref::share(object);
    frame.count = count;
  }
  void push_plan(PyObject* object, std::unique_ptr<Plan> plan);
  void pop() {
    std::unique_ptr<Plan> plan = std::move(frames_.back().plan);
    frames_.pop_back();
    if (!open_classes_.empty() && open_classes_.back() == size()) {
      open_classes_.pop_back();
    }
    if (plan) give_back(std::move(plan));
    frozen_count_ = std::min(frozen_count_, size());
  }

  // An empty plan, with the memory of one that was given back.
  std::unique_ptr<Plan> new_plan();
  void give_back(std::unique_ptr<Plan> plan);
  void drop_spare_plans() { spare_plans_.clear(); }

  // Copies the contents of open lists and dicts. Called before Python code of the
  // program runs, which may change them while they are written. Returns a container
  // that has changed already, by a finalizer; null if none has.
  PyObject* freeze();

  // The innermost class or function on the stack; null if there is none.
  PyObject* innermost_class() const;
  PyObject* innermost_function() const;
  // The step from the object of a frame to its child that is being written.
  Label label_at(std::size_t index) const;
  // Whether the child of a frame that is being written is the state of the frame's
  // object.
  bool is_at_state(std::size_t index) const;
  // Whether a function, class or module is on the stack.
  bool is_within_code() const;
  // Whether a method of this class or of one of its bases is being written. When a
  // reader builds what the method refers to, the class does not have all of its methods
  // yet.
  bool is_within_method_of(const State& state, PyTypeObject* type) const;
  // Whether any attribute of this class or of one of its bases is being written.
  bool is_within_class(PyTypeObject* type) const;

 private:
  static constexpr std::size_t kUsualDepth = 8;  // Reserved from the start.

  ArenaVector<Frame> frames_;
  std::vector<std::size_t> open_classes_;  // Indices of their frames.
  std::vector<std::unique_ptr<Plan>> spare_plans_;
  std::size_t frozen_count_ = 0;  // Number of frames, from the bottom, that are frozen.
};

}  // namespace waybill::py
