// The stack machine. Tested by tests/python/cache/test_recipes.py, which compares with
// loads() without caches.

#include "python/cache/recipe.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory_resource>
#include <utility>

#include "python/runtime/compat.h"
#include "python/runtime/modules.h"
#include "wire/format.h"

namespace waybill::py {

namespace {

// The attribute in a module's dict, which getattr gives for a plain module. Null if
// there is none, or if it is lazy: only getattr resolves it.
Ref attribute_of_module(const State& state, PyObject* module, PyObject* name) {
  if (!PyModule_CheckExact(module)) return {};
  PyObject* value = look_up_in(state, module, name);
  if (value == nullptr || is_lazy_import(state, value)) return {};
  return Ref::share(value);
}

Ref method_of_type(PyObject* object, PyObject* name) {
  if (!PyType_Check(object)) return {};
  auto* type = as_type(object);
  if (PyType_HasFeature(type, Py_TPFLAGS_HEAPTYPE)) return {};
  PyObject* value = raw_get(type, name);
  return value != nullptr && PyCFunction_CheckExact(value) ? Ref::share(value) : Ref();
}

class StackMachine {
 public:
  using Action = Recipe::Action;
  using Step = Recipe::Step;

  StackMachine(const State& state, std::span<const Ref> modules, std::vector<Ref> saved)
      : state_(state), modules_(modules), saved_(std::move(saved)) {
    stack_.reserve(kUsualDepth);
  }

  bool run(const std::vector<Step>& steps) {
    for (const Step& step : steps) {
      if (!execute(step)) return false;
    }
    return true;
  }
  std::vector<Ref>& saved() { return saved_; }

 private:
  static constexpr std::size_t kUsualDepth = 16;

  bool execute(const Step& step) {
    switch (step.action) {
      case Action::kConstant:
        return push(step.object);
      case Action::kModule:
        return push(modules_[step.number]);
      case Action::kGlobal:
        return push(attribute_of_module(state_, modules_[step.number].get(),
                                        step.object.get()));
      case Action::kBuiltin:
        return push(
            attribute_of_module(state_, state_.builtins.get(), step.object.get()));
      case Action::kMethodOfType:
        return replace(1, method_of_type(top(), step.object.get()));
      case Action::kTuple:
      case Action::kList:
        return make_sequence(step);
      case Action::kDict:
        return make_dict(step.number);
      case Action::kCopy:
        return push(Ref::steal(PyDict_Copy(step.object.get())));
      case Action::kAddPath:
        check(PyDict_SetItem(top(), state_.names.path.get(),
                             Ref::steal(PyList_New(0)).get()));
        return true;
      case Action::kCell:
        return push(Ref::steal(PyCell_New(nullptr)));
      case Action::kFunction:
        return make_function(step);
      case Action::kStoreGlobal: {
        const Ref value = pop();
        PyObject* globals =
            PyFunction_Check(top()) ? PyFunction_GET_GLOBALS(top()) : top();
        check(PyDict_SetItem(globals, step.object.get(), value.get()));
        return true;
      }
      case Action::kStoreField:
        set_field(step, pop());
        return true;
      case Action::kStoreContent:
        check(PyCell_Set(saved_[step.number].get(), pop().get()));
        return true;
      case Action::kSave:
        saved_[step.number] = stack_.back();
        return true;
      case Action::kLoad:
        return push(saved_[step.number]);
      case Action::kPop:
        pop();
        return true;
    }
    return false;
  }

  PyObject* top() const { return stack_.back().get(); }

  bool push(Ref object) {
    if (!object) return false;
    stack_.push_back(std::move(object));
    return true;
  }

  Ref pop() {
    Ref object = std::move(stack_.back());
    stack_.pop_back();
    return object;
  }

  // The items on top of the stack, the deepest first.
  std::span<Ref> last(std::size_t count) { return std::span(stack_).last(count); }

  bool replace(std::size_t count, Ref object) {
    stack_.resize(stack_.size() - count);
    return push(std::move(object));
  }

  bool make_sequence(const Step& step) {
    const bool is_list = step.action == Action::kList;
    const auto count = static_cast<Py_ssize_t>(step.number);
    Ref made = Ref::steal(is_list ? PyList_New(count) : PyTuple_New(count));
    PyObject** place = PySequence_Fast_ITEMS(made.get());
    for (Ref& item : last(step.number)) *place++ = item.release();
    return replace(step.number, std::move(made));
  }

  bool make_dict(std::size_t count) {
    Ref dict = Ref::steal(PyDict_New());
    const std::span<Ref> items = last(2 * count);
    for (std::size_t i = 0; i < items.size(); i += 2) {
      check(PyDict_SetItem(dict.get(), items[i].get(), items[i + 1].get()));
    }
    return replace(2 * count, std::move(dict));
  }

  bool make_function(const Step& step) {
    const std::size_t count = step.number;
    PyObject* globals = stack_[stack_.size() - count - 1].get();
    Ref function = Ref::steal(PyFunction_New(step.object.get(), globals));
    if (count != 0) {
      const Ref closure = Ref::steal(PyTuple_New(static_cast<Py_ssize_t>(count)));
      Py_ssize_t place = 0;
      for (Ref& cell : last(count)) {
        PyTuple_SET_ITEM(closure.get(), place++, cell.release());
      }
      check(PyFunction_SetClosure(function.get(), closure.get()));
    }
    return replace(count + 1, std::move(function));
  }

  // Sets the most frequent fields directly; setting the attribute does the same.
  void set_field(const Step& step, const Ref& value) {
    switch (static_cast<wire::FunctionField>(step.number)) {
      case wire::FunctionField::kDefaults:
        check(PyFunction_SetDefaults(top(), value.get()));
        break;
      case wire::FunctionField::kKeywordDefaults:
        check(PyFunction_SetKwDefaults(top(), value.get()));
        break;
      default:
        check(PyObject_SetAttr(top(), step.object.get(), value.get()));
    }
  }

  const State& state_;
  std::span<const Ref> modules_;
  // Stacks of usual depth need no heap.
  alignas(Ref) std::array<std::byte, kUsualDepth * sizeof(Ref)> first_items_;
  std::pmr::monotonic_buffer_resource items_memory_{first_items_.data(),
                                                    first_items_.size()};
  std::pmr::vector<Ref> stack_{&items_memory_};
  std::vector<Ref> saved_;
};

}  // namespace

bool Recipe::run(const State& state, std::span<const Ref> modules,
                 std::vector<Ref>& objects) const {
  objects.resize(saved_count_);
  if (steps_.empty()) return true;  // All definitions are classes.
  StackMachine machine(state, modules, std::move(objects));
  const bool is_complete = machine.run(steps_);
  objects = std::move(machine.saved());
  return is_complete;
}

std::optional<std::uint32_t> Recipe::number_at(std::size_t position) const {
  const auto found = std::ranges::lower_bound(
      numbers_, position, {}, [](const auto& one) { return one.first; });
  if (found == numbers_.end() || found->first != position) return std::nullopt;
  return found->second;
}

}  // namespace waybill::py
