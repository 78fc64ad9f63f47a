// One row for each callable that makes arrays or tensors. The arguments are those of
// NumPy 1.26 to 2.4 and PyTorch 2.0 to 2.9. Tested by
// tests/python/api/test_open.py and tests/libraries/test_torch.py; items by
// tests/values/array_value_test.cpp.

#include "parts/array_kinds.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <utility>

#include "report/value_text.h"

namespace waybill::envelope {
namespace {

using MaybeArray = std::optional<NamedArray>;
using Views = std::vector<ValueView>;
using wire::NodeTag;
using wire::TokenType;

// NumPy 2 renamed the module.
constexpr std::array<std::string_view, 2> kFromBuffer = {
    "numpy._core.numeric._frombuffer", "numpy.core.numeric._frombuffer"};

constexpr std::size_t kArguments = position_of(NodeTag::kObject, "args");
constexpr std::size_t kState = position_of(NodeTag::kObject, "state");

// The values in a container; none if it has more than arrays can have dimensions.
Views parts_of(const ValueView& value) {
  Views parts;
  if (value.token().count > kMaxDimensions + 1) return parts;
  for (const std::size_t offset : value.values()) {
    parts.emplace_back(value.envelope(), offset);
  }
  return parts;
}

// The arguments of the call that makes an object.
Views arguments_of(const ValueView& object) {
  return object.is(NodeTag::kObject) ? parts_of(object.part(kArguments)) : Views();
}

// The items of a state that is a tuple.
Views fields_of(const ValueView& object) {
  const ValueView state = object.part(kState);
  return state.is(NodeTag::kTuple) ? parts_of(state) : Views();
}

std::optional<std::vector<std::uint64_t>> numbers_in(const ValueView& tuple) {
  std::vector<std::uint64_t> numbers;
  if (tuple.token().count > kMaxDimensions + 1) return std::nullopt;
  for (const ValueView& item : parts_of(tuple)) {
    const auto number = item.number();
    if (!number) return std::nullopt;
    numbers.push_back(*number);
  }
  return numbers;
}

// Takes all memory of a stored buffer, a bytearray or a bytes object as the items.
void set_bytes(const ValueView& memory, ArrayPart& array) {
  if (memory.token().type == TokenType::kBinary) {
    array.bytes = memory.token().bytes;
  } else if (memory.is(NodeTag::kByteArray)) {
    array.bytes = memory.part(0).token().bytes;
  } else if (const StoredBuffer* row = memory.stored()) {
    array.buffer = static_cast<std::size_t>(row - memory.envelope().buffers.data());
    array.length = row->length;
    if (!row->compression) array.bytes = row->bytes;
    return;
  }
  array.length = array.bytes.size();
}

// Narrows the items to a part of the memory; to nothing if they are not in it.
void narrow(ArrayPart& array, bool is_contiguous, std::uint64_t start,
            std::uint64_t length) {
  const bool fits =
      is_contiguous && start <= array.length && length <= array.length - start;
  array.start = fits ? start : 0;
  array.length = fits ? length : 0;
  const bool has_bytes = fits && !array.bytes.empty();
  array.bytes = has_bytes ? array.bytes.subspan(start, length) : BytesView();
}

// "float64" for "f8", the argument of numpy.dtype().
std::string item_name(std::string_view code, std::string_view order) {
  constexpr auto kNames = std::to_array<std::pair<char, std::string_view>>({
      {'b', "bool"},
      {'i', "int"},
      {'u', "uint"},
      {'f', "float"},
      {'c', "complex"},
      {'O', "object"},
      {'M', "datetime64"},
      {'m', "timedelta64"},
  });
  constexpr std::string_view kForeign =
      std::endian::native == std::endian::little ? ">" : "<";
  if (code.empty()) return {};
  if (order == kForeign) return std::string(order).append(code);
  const auto name =
      std::ranges::find(kNames, code[0], &std::pair<char, std::string_view>::first);
  if (code[0] == 'U') return std::string(order).append(code);  // "<U5"
  if (name == kNames.end()) return std::string(code);          // "V12", "S5"
  std::string text(name->second);
  if (code[0] == 'b' || code[0] == 'O' || code[0] == 'M' || code[0] == 'm') return text;
  std::uint64_t bytes = 0;
  for (const char digit : code.substr(1)) {
    if (digit < '0' || digit > '9' || bytes > 1000) return std::string(code);
    bytes = bytes * 10 + static_cast<std::uint64_t>(digit - '0');
  }
  return text + std::to_string(bytes * 8);
}

// The item name of a numpy.dtype object, whose argument is a type code and whose state
// has the byte order. Empty for other objects.
std::string numpy_item(const ValueView& type) {
  const Views arguments = arguments_of(type);
  if (arguments.empty()) return {};
  constexpr std::size_t kOrder = 1;
  const Views fields = fields_of(type);
  const std::string_view order = fields.size() > kOrder ? fields[kOrder].text() : "";
  const ValueView& code = arguments[0];
  return code.is_text() ? item_name(code.text(), order) : name_of(code);
}

// Reorders the shape of the memory to that of the array; false if the axes are invalid.
bool reorder(std::vector<std::uint64_t>& shape,
             const std::vector<std::uint64_t>& axes) {
  if (axes.size() != shape.size()) return false;
  std::vector<std::uint64_t> ordered;
  for (const std::uint64_t axis : axes) {
    if (axis >= shape.size()) return false;
    ordered.push_back(shape[axis]);
  }
  shape = std::move(ordered);
  return true;
}

// Bytes of an item that is a number; 0 for others.
std::size_t item_size(std::string_view name) {
  if (name == "bfloat16") return 2;  // PyTorch only.
  const std::optional<ArrayItem> item = array_item(name);
  return item ? item->size : 0;
}

// Whether items are contiguous, with the last index varying fastest. `item`: the size
// of an item in the unit of the strides.
bool has_contiguous_strides(const std::vector<std::uint64_t>& shape,
                            const std::vector<std::uint64_t>& strides,
                            std::uint64_t item) {
  std::uint64_t expected = item;
  for (std::size_t i = shape.size(); i-- != 0;) {
    if (shape[i] != 1 && strides[i] != expected) return false;
    if (__builtin_mul_overflow(expected, shape[i], &expected)) return false;
  }
  return true;
}

// Narrows an array to the items from byte `start` on, if they are contiguous.
void narrow_to_items(ArrayPart& array, bool is_contiguous, std::uint64_t start) {
  std::uint64_t length = item_size(array.item);
  is_contiguous = is_contiguous && length != 0;
  for (const std::uint64_t extent : array.shape) {
    is_contiguous = is_contiguous && !__builtin_mul_overflow(length, extent, &length);
  }
  narrow(array, is_contiguous, start, length);
}

// _frombuffer(memory, dtype, shape, order, axes). Since NumPy 2.3 the order may be "K":
// the shape is then that of the memory, and `axes` gives the order of the array's.
MaybeArray numpy_from_buffer(const ValueView& object) {
  const Views arguments = arguments_of(object);
  if (arguments.size() < 4) return {};
  auto shape = numbers_in(arguments[2]);
  const std::string_view order = arguments[3].text();
  if (!shape) return {};
  if (order == "K") {
    const auto axes = arguments.size() > 4 ? numbers_in(arguments[4]) : std::nullopt;
    if (!axes || !reorder(*shape, *axes)) return {};
  }
  NamedArray found{"numpy.ndarray", {}};
  found.array.item = numpy_item(arguments[1]);
  found.array.shape = *std::move(shape);
  found.array.is_fortran = order == "F";
  if (order == "C" || order == "F") set_bytes(arguments[0], found.array);
  return found;
}

// _reconstruct(type, (0,), b"b") with the state (version, shape, dtype, is_fortran,
// items). Items are bytes, or a list of objects.
MaybeArray numpy_reconstruct(const ValueView& object) {
  const Views arguments = arguments_of(object);
  const Views fields = fields_of(object);
  if (arguments.size() != 3 || fields.size() != 5) return {};
  auto shape = numbers_in(fields[1]);
  if (!shape) return {};
  NamedArray found{name_of(arguments[0]), {}};
  found.array.item = numpy_item(fields[2]);
  found.array.shape = *std::move(shape);
  found.array.is_fortran = fields[3].is_true();
  set_bytes(fields[4], found.array);
  return found;
}

// ndarray(shape, dtype, memory, start, strides): an array that shares the memory of
// another one.
MaybeArray numpy_view(const ValueView& object) {
  const Views arguments = arguments_of(object);
  if (arguments.size() != 5) return {};
  auto shape = numbers_in(arguments[0]);
  if (!shape) return {};
  NamedArray found{"numpy.ndarray", {}};
  ArrayPart& array = found.array;
  array.item = numpy_item(arguments[1]);
  array.shape = *std::move(shape);
  const ValueView& memory = arguments[2];
  const std::string callable = name_of(memory);
  const MaybeArray whole = std::ranges::find(kFromBuffer, callable) == kFromBuffer.end()
                               ? std::nullopt
                               : numpy_from_buffer(memory);
  const auto start = arguments[3].number();
  const auto strides = numbers_in(arguments[4]);
  if (!whole || !start || !strides || strides->size() != array.shape.size()) {
    return found;
  }
  array.bytes = whole->array.bytes;
  array.buffer = whole->array.buffer;
  array.length = whole->array.length;
  narrow_to_items(array,
                  has_contiguous_strides(array.shape, *strides, item_size(array.item)),
                  *start);
  return found;
}

// _rebuild_tensor_v2(storage, offset, shape, strides, …). Two calls of
// waybill._kinds.torch_storages make the storage from memory.
MaybeArray torch_tensor(const ValueView& object) {
  const Views arguments = arguments_of(object);
  if (arguments.size() < 4) return {};
  const Views typed = arguments_of(arguments[0]);
  auto shape = numbers_in(arguments[2]);
  const auto strides = numbers_in(arguments[3]);
  const auto first = arguments[1].number();
  if (typed.size() != 2 || !shape || !strides || !first ||
      shape->size() != strides->size()) {
    return {};
  }
  NamedArray found{"torch.Tensor", {}};
  ArrayPart& array = found.array;
  constexpr std::string_view kModule = "torch.";
  array.item = name_of(typed[1]);
  if (array.item.starts_with(kModule)) array.item.erase(0, kModule.size());
  array.shape = *std::move(shape);
  const Views untyped = arguments_of(typed[0]);
  if (untyped.size() == 1 || untyped.size() == 2) set_bytes(untyped[0], array);
  std::uint64_t start = 0;
  const bool has_offset =
      has_contiguous_strides(array.shape, *strides, 1) &&
      !__builtin_mul_overflow(*first, item_size(array.item), &start);
  narrow_to_items(array, has_offset, start);
  return found;
}

// _rebuild_parameter(tensor, …)
MaybeArray torch_parameter(const ValueView& object) {
  const Views arguments = arguments_of(object);
  if (arguments.empty()) return {};
  const ValueView& data = arguments[0];
  if (!data.is(NodeTag::kObject)) return {};
  MaybeArray found = torch_tensor(data);
  if (found) found->type = "torch.nn.Parameter";
  return found;
}

struct Row {
  std::string_view callable;
  MaybeArray (*read)(const ValueView&);
};
constexpr auto kRows = std::to_array<Row>({
    {kFromBuffer[0], numpy_from_buffer},
    {kFromBuffer[1], numpy_from_buffer},
    {"numpy._core.multiarray._reconstruct", numpy_reconstruct},
    {"numpy.core.multiarray._reconstruct", numpy_reconstruct},
    {"numpy.ndarray", numpy_view},
    {"torch._utils._rebuild_tensor_v2", torch_tensor},
    {"torch._utils._rebuild_parameter", torch_parameter},
});

bool read_size(std::string_view digits, std::size_t& size) {
  const char* end = digits.data() + digits.size();
  const auto [stopped, error] = std::from_chars(digits.data(), end, size);
  return error == std::errc() && stopped == end;
}

}  // namespace

std::optional<NamedArray> array_of(const ValueView& object, std::string_view callable) {
  if (!object.is(NodeTag::kObject)) return std::nullopt;
  const auto row = std::ranges::find(kRows, callable, &Row::callable);
  return row == kRows.end() ? std::nullopt : row->read(object);
}

std::optional<ArrayItem> array_item(std::string_view name) {
  ArrayItem item;
  if (name == "bool") return ArrayItem{'b', 1, false};
  const bool has_order = name.starts_with('<') || name.starts_with('>');
  if (has_order) {
    constexpr char kNative = std::endian::native == std::endian::little ? '<' : '>';
    item.is_swapped = name[0] != kNative;
    item.kind = name.size() > 1 ? name[1] : '\0';
    if (!read_size(name.substr(std::min<std::size_t>(2, name.size())), item.size)) {
      return std::nullopt;
    }
    item.is_swapped = item.is_swapped && item.size > 1;
  } else {
    const std::size_t digits = std::min(name.find_first_of("0123456789"), name.size());
    const std::string_view kind = name.substr(0, digits);
    item.kind = kind == "float"     ? 'f'
                : kind == "int"     ? 'i'
                : kind == "uint"    ? 'u'
                : kind == "complex" ? 'c'
                                    : '\0';
    if (!read_size(name.substr(digits), item.size) || item.size % 8 != 0) {
      return std::nullopt;
    }
    item.size /= 8;
  }
  const bool is_integer = item.kind == 'i' || item.kind == 'u';
  const bool is_power_of_two = std::has_single_bit(item.size) && item.size <= 8;
  if (is_integer && is_power_of_two) return item;
  if (item.kind == 'f' && is_power_of_two && item.size >= 2) return item;
  if (item.kind == 'c' && (item.size == 8 || item.size == 16)) return item;
  return std::nullopt;
}

}  // namespace waybill::envelope
