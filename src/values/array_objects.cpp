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

// As dtype.byteorder of the type in its state.
const char* order_of(const ArrayItem& item) {
  if (item.size == 1) return "|";
  return (std::endian::native == std::endian::little) == item.is_swapped ? ">" : "<";
}

}  // namespace

// Writes a reference if the object is there already; else it is where `out` ends.
bool ArrayObjects::refer(Common& object) {
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

void ArrayObjects::write_global(Common& global, std::uint64_t module,
                                std::string_view name) {
  if (refer(global)) return;
  out_.node(NodeTag::kGlobal, 2);
  out_.index(wire::ExtType::kModule, module);
  out_.text(name);
}

ArrayObjects::Type& ArrayObjects::type_of(const ArrayItem& item) {
  const auto known = std::ranges::find(types_, item, &Type::item);
  if (known != types_.end()) return *known;
  Type& type = types_.emplace_back();
  type.item = item;
  type.format = format_of(item);
  return type;
}

void ArrayObjects::write_type(Type& type) {
  if (refer(type.object)) return;
  out_.node(NodeTag::kObject, 5);
  write_global(dtype_, kNumpy, "dtype");
  out_.array(3);
  out_.text(type.item.kind + std::to_string(type.item.size));
  out_.boolean(false);  // Whether it is aligned,
  out_.boolean(true);   // and whether it is a copy.
  out_.node(NodeTag::kTuple, 8);
  out_.integer(3);  // The version of the state.
  out_.text(order_of(type.item));
  for (int i = 0; i < 3; ++i) out_.nil();  // What only types of several fields have.
  out_.integer(-1);                        // Size and alignment: those of the type.
  out_.integer(-1);
  out_.integer(0);  // Flags.
  out_.array(0);
  out_.map(0);
}

void ArrayObjects::write_memory(const data::Array& array, const Type& type,
                                bool is_fortran) {
  if (!LargeBuffers::takes(array.bytes)) {
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

bool ArrayObjects::write(const data::Array& array, Objection& objection) {
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

void ArrayObjects::put_into(Parts& parts) const {
  if (manifest_.imports.empty()) return;
  parts.manifest = &manifest_;
  parts.shared = shared_;
}

}  // namespace waybill::envelope
