#pragma once

// One of the two payloads that are compared, as a flat tree in which subtrees can be
// compared, and passed over, at once; and what stands in it, as text.

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
    // Of all that the value means: code by content, modules by name, references by what
    // they refer to. Equal values have equal hashes, whatever the tables around them.
    std::uint64_t hash = 0;
    std::size_t offset = 0;  // In the envelope.
    std::uint32_t end = 0;   // The index of the first row behind this and all it holds.
    wire::TokenType type = wire::TokenType::kNil;
    std::uint8_t tag = 0;  // wire::NodeTag, for arrays that are nodes; else 0.
  };

  // What a function or code node runs; no bytes, and SIZE_MAX, where it has no code.
  struct Code {
    std::size_t index = SIZE_MAX;
    BytesView hash = {};
    std::string_view name = {};
  };

  // `side` must outlive this. Texts have about `max_text` bytes. A payload that cannot
  // be read, or has 2^32 values, gives an empty tree.
  PayloadTree(const Side& side, std::size_t max_text);

  bool empty() const { return rows_.empty(); }
  const Row& operator[](std::uint32_t index) const { return rows_[index]; }
  BytesView bytes() const { return envelope_.payload.bytes; }

  // The values directly in a container, without a node's tag; keys and values of maps
  // in turn.
  std::vector<std::uint32_t> children(std::uint32_t index) const;

  // The value of the payload, behind its definitions; and these.
  std::uint32_t value() const;
  std::vector<std::uint32_t> definitions() const;
  // Of a function or class; empty for what is none.
  std::string name(std::uint32_t index) const {
    return StepFormatter(envelope_, names_).name_at(rows_[index].offset).text;
  }

  // The value itself, if it is a reference too; and what that means.
  ValueView at(std::uint32_t index) const {
    return ValueView::at(envelope_, rows_[index].offset);
  }
  ValueView follow(std::uint32_t index) const {
    return {envelope_, rows_[index].offset};
  }
  // The value as a line.
  std::string text(std::uint32_t index) const;
  Code code(std::uint32_t index) const;
  // The paths of the values at some offsets, in order. Cost: one walk over the payload.
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
