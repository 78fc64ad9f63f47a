// Writes a value as an envelope of plain data. One loop with an explicit stack, which
// is also the path that errors show.
//
// An array is written as the call that NumPy 2 reduces a contiguous one to:
// _frombuffer(memory, dtype, shape, order). src/parts/array_kinds.cpp reads it.
// dtype("f8", False, True) gets its byte order as a state.
// Tested by tests/values/value_test.cpp, array_value_test.cpp, outcome_test.cpp,
// tests/libraries/test_arrays_from_cpp.py and tests/examples/test_plain_data.py.

#include <algorithm>
#include <bit>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "format/buffer_table.h"
#include "parts/array_kinds.h"
#include "text/control_characters.h"
#include "values/value_keys.h"
#include "values/value_leaf.h"
#include "waybill/outcome.h"
#include "waybill/value.h"
#include "wire/utf8.h"
#include "wire/writer.h"

namespace waybill {
namespace {

using data::Kind;
using data::Map;
using data::Value;
using envelope::ArrayItem;
using envelope::Failure;
using wire::NodeTag;
using wire::Writer;

constexpr std::size_t kMaxPathSteps = 16;
constexpr std::size_t kMaxPathText = 40;

// Indices of the imports in the manifest.
enum Module : std::uint64_t { kNumeric, kNumpy };

bool refuse(ErrorCode code, std::string detail, Failure& failure) {
  failure = {code, std::move(detail)};
  return false;
}

// Whether the number of bytes matches item and shape. As in NumPy, the other extents
// must not overflow even if one is 0.
bool has_valid_size(const data::Array& array, const ArrayItem& item, Failure& failure) {
  if (array.shape.size() > envelope::kMaxDimensions) {
    return refuse(ErrorCode::kMalformed,
                  "an array has " + std::to_string(array.shape.size()) +
                      " dimensions; NumPy allows 64",
                  failure);
  }
  auto size = static_cast<std::int64_t>(item.size);
  bool is_empty = false;
  for (const std::uint64_t extent : array.shape) {
    if (extent == 0) {
      is_empty = true;
    } else if (__builtin_mul_overflow(size, extent, &size)) {
      return refuse(ErrorCode::kMalformed, "an array has 2^63 bytes or more", failure);
    }
  }
  if (is_empty) size = 0;
  if (array.bytes.size() == static_cast<std::uint64_t>(size)) return true;
  return refuse(ErrorCode::kMalformed,
                "an array has " + std::to_string(array.bytes.size()) +
                    " bytes, but its shape of " + std::string(array.item) +
                    " items takes " + std::to_string(size),
                failure);
}

// If only one extent differs from 1, both orders are the same, and NumPy says "C".
bool is_fortran(const data::Array& array) {
  return array.is_fortran && !array.bytes.empty() &&
         std::ranges::count_if(array.shape, [](auto extent) { return extent != 1; }) >
             1;
}

// The PEP 3118 format of an item. NumPy takes "l" for 64-bit ints where long has 64
// bits.
std::string format_of(const ArrayItem& item) {
  constexpr bool kIsLong64Bit = sizeof(long) == sizeof(std::int64_t);
  const bool is_long = kIsLong64Bit && item.size == 8 && !item.is_swapped;
  const auto at = [&](const char* letters) {
    return letters[std::countr_zero(item.size)];
  };
  constexpr char kForeign = std::endian::native == std::endian::little ? '>' : '<';
  std::string format;
  if (item.is_swapped) format += kForeign;
  switch (item.kind) {
    case 'b':
      return format + '?';
    case 'i':
      return format + at(is_long ? "bhil" : "bhiq");
    case 'u':
      return format + at(is_long ? "BHIL" : "BHIQ");
    case 'f':
      return format + at("?efd");
    default:
      return format + 'Z' + at("???fd");
  }
}

// The dtype.byteorder in the state of a type.
const char* order_of(const ArrayItem& item) {
  if (item.size == 1) return "|";
  return (std::endian::native == std::endian::little) == item.is_swapped ? ">" : "<";
}

// The buffers that are large enough to be stored after the payload, in the order in
// which the payload refers to them. Holds views of the value.
class LargeBuffers {
 public:
  static bool is_large(BytesView bytes) {
    return bytes.size() >= envelope::kMinStoredSize;
  }

  // Writes the payload's reference to the buffer.
  void add(const BufferParts& row, Writer& out) {
    out.node(NodeTag::kStored, 1);
    out.unsigned_integer(rows_.size());
    rows_.push_back(row);
  }

  std::span<const BufferParts> rows() const { return rows_; }

 private:
  std::vector<BufferParts> rows_;
};

// Writes arrays as the calls that waybill in Python reduces them to. The objects that
// all arrays have in common are written once.
class ArrayWriter {
 public:
  // `out` holds the payload from its first byte on.
  ArrayWriter(Writer& out, LargeBuffers& buffers) : out_(out), buffers_(buffers) {}

  // Returns false, and writes nothing, if the array is invalid.
  bool write(const data::Array& array, Failure& failure) {
    const std::optional<ArrayItem> item = envelope::array_item(array.item);
    if (!item) {
      return refuse(ErrorCode::kRefused,
                    "an array has items of type \"" + std::string(array.item) +
                        "\"; they must be NumPy bool, int, float or complex numbers",
                    failure);
    }
    if (!has_valid_size(array, *item, failure)) return false;
    const bool in_columns = is_fortran(array);
    if (manifest_.imports.empty()) {
      manifest_.imports.resize(2);
      manifest_.imports[kNumeric].module = "numpy._core.numeric";
      manifest_.imports[kNumeric].chain = "numpy._core.numeric._frombuffer";
      manifest_.imports[kNumpy].module = "numpy";
      manifest_.imports[kNumpy].chain = "numpy.dtype";
    }
    out_.node(NodeTag::kObject, 5);
    write_global(from_buffer_, kNumeric, "_frombuffer");
    out_.array(4);
    Type& type = type_of(*item);
    write_memory(array, type, in_columns);
    write_type(type);
    out_.node(NodeTag::kTuple, array.shape.size());
    for (const std::uint64_t extent : array.shape) out_.unsigned_integer(extent);
    out_.text(in_columns ? "F" : "C");
    out_.nil();
    out_.array(0);
    out_.map(0);
    return true;
  }

  // Sets the manifest and the shared positions. They are views of this.
  void add_to(Parts& parts) const {
    if (manifest_.imports.empty()) return;
    parts.manifest = &manifest_;
    parts.shared = shared_;
  }

 private:
  // An object of which the first occurrence is written and the others are references.
  struct SharedObject {
    std::optional<std::uint64_t> position;
    std::optional<std::uint64_t> number;  // The number that its references have.
  };
  struct Type {
    ArrayItem item;
    std::string format;  // As PEP 3118 spells it.
    SharedObject object;
  };

  // Writes a reference if the object is written already; else records its position.
  bool write_reference(SharedObject& object) {
    if (!object.position) {
      object.position = out_.size();
      return false;
    }
    if (!object.number) {
      object.number = shared_.size();
      shared_.push_back(*object.position);
    }
    out_.index(wire::ExtType::kReference, *object.number);
    return true;
  }

  void write_global(SharedObject& global, std::uint64_t module, std::string_view name) {
    if (write_reference(global)) return;
    out_.node(NodeTag::kGlobal, 2);
    out_.index(wire::ExtType::kModule, module);
    out_.text(name);
  }

  Type& type_of(const ArrayItem& item) {
    const auto found = std::ranges::find(types_, item, &Type::item);
    if (found != types_.end()) return *found;
    Type& type = types_.emplace_back();
    type.item = item;
    type.format = format_of(item);
    return type;
  }

  void write_type(Type& type) {
    if (write_reference(type.object)) return;
    out_.node(NodeTag::kObject, 5);
    write_global(dtype_, kNumpy, "dtype");
    out_.array(3);
    out_.text(type.item.kind + std::to_string(type.item.size));
    out_.boolean(false);  // align
    out_.boolean(true);   // copy
    out_.node(NodeTag::kTuple, 8);
    out_.integer(3);  // The version of the state.
    out_.text(order_of(type.item));
    for (int i = 0; i < 3; ++i) out_.nil();  // Only for structured types.
    out_.integer(-1);                        // Default size and alignment.
    out_.integer(-1);
    out_.integer(0);  // Flags.
    out_.array(0);
    out_.map(0);
  }

  void write_memory(const data::Array& array, const Type& type, bool is_fortran) {
    if (!LargeBuffers::is_large(array.bytes)) {
      out_.node(NodeTag::kByteArray, 1);
      out_.binary(array.bytes);
      return;
    }
    std::vector<std::uint64_t>& shape = shapes_.emplace_back(array.shape);
    if (is_fortran) std::ranges::reverse(shape);
    BufferParts row;
    row.kind = wire::BufferKind::kWritable;
    row.bytes = array.bytes;
    row.format = type.format;
    row.shape = shape;
    buffers_.add(row, out_);
  }

  Writer& out_;
  LargeBuffers& buffers_;
  SharedObject from_buffer_;
  SharedObject dtype_;
  std::deque<Type> types_;
  std::deque<std::vector<std::uint64_t>> shapes_;  // The shapes that rows refer to.
  std::vector<std::uint64_t> shared_;
  Manifest manifest_;
};

class ValueWriter {
 public:
  bool write(const Value& root) {
    if (!write_next(root)) return false;
    while (!stack_.empty()) {
      Frame& frame = stack_.back();
      if (frame.next == frame.count) {
        stack_.pop_back();
      } else {
        const std::size_t place = frame.next++;
        if (!write_next(frame.child(place))) return false;
      }
    }
    return true;
  }

  // The parts of the envelope. They are views of this.
  Parts parts(const WriteOptions& options) const {
    Parts parts;
    parts.python = options.python;
    parts.application = options.application;
    parts.key = options.key;
    parts.payload = out_.view();
    parts.buffers = buffers_.rows();
    arrays_.add_to(parts);
    return parts;
  }

  Error error() const { return {failure_.code, 0, path() + ": " + failure_.detail}; }

 private:
  // A container that is being written. The children of a map alternate keys and values.
  struct Frame {
    const std::vector<Value>* items;
    const Map* map;
    std::size_t count;
    std::size_t next = 0;

    const Value& child(std::size_t place) const {
      if (map == nullptr) return (*items)[place];
      const auto& pair = map->pairs[place / 2];
      return place % 2 == 0 ? pair.first : pair.second;
    }
  };

  bool write_next(const Value& value) {
    switch (value.kind()) {
      case Kind::kMap:
        return open_map(*value.get_if<Map>());
      case Kind::kSet:
      case Kind::kFrozenSet:
        return write_set(value);
      case Kind::kSlice:
      case Kind::kRange:
        return is_valid_slice_or_range(value) && open_items(value);
      case Kind::kList:
      case Kind::kTuple:
        return open_items(value);
      case Kind::kArray:
        return arrays_.write(*value.get_if<data::Array>(), failure_);
      case Kind::kBinary:
      case Kind::kByteArray:
        return write_binary(value);
      default:
        return envelope::write_leaf(value, out_, failure_);
    }
  }

  bool open_items(const Value& value) {
    const std::vector<Value>& values = *value.items();
    if (!envelope::is_countable(values.size(), value.kind(), failure_)) return false;
    envelope::write_head(value.kind(), values.size(), out_);
    stack_.push_back({&values, nullptr, values.size()});
    return true;
  }

  bool write_binary(const Value& value) {
    const auto* bytes = value.get_if<data::Binary>();
    BufferParts row;
    row.kind =
        bytes != nullptr ? wire::BufferKind::kBytes : wire::BufferKind::kByteArray;
    row.bytes = bytes != nullptr ? *bytes : value.get_if<data::ByteArray>()->bytes;
    if (!LargeBuffers::is_large(row.bytes)) {
      return envelope::write_leaf(value, out_, failure_);
    }
    buffers_.add(row, out_);
    return true;
  }

  bool open_map(const Map& map) {
    if (!envelope::is_countable(map.pairs.size(), Kind::kMap, failure_) ||
        !envelope::are_keys(map, failure_)) {
      return false;
    }
    out_.map(map.pairs.size());
    stack_.push_back({nullptr, &map, map.pairs.size() * 2});
    return true;
  }

  bool write_set(const Value& value) {
    return envelope::are_keys(*value.items(), failure_) &&
           envelope::write_set(value, out_, failure_);
  }

  bool is_valid_slice_or_range(const Value& value) {
    const char* problem = envelope::problem_of(value);
    if (problem == nullptr) return true;
    failure_ = {ErrorCode::kMalformed, problem};
    return false;
  }

  // The path of the value that was written last, as Python spells it: value['runs'][3].
  std::string path() const {
    std::string text = "value";
    for (std::size_t i = 0; i < stack_.size(); ++i) {
      if (i == kMaxPathSteps) return text + "…";
      text += step(stack_[i]);
    }
    return text;
  }

  static std::string step(const Frame& frame) {
    const std::size_t place = frame.next - 1;
    if (frame.map == nullptr) return "[" + std::to_string(place) + "]";
    const Value& key = frame.map->pairs[place / 2].first;
    if (place % 2 == 0) return ".keys()[" + std::to_string(place / 2) + "]";
    if (const auto* text = key.get_if<std::string>();
        text && text->size() < kMaxPathText) {
      return "['" + envelope::printable_text(*text) + "']";
    }
    return ".values()[" + std::to_string(place / 2) + "]";
  }

  Writer out_;
  LargeBuffers buffers_;
  ArrayWriter arrays_{out_, buffers_};
  std::vector<Frame> stack_;
  Failure failure_{};
};

// Replaces all bytes beyond ASCII if the text is not UTF-8: a bad detail must not fail
// the outcome.
std::string as_utf8(std::string_view text) {
  std::string result(text);
  if (wire::is_utf8(text, wire::Surrogates::kAllowed)) return result;
  std::ranges::replace_if(
      result, [](char letter) { return static_cast<unsigned char>(letter) >= 0x80; },
      '?');
  return result;
}

}  // namespace

Result<std::vector<std::uint8_t>> write_value(const Value& value,
                                              const WriteOptions& options) {
  ValueWriter writer;
  if (!writer.write(value)) return tl::unexpected(writer.error());
  std::vector<std::uint8_t> bytes;
  seal(writer.parts(options), bytes);
  return bytes;
}

Result<void> write_value_to(const std::function<void(BytesView)>& write,
                            const Value& value, const WriteOptions& options) {
  ValueWriter writer;
  if (!writer.write(value)) return tl::unexpected(writer.error());
  seal_to(writer.parts(options), [&](BytesView piece, bool) { write(piece); });
  return {};
}

Result<std::vector<std::uint8_t>> failed_outcome(std::string_view code,
                                                 std::string_view detail,
                                                 const SigningKey* key) {
  using data::Map;
  return write_value(
      Map{{"failed", Map{{"code", as_utf8(code)}, {"detail", as_utf8(detail)}}}},
      {.key = key});
}

}  // namespace waybill
