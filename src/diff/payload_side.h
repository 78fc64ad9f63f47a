#pragma once

// One of the two payloads that are compared: its tree, and what stands in it.

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "diff/payload_tree.h"
#include "format/shapes.h"
#include "report/value_text.h"

namespace waybill::envelope {

inline constexpr std::size_t kClosure =
    position_of(wire::NodeTag::kFunction, "closure");

class PayloadSide {
 public:
  // `envelope` and `names` must outlive this. Texts have about `max_text` bytes.
  PayloadSide(const Envelope& envelope, const ValueNames& names, std::size_t max_text)
      : envelope_(envelope), names_(names), max_text_(max_text), tree_(envelope) {}

  const PayloadTree& tree() const { return tree_; }
  BytesView bytes() const { return envelope_.payload.bytes; }

  // The value as a line.
  std::string text(std::uint32_t index) const;
  // What an entry is keyed by in a map of numbers; UINT64_MAX for what is no number.
  std::uint64_t field(std::uint32_t key) const;

  // The index in the code section of a function or code node; the section's size where
  // it has none.
  std::size_t code_index(std::uint32_t node) const;
  // Null, and empty, where it has none.
  const CodeBody* code(std::uint32_t node) const;
  std::string_view code_name(std::uint32_t node) const;

  // The variables whose cells the function introduces.
  std::vector<std::string> cell_names(std::uint32_t function);

 private:
  const std::vector<std::string>& free_names(std::size_t code_index);

  const Envelope& envelope_;
  const ValueNames& names_;
  std::size_t max_text_;
  PayloadTree tree_;
  // By index of the body, which is read once however many functions have it.
  std::map<std::size_t, std::vector<std::string>> free_names_;
};

}  // namespace waybill::envelope
