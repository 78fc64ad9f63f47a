#pragma once

// What is being written: a frame for each object of which not all is out yet. So depth
// costs heap and never the C++ stack.

#include <Python.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "python/encode/plan.h"
#include "python/runtime/arena.h"
#include "python/runtime/ref.h"
#include "python/runtime/state.h"

namespace waybill::py {

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
