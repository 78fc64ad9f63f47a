#pragma once

// What is being written: a frame for each object of which not all is out yet. So depth
// costs heap and never the C++ stack.

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
    std::size_t raw_end;  // Raw bytes up to here stand before the child.
    Ref child;            // Null in the last step.
    Label label;
    bool creates;  // Once this step's bytes are out, a reader has the object.
    // The child is the value of a global that the label names.
    bool is_global = false;
    // The child is a module, of which code needs a part.
    bool is_part = false;
  };

  // What is written next.
  wire::Writer& raw() { return raw_; }

  void child(Ref object, Label label) {
    steps_.push_back({raw_.size(), std::move(object), std::move(label), creates_});
    creates_ = false;
  }
  // The child that was planned last is the value of a global under the label's name.
  void last_is_global() { steps_.back().is_global = true; }
  // The child that was planned last is a module, of which code needs a part.
  void last_is_part() { steps_.back().is_part = true; }

  // From here on the reader has the object, so children may refer to it. A plan that
  // never says so has its object from the start.
  void creates() {
    creates_ = true;
    creates_late_ = true;
    created_at_ = raw_.size();
  }
  std::size_t created_at() const { return created_at_; }  // In the raw bytes.

  // What closes the node early if children have built the object themselves, which
  // takes a cycle through another object that its creation needs.
  enum class Early : std::uint8_t {
    kNone,
    kClass,
    kClassWithHomeState,
    kReduced,
    kReducedWithSetter
  };
  void may_close_early(Early how) { early_ = how; }
  Early early() const { return early_; }

  // The child is the id of an object, and has no id itself.
  void child_is_id() { child_is_id_ = true; }
  bool is_child_id() const { return child_is_id_; }

  // Whether all of it is raw, and the reader has the object from the start.
  bool has_no_child() const { return steps_.empty() && !creates_late_; }

  // Closes the plan; called by the encoder.
  void finish() { child({}, {}); }

  // Forgets all but its memory.
  void clear() {
    raw_.clear();
    steps_.clear();
    creates_ = creates_late_ = child_is_id_ = false;
    created_at_ = 0;
    early_ = Early::kNone;
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
  bool child_is_id_ = false;
  Early early_ = Early::kNone;
};

class WalkStack {
 public:
  struct Frame {
    enum class Kind : std::uint8_t { kList, kTuple, kDict, kFrozenDict, kPlan };
    Kind kind;
    Ref object;  // What is walked; kept alive while others might let go of it.
    Py_ssize_t position = 0;  // Next item, step, or PyDict_Next's cursor.
    Py_ssize_t count = 0;
    Ref key, pending;  // kDict: the last key, and its value until that is written.
    Ref frozen;        // kFrozenDict: keys and values in turn; position counts there.
    Ref owner;         // The list, set or instance whose contents these are, or null.
    std::unique_ptr<Plan> plan;
    bool is_set = false;    // kTuple: the elements of a set.
    bool is_state = false;  // kDict, kFrozenDict: an instance's, and ends its node.
    std::size_t raw_begin = 0;
    // Frames from here up whose object only reducers made.
    std::uint32_t synthesized = 0;

    // What paths say that the contents are of.
    PyObject* shown() const { return owner ? owner.get() : object.get(); }

    // Whether a list or dict has another length than its head says.
    bool has_changed() const {
      return (kind == Kind::kList && PyList_GET_SIZE(object.get()) != count) ||
             (kind == Kind::kDict && PyDict_GET_SIZE(object.get()) != count);
    }
  };

  // `arena` outlives this.
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
    frozen_ = std::min(frozen_, size());
  }

  // An empty plan. One that has done its work has room for the next.
  std::unique_ptr<Plan> new_plan();
  void give_back(std::unique_ptr<Plan> plan);
  void drop_spare_plans() { spare_plans_.clear(); }

  // Takes copies of what open lists and dicts still hold. Called before code that is
  // not ours runs, since that may change them while they are written. The answer is
  // one that has changed already, which only a finalizer can have done; null if none
  // has.
  PyObject* freeze();

  // The innermost class that is being written; null if none is.
  PyObject* innermost_class() const;
  PyObject* function_around() const;
  // How what is being written hangs on the frame with this index.
  Label label_at(std::size_t index) const;
  // Whether that is the state of the frame's object.
  bool is_at_state(std::size_t index) const;
  // Whether a function, class or module is being written.
  bool is_within_code() const;
  // Whether a method is being written of this class or of a base of it: a reader has
  // not all of its methods yet, where it comes to what that method reaches.
  bool is_within_method_of(const State& state, PyTypeObject* type) const;
  // The same of any attribute.
  bool is_within_class(PyTypeObject* type) const;

 private:
  // Room for so many frames is there from the start.
  static constexpr std::size_t kUsualDepth = 8;

  ArenaVector<Frame> frames_;
  std::vector<std::size_t> open_classes_;  // Places of their frames.
  std::vector<std::unique_ptr<Plan>> spare_plans_;
  std::size_t frozen_ = 0;  // So many frames from the bottom are safe from changes.
};

}  // namespace waybill::py
