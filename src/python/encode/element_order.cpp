// The bytes of an element are never the beginning of another's, so two that differ do
// so before the end of either. Tested by tests/python/kinds/test_order_of_sets.py.

#include "python/encode/element_order.h"

#include <algorithm>
#include <cstring>

#include "wire/lead.h"

namespace waybill::py {

namespace {

// Most elements have no more bytes: as many are copied at once, without a call.
constexpr std::size_t kBlock = 32;

}  // namespace

void ElementOrder::apply() {
  const std::span<Element> all = elements();
  if (all.size() < 2) return;
  const std::size_t start = all.front().start;
  if (measure(all)) return;
  sort(all);
  rewrite(all, start);
}

bool ElementOrder::measure(std::span<Element> elements) {
  std::memset(out_.open(kBlock), 0, kBlock);  // Heads may reach beyond the last.
  const std::uint8_t* const bytes = out_.view().data();
  std::size_t end = out_.view().size();
  for (std::size_t i = elements.size(); i != 0; --i) {
    Element& element = elements[i - 1];
    element.size = end - element.start;
    end = element.start;
    element.head = wire::big_endian(bytes + element.start, 8);
  }
  return std::ranges::adjacent_find(elements, std::greater_equal(), &Element::head) ==
         elements.end();
}

void ElementOrder::sort(std::span<Element> elements) {
  const std::uint8_t* const bytes = out_.view().data();
  std::ranges::sort(elements, [bytes](const Element& a, const Element& b) {
    if (a.head != b.head) return a.head < b.head;
    return std::memcmp(bytes + a.start, bytes + b.start, std::min(a.size, b.size)) < 0;
  });
}

// First behind what is there, then over it.
void ElementOrder::rewrite(std::span<const Element> elements, std::size_t start) {
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

}  // namespace waybill::py
