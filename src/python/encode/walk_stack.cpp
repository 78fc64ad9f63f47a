// Tested by tests/python/kinds/test_values.py,
// tests/python/imports/test_order_of_need.py.

#include "python/encode/walk_stack.h"

#include <algorithm>
#include <utility>

#include "python/runtime/compat.h"
#include "python/runtime/modules.h"

namespace waybill::py {

void WalkStack::push_plan(PyObject* object, std::unique_ptr<Plan> plan) {
  // Held by the plan above, the memo and this frame.
  const bool is_made_up =
      !empty() && back().kind == Frame::Kind::kPlan && Py_REFCNT(object) <= 2;
  const std::uint32_t synthesized = is_made_up ? back().synthesized + 1 : 0;
  if (PyType_Check(object)) open_classes_.push_back(size());
  push(Frame::Kind::kPlan, object, 0);
  back().plan = std::move(plan);
  back().synthesized = synthesized;
}

std::unique_ptr<Plan> WalkStack::new_plan() {
  if (spare_plans_.empty()) return std::make_unique<Plan>();
  std::unique_ptr<Plan> plan = std::move(spare_plans_.back());
  spare_plans_.pop_back();
  return plan;
}

void WalkStack::give_back(std::unique_ptr<Plan> plan) {
  plan->clear();
  spare_plans_.push_back(std::move(plan));
}

PyObject* WalkStack::freeze() {
  for (; frozen_ < size(); ++frozen_) {
    Frame& frame = frames_[frozen_];
    if (frame.has_changed()) return frame.object.get();
    if (frame.kind == Frame::Kind::kList) {
      const CollectorPause pause;  // Until the copy is whole.
      Ref items = Ref::steal(PyList_AsTuple(frame.object.get()));
      frame.owner = std::exchange(frame.object, std::move(items));
      frame.kind = Frame::Kind::kTuple;
    } else if (frame.kind == Frame::Kind::kDict) {
      const CollectorPause pause;
      Ref items = Ref::steal(PyList_New(0));
      PyObject *key, *item;
      while (PyDict_Next(frame.object.get(), &frame.position, &key, &item)) {
        check(PyList_Append(items.get(), key));
        check(PyList_Append(items.get(), item));
      }
      frame.frozen = Ref::steal(PyList_AsTuple(items.get()));
      frame.position = 0;
      frame.kind = Frame::Kind::kFrozenDict;
    }
  }
  return nullptr;
}

PyObject* WalkStack::innermost_class() const {
  return open_classes_.empty() ? nullptr : frames_[open_classes_.back()].object.get();
}

PyObject* WalkStack::function_around() const {
  for (auto frame = frames_.rbegin(); frame != frames_.rend(); ++frame) {
    if (PyFunction_Check(frame->object.get())) return frame->object.get();
  }
  return nullptr;
}

bool WalkStack::is_within_code() const {
  return std::ranges::any_of(frames_, [](const Frame& frame) {
    PyObject* object = frame.object.get();
    return PyFunction_Check(object) || PyType_Check(object) || PyModule_Check(object);
  });
}

bool WalkStack::is_within_method_of(const State& state, PyTypeObject* type) const {
  for (const std::size_t place : open_classes_) {
    auto* open = as_type(frames_[place].object.get());
    if (place + 1 >= size() || !PyType_IsSubtype(type, open)) continue;
    const Frame& attributes = frames_[place + 1];
    if (!attributes.key) continue;
    const Ref dict = type_dict(open);
    // With it come the globals of all methods: DeferredGlobals.
    if (PyUnicode_Check(attributes.key.get()) &&
        PyUnicode_Compare(attributes.key.get(), state.names.module.get()) == 0) {
      return true;
    }
    PyObject* value = raw_get(dict.get(), attributes.key.get());
    if (value != nullptr && is_method(value)) return true;
  }
  return false;
}

bool WalkStack::is_within_class(PyTypeObject* type) const {
  return std::ranges::any_of(open_classes_, [&](std::size_t place) {
    auto* open = as_type(frames_[place].object.get());
    return PyType_IsSubtype(type, open) && place + 1 < size() && frames_[place + 1].key;
  });
}

bool is_method(PyObject* value) {
  if (PyFunction_Check(value)) return true;
  for (PyTypeObject* type :
       {&PyProperty_Type, &PyClassMethod_Type, &PyStaticMethod_Type}) {
    if (PyObject_TypeCheck(value, type)) return true;
  }
  return false;
}

}  // namespace waybill::py
