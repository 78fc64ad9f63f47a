// Whether arrays share memory is known only after all of them were visited, when a view
// may have been written before its base. So such a payload is written twice: the first
// pass finds what to share, and copies nothing large.
//
// Tested by tests/python/kinds/test_array_views.py.

#include "python/encode/array_views.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <string_view>

#include "python/runtime/attribute.h"
#include "python/runtime/py_error.h"

namespace waybill::py {

namespace {

constexpr std::string_view kArrayType = "numpy.ndarray";

// Null for an array without bytes, and for items without the buffer protocol.
std::optional<Extent> extent_of(PyObject* array) {
  Py_buffer view;
  if (PyObject_GetBuffer(array, &view, PyBUF_STRIDES) != 0) {
    ignore_error(PyExc_Exception);
    return std::nullopt;
  }
  Extent extent;
  extent.low = extent.start = reinterpret_cast<std::uintptr_t>(view.buf);
  extent.high = extent.low + static_cast<std::size_t>(view.itemsize);
  bool is_empty = view.itemsize == 0;
  for (int i = 0; i < view.ndim; ++i) {
    const auto span =
        static_cast<std::uintptr_t>((view.shape[i] - 1) * view.strides[i]);
    (view.strides[i] < 0 ? extent.low : extent.high) += span;
    is_empty = is_empty || view.shape[i] == 0;
  }
  PyBuffer_Release(&view);
  return is_empty ? std::nullopt : std::optional(extent);
}

// Whether a class inherits how its base is copied and reduced.
bool inherits_reduction(const State& state, PyTypeObject* type, PyTypeObject* base) {
  const Names& names = state.names;
  for (const Ref* name : {&names.copy, &names.reduce, &names.reduce_ex}) {
    const Ref own = attribute_or_null(as_object(type), *name);
    const Ref inherited = attribute_or_null(as_object(base), *name);
    if (own.get() != inherited.get()) return false;
  }
  return true;
}

Ref number_of(std::uintptr_t address) {
  return Ref::steal(PyLong_FromUnsignedLongLong(address));
}

}  // namespace

bool is_array(PyObject* object) {
  const PyTypeObject* type = Py_TYPE(object);
  return !PyType_HasFeature(Py_TYPE(object), Py_TPFLAGS_HEAPTYPE) &&
         std::string_view(type->tp_name) == kArrayType;
}

Ref copy_in_order(const State& state, PyObject* object) {
  PyTypeObject* base = Py_TYPE(object);
  while (base != nullptr && PyType_HasFeature(base, Py_TPFLAGS_HEAPTYPE)) {
    base = base->tp_base;
  }
  if (base == nullptr || std::string_view(base->tp_name) != kArrayType) return {};
  if (base != Py_TYPE(object) && !inherits_reduction(state, Py_TYPE(object), base)) {
    return {};
  }
  const Names& names = state.names;
  const Ref flags = get_attribute(object, names.flags);
  const Ref in_order = get_attribute(flags.get(), names.forc);
  const Ref dtype = get_attribute(object, names.dtype);
  const Ref fields = get_attribute(dtype.get(), names.names);
  if (in_order.get() == Py_True && fields.get() == Py_None) return {};
  return null_if_none(call(state.copy_in_order.get(), object));
}

void ArrayViews::add(PyObject* array) {
  if (const std::optional<Extent> extent = extent_of(array)) {
    entries_.push_back({*extent, Ref::share(array)});
  }
}

Ref ArrayViews::make_plan(const State& state) const {
  if (entries_.size() < 2) return {};
  std::vector<const Entry*> sorted;
  for (const Entry& entry : entries_) sorted.push_back(&entry);
  const auto low_of = [](const Entry* entry) { return entry->extent.low; };
  std::ranges::stable_sort(sorted, std::less<>(), low_of);
  // (low, high, array) of each array that overlaps another.
  const Ref arrays = Ref::steal(PyList_New(0));
  std::uintptr_t end = 0;
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    const auto& [extent, array] = *sorted[i];
    const bool is_inside = extent.low < end;
    end = std::max(end, extent.high);
    if (!is_inside && (i + 1 == sorted.size() || low_of(sorted[i + 1]) >= end))
      continue;
    const Ref low = number_of(extent.low), high = number_of(extent.high);
    const Ref place = Ref::steal(PyTuple_Pack(3, low.get(), high.get(), array.get()));
    check(PyList_Append(arrays.get(), place.get()));
  }
  if (PyList_GET_SIZE(arrays.get()) == 0) return {};
  return null_if_none(call(state.plan_of_arrays.get(), arrays.get()));
}

Ref ArrayViews::planned_form(PyObject* plan, PyObject* array) {
  const std::optional<Extent> extent = extent_of(array);
  if (!extent) return {};
  const Ref low = number_of(extent->low), high = number_of(extent->high);
  const Ref start = number_of(extent->start);
  return null_if_none(call(plan, array, low.get(), high.get(), start.get()));
}

}  // namespace waybill::py
