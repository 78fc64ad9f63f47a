#pragma once

// One of the two compared payloads as a flat tree, in which a subtree is compared by
// its hash and skipped in one step.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "diff/diff_model.h"
#include "format/payload_cursor.h"
#include "format/value_view.h"
#include "report/paths.h"
#include "waybill/envelope.h"

namespace waybill::envelope {

class PayloadTree {
 public:
  struct Row {
    // Covers code by content, modules by name, references by their targets. So equal
    // values have equal hashes, whatever the tables of their envelopes.
    std::uint64_t hash = 0;
    std::size_t offset = 0;  // In the envelope.
    std::uint32_t end = 0;   // The index of the first row after the subtree.
    wire::TokenType type = wire::TokenType::kNil;
    std::uint8_t tag = 0;  // wire::NodeTag, for arrays that are nodes; else 0.
  };

  // The code of a function or code node; by default, none.
  struct Code {
    std::size_t index = SIZE_MAX;
    BytesView hash = {};
    std::string_view name = {};
  };

  // `side` must outlive this. Texts have about `max_text` bytes. The tree of an
  // unreadable payload, or of one with 2^32 values, is empty.
  PayloadTree(const Side& side, std::size_t max_text);

  bool empty() const { return rows_.empty(); }
  const Row& operator[](std::uint32_t index) const { return rows_[index]; }
  BytesView bytes() const { return envelope_.payload.bytes; }

  // The values directly in a container, without a node's tag; those of a map alternate
  // keys and values.
  std::vector<std::uint32_t> children(std::uint32_t index) const;

  // The value of the payload, after its definitions; and the definitions.
  std::uint32_t value() const;
  std::vector<std::uint32_t> definitions() const;
  // The name of a function or class; else "obj".
  std::string name(std::uint32_t index) const {
    return StepFormatter(envelope_, names_).name_at(rows_[index].offset).text;
  }

  // The value itself, be it a reference; and the target of that reference.
  ValueView at(std::uint32_t index) const {
    return ValueView::at(envelope_, rows_[index].offset);
  }
  ValueView follow(std::uint32_t index) const {
    return {envelope_, rows_[index].offset};
  }
  // The value as a line.
  std::string text(std::uint32_t index) const;
  Code code(std::uint32_t index) const;
  // The paths of the values at these sorted offsets. Cost: one walk over the payload.
  std::vector<std::string> paths(const std::vector<std::size_t>& offsets) const {
    return paths_at(envelope_, names_, offsets);
  }

 private:
  using Cursor = PayloadCursor<std::uint32_t>;  // The note: an index of rows_.

  bool is_node(std::uint32_t index, wire::NodeTag tag) const {
    return rows_[index].tag == static_cast<std::uint8_t>(tag);
  }
  bool build();
  std::uint64_t leaf_hash(Cursor& cursor) const;
  std::uint64_t reference_hash(const Cursor& cursor, std::size_t number) const;

  const Envelope& envelope_;
  const ValueNames& names_;
  std::size_t max_text_;
  std::vector<Row> rows_;
};

}  // namespace waybill::envelope
