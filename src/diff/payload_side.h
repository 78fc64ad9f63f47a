#pragma once

// One of the two payloads that are compared: its tree, and what stands in it.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "diff/payload_tree.h"
#include "format/shapes.h"
#include "report/value_text.h"

namespace waybill::envelope {

class PayloadSide {
 public:
  // `envelope` and `names` must outlive this. Texts have about `max_text` bytes.
  PayloadSide(const Envelope& envelope, const ValueNames& names, std::size_t max_text)
      : envelope_(envelope), names_(names), max_text_(max_text), tree_(envelope) {}

  const PayloadTree& tree() const { return tree_; }
  BytesView bytes() const { return envelope_.payload.bytes; }

  // The value as a line.
  std::string text(std::uint32_t index) const;
  // The index in the code section of a function or code node; SIZE_MAX where it has
  // none.
  std::size_t code_index(std::uint32_t node) const;
  // Null, and empty, where it has none.
  const CodeBody* code(std::uint32_t node) const;
  std::string_view code_name(std::uint32_t node) const;

  // The paths of some values, which are in order. Cost: one walk over the payload.
  std::vector<std::string> paths(const std::vector<std::uint32_t>& nodes) const;

 private:
  const Envelope& envelope_;
  const ValueNames& names_;
  std::size_t max_text_;
  PayloadTree tree_;
};

}  // namespace waybill::envelope
