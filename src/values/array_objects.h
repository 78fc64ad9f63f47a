#pragma once

// Arrays and large buffers in a payload that is written.

#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "format/buffer_table.h"
#include "parts/array_kinds.h"
#include "values/value_leaf.h"
#include "waybill/envelope.h"
#include "waybill/value.h"
#include "wire/writer.h"

namespace waybill::envelope {

// The buffers of a value that are so large that they stand behind the payload, in the
// order in which the payload names them. They stay where they are until then.
class LargeBuffers {
 public:
  static bool takes(BytesView bytes) { return bytes.size() >= kMinStoredSize; }

  // Writes what stands for the buffer in the payload.
  void add(const BufferParts& row, wire::Writer& out) {
    out.node(wire::NodeTag::kStored, 1);
    out.unsigned_integer(rows_.size());
    rows_.push_back(row);
  }

  std::span<const BufferParts> rows() const { return rows_; }

 private:
  std::vector<BufferParts> rows_;
};

// Arrays as the objects that waybill in Python makes of them: a call of NumPy's with
// their memory, type, shape and order. What is the same in all of them stands once.
class ArrayObjects {
 public:
  // To `out`, which has the payload from its first byte on, and what is large to
  // `buffers`.
  ArrayObjects(wire::Writer& out, LargeBuffers& buffers)
      : out_(out), buffers_(buffers) {}

  // False, with nothing written, if the array is none.
  bool write(const data::Array& array, Objection& objection);

  // Puts in what the payload needs besides itself and the buffers. Views of this.
  void put_into(Parts& parts) const;

 private:
  // An object of which all but the first are references.
  struct Common {
    std::optional<std::uint64_t> position;
    std::optional<std::uint64_t> number;  // Of the references.
  };
  struct Type {
    ArrayItem item;
    std::string format;  // As PEP 3118 spells it.
    Common object;
  };

  bool refer(Common& object);
  void write_global(Common& global, std::uint64_t module, std::string_view name);
  void write_type(Type& type);
  Type& type_of(const ArrayItem& item);
  void write_memory(const data::Array& array, const Type& type, bool is_fortran);

  wire::Writer& out_;
  LargeBuffers& buffers_;
  Common from_buffer_;
  Common dtype_;
  std::deque<Type> types_;
  std::deque<std::vector<std::uint64_t>> shapes_;  // Of memory, as rows tell them.
  std::vector<std::uint64_t> shared_;
  Manifest manifest_;
};

}  // namespace waybill::envelope
