// What NumPy 2 gives for an array without gaps: _frombuffer(memory, dtype, shape,
// order). dtype("f8", False, True) gets the order of its bytes as a state.
// src/parts/array_kinds.cpp reads the same.
// Tested by tests/values/array_test.cpp and tests/libraries/test_arrays_from_cpp.py.

#include "values/array_objects.h"

#include <algorithm>
#include <bit>

namespace waybill::envelope {
namespace {

using wire::NodeTag;

// From so many bytes on memory stands behind the payload, as in Python.
constexpr std::size_t kLeastStored = 64 << 10;
constexpr std::size_t kMostDimensions = 64;  // Of NumPy.

// Imports of the manifest.
enum Module : std::uint64_t { kNumeric, kNumpy };

bool refuse(ErrorCode code, std::string detail, Objection& objection) {
  objection = {code, std::move(detail)};
  return false;
}

// Whether the bytes are what item and shape say. An extent of 0 does not make up for
// the others, nor does it in NumPy.
bool is_sound(const data::Array& array, const ArrayItem& item, Objection& objection) {
  if (array.shape.size() > kMostDimensions) {
    return refuse(ErrorCode::kMalformed,
                  "an array of " + std::to_string(array.shape.size()) +
                      " dimensions, and NumPy has 64 at most",
                  objection);
  }
  auto size = static_cast<std::int64_t>(item.size);
  bool is_empty = false;
  for (const std::uint64_t extent : array.shape) {
    if (extent == 0) {
      is_empty = true;
    } else if (__builtin_mul_overflow(size, extent, &size)) {
      return refuse(ErrorCode::kMalformed, "an array of 2^63 bytes or more", objection);
    }
  }
  if (is_empty) size = 0;
  if (array.bytes.size() == static_cast<std::uint64_t>(size)) return true;
  return refuse(ErrorCode::kMalformed,
                "an array of " + std::to_string(array.bytes.size()) +
                    " bytes, of which " + std::string(array.item) +
                    " and its shape make " + std::to_string(size),
                objection);
}

// Where no index varies but one, both orders are the same, and NumPy says "C".
bool is_fortran(const data::Array& array) {
  return array.is_fortran && !array.bytes.empty() &&
         std::ranges::count_if(array.shape, [](auto extent) { return extent != 1; }) >
             1;
}

// As the buffer of an array tells it. Where int64_t is long, that is what NumPy takes.
std::string format_of(const ArrayItem& item) {
  constexpr bool kHasLong = sizeof(long) == sizeof(std::int64_t);
  const bool is_long = kHasLong && item.size == 8 && !item.is_swapped;
  const auto at = [&](const char* letters) {
    return letters[std::countr_zero(item.size)];
  };
  constexpr char kForeign = std::endian::native == std::endian::little ? '>' : '<';
  std::string format;
  if (item.is_swapped && item.size > 1) format += kForeign;
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

// As dtype.byteorder of the type in its state.
const char* order_of(const ArrayItem& item) {
  if (item.size == 1) return "|";
  return (std::endian::native == std::endian::little) == item.is_swapped ? ">" : "<";
}

}  // namespace

// Writes a reference if the object is there already; else it is where `out` ends.
bool ArrayObjects::refer(Common& object, wire::Writer& out) {
  if (!object.position) {
    object.position = out.size();
    return false;
  }
  if (!object.number) {
    object.number = shared_.size();
    shared_.push_back(*object.position);
  }
  out.index(wire::ExtType::kReference, *object.number);
  return true;
}

void ArrayObjects::write_global(Common& global, std::uint64_t module,
                                std::string_view name, wire::Writer& out) {
  if (refer(global, out)) return;
  out.node(NodeTag::kGlobal, 2);
  out.index(wire::ExtType::kModule, module);
  out.text(name);
}

ArrayObjects::Type& ArrayObjects::type_of(const ArrayItem& item) {
  const auto known = std::ranges::find(types_, item, &Type::item);
  if (known != types_.end()) return *known;
  Type& type = types_.emplace_back();
  type.item = item;
  type.format = format_of(item);
  return type;
}

void ArrayObjects::write_type(const ArrayItem& item, wire::Writer& out) {
  if (refer(type_of(item).object, out)) return;
  out.node(NodeTag::kObject, 5);
  write_global(dtype_, kNumpy, "dtype", out);
  out.array(3);
  out.text(item.kind + std::to_string(item.size));
  out.boolean(false);  // Whether it is aligned,
  out.boolean(true);   // and whether it is a copy.
  out.node(NodeTag::kTuple, 8);
  out.integer(3);  // The version of the state.
  out.text(order_of(item));
  for (int i = 0; i < 3; ++i) out.nil();  // What only types of several fields have.
  out.integer(-1);                        // Size and alignment: those of the type.
  out.integer(-1);
  out.integer(0);  // Flags.
  out.array(0);
  out.map(0);
}

void ArrayObjects::write_memory(const data::Array& array, const ArrayItem& item,
                                bool is_fortran, wire::Writer& out) {
  if (array.bytes.size() < kLeastStored) {
    out.node(NodeTag::kByteArray, 1);
    out.binary(array.bytes);
    return;
  }
  std::vector<std::uint64_t>& shape = shapes_.emplace_back(array.shape);
  if (is_fortran) std::ranges::reverse(shape);
  BufferParts& row = buffers_.emplace_back();
  row.kind = wire::BufferKind::kWritable;
  row.bytes = array.bytes;
  row.format = type_of(item).format;
  row.shape = shape;
  out.node(NodeTag::kStored, 1);
  out.unsigned_integer(buffers_.size() - 1);
}

bool ArrayObjects::write(const data::Array& array, wire::Writer& out,
                         Objection& objection) {
  const std::optional<ArrayItem> item = array_item(array.item);
  if (!item) {
    return refuse(ErrorCode::kRefused,
                  "an array of \"" + std::string(array.item) +
                      "\", which is no bool, int, float or complex number of NumPy's",
                  objection);
  }
  if (!is_sound(array, *item, objection)) return false;
  const bool in_columns = is_fortran(array);
  if (manifest_.imports.empty()) {
    manifest_.imports.resize(2);
    manifest_.imports[kNumeric].module = "numpy._core.numeric";
    manifest_.imports[kNumeric].chain = "numpy._core.numeric._frombuffer";
    manifest_.imports[kNumpy].module = "numpy";
    manifest_.imports[kNumpy].chain = "numpy.dtype";
  }
  out.node(NodeTag::kObject, 5);
  write_global(from_buffer_, kNumeric, "_frombuffer", out);
  out.array(4);
  write_memory(array, *item, in_columns, out);
  write_type(*item, out);
  out.node(NodeTag::kTuple, array.shape.size());
  for (const std::uint64_t extent : array.shape) out.unsigned_integer(extent);
  out.text(in_columns ? "F" : "C");
  out.nil();
  out.array(0);
  out.map(0);
  return true;
}

void ArrayObjects::put_into(Parts& parts) const {
  if (manifest_.imports.empty()) return;
  parts.manifest = &manifest_;
  parts.shared = shared_;
  parts.buffers = buffers_;
}

}  // namespace waybill::envelope
