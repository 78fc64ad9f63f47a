// A set has no order, a payload must have one: elements are sorted by what they are
// written as. Those that are no plain values (functions, instances) come after, sorted
// by names, content hashes and what they say of themselves; elements that are alike
// even there keep the set's order, which is the one place where equal graphs may give
// different bytes.
// Tested by tests/python/kinds/test_determinism.py.

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "python/discovery/code_view.h"
#include "python/encode/code/code_encoder.h"
#include "python/encode/plain_writer.h"
#include "python/runtime/attribute.h"

namespace waybill::py {

namespace {

std::string attribute_text(PyObject* object, const Ref& name) {
  const Ref value = attribute_or_null(object, name);
  Ref storage;
  return value && PyUnicode_Check(value.get())
             ? std::string(utf8_of(value.get(), storage))
             : std::string();
}

constexpr int kMaxKeyDepth = 4;
constexpr std::size_t kMaxRepr = 1000;

// What an object says of itself, unless that would be its address.
std::string own_words(PyObject* object) {
  if (Py_TYPE(object)->tp_repr == PyBaseObject_Type.tp_repr) return {};
  const Ref words = Ref::steal_or_null(PyObject_Repr(object));
  if (!words) {
    forgive(PyExc_Exception);
    return {};
  }
  return text_of(words.get()).substr(0, kMaxRepr);
}

// Sorts after every msgpack byte string: 0xc1 is never used.
std::string key_of(const State& state, CodeInfos& infos, PyObject* object, int depth) {
  wire::Writer scratch;
  if (write_plain(object, scratch, nullptr, kElementDepth)) {
    const BytesView bytes = scratch.view();
    return {bytes.begin(), bytes.end()};
  }
  if (PyTuple_CheckExact(object) && depth < kMaxKeyDepth) {
    std::string key = "\xc1(";
    for (PyObject* item : items_of(object)) {
      key += key_of(state, infos, item, depth + 1) + "\xc1";
    }
    return key;
  }
  if (PyFrozenSet_Check(object) && depth < kMaxKeyDepth) {
    // Its words would be in the order that hashes give.
    const Ref items = Ref::steal(PySequence_Tuple(object));
    std::vector<std::string> keys;
    for (PyObject* item : items_of(items.get())) {
      keys.push_back(key_of(state, infos, item, depth + 1));
    }
    std::sort(keys.begin(), keys.end());
    std::string key = "\xc1{";
    for (const std::string& part : keys) key += part + "\xc1";
    return key;
  }
  // Deeper than that their size has to do: their words may have no end.
  if (PyTuple_CheckExact(object)) {
    return "\xc1(" + std::to_string(PyTuple_GET_SIZE(object));
  }
  if (PyFrozenSet_Check(object)) {
    return "\xc1{" + std::to_string(PySet_GET_SIZE(object));
  }
  const bool is_named = PyFunction_Check(object) || PyType_Check(object);
  PyObject* named = is_named ? object : type_of(object);
  std::string key = "\xc1" + attribute_text(named, state.names.module) + ":" +
                    attribute_text(named, state.names.qualname);
  if (PyFunction_Check(object)) {
    CodeInfo& info = infos.get(PyFunction_GET_CODE(object));
    encode_code(infos, info);
    key.append(info.hash.begin(), info.hash.end());
  } else if (!is_named) {
    key += own_words(object);
  }
  return key;
}

}  // namespace

Ref sorted_elements(const State& state, CodeInfos& infos, Ref elements) {
  if (PyTuple_GET_SIZE(elements.get()) < 2) return elements;
  std::vector<std::pair<std::string, PyObject*>> order;
  for (PyObject* element : items_of(elements.get())) {
    order.emplace_back(key_of(state, infos, element, 0), element);
  }
  std::stable_sort(order.begin(), order.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  Ref sorted = Ref::steal(PyTuple_New(PyTuple_GET_SIZE(elements.get())));
  for (std::size_t i = 0; i < order.size(); ++i) {
    PyTuple_SET_ITEM(sorted.get(), static_cast<Py_ssize_t>(i),
                     Ref::share(order[i].second).release());
  }
  return sorted;
}

}  // namespace waybill::py
