// Writes sets in canonical order. Plain elements are sorted by their bytes. Other
// elements (functions, instances) follow, sorted by names, content hashes and repr.
// Elements that are equal in all of these keep the order of the set. This is the only
// place where equal graphs may have different bytes. Tested by
// tests/python/kinds/test_determinism.py and test_order_of_sets.py.

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "python/encode/code/code_encoder.h"
#include "python/encode/plain_writer.h"
#include "python/runtime/attribute.h"
#include "wire/lead.h"

namespace waybill::py {

namespace {

// Most elements are not longer. This many bytes are copied without a call of memcpy.
constexpr std::size_t kBlock = 32;

// Sorts the bytes of the elements of one set in place. The bytes of an element are
// never a prefix of those of another. Until apply(), only the elements may be written
// to `out`, up to `max_count` of them.
class ElementOrder {
 public:
  ElementOrder(wire::Writer& out, std::size_t max_count) : out_(out) {
    if (max_count <= kFew) return;
    many_.resize(max_count);
    next_ = many_.data();
  }
  ElementOrder(const ElementOrder&) = delete;
  ElementOrder& operator=(const ElementOrder&) = delete;

  // The caller calls this before it writes each element.
  void begin_element() { (next_++)->start = out_.view().size(); }

  // Sorts all elements by their bytes. Throws std::bad_alloc.
  void apply() {
    const std::span<Element> all = elements();
    if (all.size() < 2) return;
    const std::size_t start = all.front().start;
    if (measure(all)) return;
    sort(all);
    rewrite(all, start);
  }

 private:
  struct Element {
    std::size_t start;
    std::size_t size;
    std::uint64_t head;  // The first bytes; they usually decide comparisons.
  };
  static constexpr std::size_t kFew = 16;

  std::span<Element> elements() {
    Element* const first = many_.empty() ? few_.data() : many_.data();
    return {first, next_};
  }
  // Sets sizes and heads. Returns whether the elements are in order already.
  bool measure(std::span<Element> elements) {
    // Heads may extend past the last element.
    std::memset(out_.open(kBlock), 0, kBlock);
    const std::uint8_t* const bytes = out_.view().data();
    std::size_t end = out_.view().size();
    for (std::size_t i = elements.size(); i != 0; --i) {
      Element& element = elements[i - 1];
      element.size = end - element.start;
      end = element.start;
      element.head = wire::read_big_endian(bytes + element.start, 8);
    }
    return std::ranges::adjacent_find(elements, std::greater_equal(), &Element::head) ==
           elements.end();
  }

  void sort(std::span<Element> elements) {
    const std::uint8_t* const bytes = out_.view().data();
    std::ranges::sort(elements, [bytes](const Element& a, const Element& b) {
      if (a.head != b.head) return a.head < b.head;
      return std::memcmp(bytes + a.start, bytes + b.start, std::min(a.size, b.size)) <
             0;
    });
  }

  // Copies the sorted elements to the end, and then over the unsorted ones.
  void rewrite(std::span<const Element> elements, std::size_t start) {
    const std::size_t size = out_.view().size() - start;
    std::uint8_t* const copy = out_.open(kBlock + size + kBlock) + kBlock;
    const std::uint8_t* const bytes = out_.view().data();
    std::uint8_t* to = copy;
    for (const Element& element : elements) {
      const std::uint8_t* const from = bytes + element.start;
      if (element.size <= kBlock) {
        std::memcpy(to, from, kBlock);
      } else {
        std::memcpy(to, from, element.size);
      }
      to += element.size;
    }
    std::memcpy(copy - kBlock - size, copy, size);
  }

  wire::Writer& out_;
  std::array<Element, kFew> few_;
  std::vector<Element> many_;
  Element* next_ = few_.data();
};

std::string attribute_text(PyObject* object, const Ref& name) {
  const Ref value = attribute_or_null(object, name);
  return value && PyUnicode_Check(value.get()) ? text_of(value.get()) : std::string();
}

constexpr int kMaxKeyDepth = 4;
constexpr std::size_t kMaxRepr = 1000;

// The start of the repr of an object; empty for object.__repr__, which contains the
// address.
std::string repr_text(PyObject* object) {
  if (Py_TYPE(object)->tp_repr == PyBaseObject_Type.tp_repr) return {};
  const Ref repr = steal_unless(PyExc_Exception, PyObject_Repr(object));
  return repr ? text_of(repr.get()).substr(0, kMaxRepr) : std::string();
}

// The sort key of an element. Keys of elements that are not plain sort last: 0xc1 is
// not a msgpack byte.
std::string sort_key_of(const State& state, CodeInfos& infos, PyObject* object,
                        int depth) {
  wire::Writer scratch;
  if (write_plain(object, scratch, nullptr, kElementDepth)) {
    const BytesView bytes = scratch.view();
    return {bytes.begin(), bytes.end()};
  }
  if (PyTuple_CheckExact(object) && depth < kMaxKeyDepth) {
    std::string key = "\xc1(";
    for (PyObject* item : items_of(object)) {
      key += sort_key_of(state, infos, item, depth + 1) + "\xc1";
    }
    return key;
  }
  if (PyFrozenSet_Check(object) && depth < kMaxKeyDepth) {
    // The repr of a frozenset depends on the order of hashes.
    const Ref items = Ref::steal(PySequence_Tuple(object));
    std::vector<std::string> keys;
    for (PyObject* item : items_of(items.get())) {
      keys.push_back(sort_key_of(state, infos, item, depth + 1));
    }
    std::sort(keys.begin(), keys.end());
    std::string key = "\xc1{";
    for (const std::string& part : keys) key += part + "\xc1";
    return key;
  }
  // Containers that are nested more deeply are sorted by size: their repr may be
  // endless.
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
    key += repr_text(object);
  }
  return key;
}

}  // namespace

Ref elements_of(PyObject* set) {
  static_cast<void>(checked_count(PySet_GET_SIZE(set)));
  const CollectorPause pause;
  return Ref::steal(PySequence_Tuple(set));
}

bool write_common_elements(PyObject* set, wire::Writer& out) {
  const auto& own = *reinterpret_cast<PySetObject*>(set);
  const std::size_t size = out.view().size();
  ElementOrder order(out, static_cast<std::size_t>(own.used));
  for (Py_ssize_t i = 0; i <= own.mask; ++i) {
    const setentry& entry = own.table[i];
    if (entry.key == nullptr || entry.hash == -1) continue;
    order.begin_element();
    if (!write_common(entry.key, out)) {
      out.truncate(size);
      return false;
    }
  }
  order.apply();
  return true;
}

bool write_elements(PyObject* items, wire::Writer& out, CodeInfos* infos, int depth) {
  const std::size_t size = out.view().size();
  ElementOrder order(out, items_of(items).size());
  for (PyObject* element : items_of(items)) {
    order.begin_element();
    if (!write_plain(element, out, infos, depth + 1)) {
      out.truncate(size);
      return false;
    }
  }
  order.apply();
  return true;
}

Ref sorted_elements(const State& state, CodeInfos& infos, Ref elements) {
  if (PyTuple_GET_SIZE(elements.get()) < 2) return elements;
  std::vector<std::pair<std::string, PyObject*>> order;
  for (PyObject* element : items_of(elements.get())) {
    order.emplace_back(sort_key_of(state, infos, element, 0), element);
  }
  std::stable_sort(order.begin(), order.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  return new_tuple(order, [](const auto& one) { return Ref::share(one.second); });
}

}  // namespace waybill::py
