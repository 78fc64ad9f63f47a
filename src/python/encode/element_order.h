#pragma once

// Puts what was written for the elements of a set in order, where it was written.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "wire/writer.h"

namespace waybill::py {

// For one set. Nothing but its elements is written to `out` meanwhile, and no more than
// `most` of them.
class ElementOrder {
 public:
  ElementOrder(wire::Writer& out, std::size_t most) : out_(out) {
    if (most <= kFew) return;
    many_.resize(most);
    next_ = many_.data();
  }
  ElementOrder(const ElementOrder&) = delete;
  ElementOrder& operator=(const ElementOrder&) = delete;

  // To be called before each element is written.
  void begin_element() { (next_++)->start = out_.view().size(); }

  // Sorts all elements by their bytes. Throws std::bad_alloc.
  void apply();

 private:
  struct Element {
    std::size_t start;
    std::size_t size;
    std::uint64_t head;  // Its first bytes: most comparisons need no more.
  };
  static constexpr std::size_t kFew = 16;

  std::span<Element> elements() {
    Element* const first = many_.empty() ? few_.data() : many_.data();
    return {first, next_};
  }
  // Completes the elements. Whether they are in order already.
  bool measure(std::span<Element> elements);
  void sort(std::span<Element> elements);
  void rewrite(std::span<const Element> elements, std::size_t start);

  wire::Writer& out_;
  std::array<Element, kFew> few_;
  std::vector<Element> many_;
  Element* next_ = few_.data();
};

}  // namespace waybill::py
