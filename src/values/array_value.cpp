// Converts arrays of numbers to nested lists.
// Tested by tests/values/array_value_test.cpp and tests/cli/test_ls.py.

#include <bit>
#include <cmath>
#include <complex>
#include <optional>

#include "parts/array_kinds.h"
#include "waybill/parts.h"
#include "waybill/value.h"

namespace waybill {
namespace {

using data::Value;
using envelope::ArrayItem;

std::uint64_t bits_at(const std::uint8_t* at, std::size_t size, bool is_swapped) {
  std::uint64_t bits = 0;
  const bool is_big = (std::endian::native == std::endian::big) != is_swapped;
  for (std::size_t i = 0; i < size; ++i) {
    const std::uint64_t byte = at[i];
    bits |= byte << (8 * (is_big ? size - 1 - i : i));
  }
  return bits;
}

// IEEE 754 binary16.
double half_of(std::uint64_t bits) {
  const auto exponent = static_cast<int>(bits >> 10 & 0x1f);
  const auto fraction = static_cast<double>(bits & 0x3ff);
  double value = 0;
  if (exponent == 0x1f) {
    value = fraction == 0 ? HUGE_VAL : NAN;
  } else if (exponent == 0) {
    value = std::ldexp(fraction, -24);
  } else {
    value = std::ldexp(fraction + 1024, exponent - 25);
  }
  return (bits & 0x8000) != 0 ? -value : value;
}

double real_of(std::uint64_t bits, std::size_t size) {
  if (size == 2) return half_of(bits);
  if (size == 4) return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
  return std::bit_cast<double>(bits);
}

Value value_of(const ArrayItem& type, const std::uint8_t* at) {
  if (type.kind == 'c') {
    const std::size_t half = type.size / 2;
    return Value(
        std::complex<double>(real_of(bits_at(at, half, type.is_swapped), half),
                             real_of(bits_at(at + half, half, type.is_swapped), half)));
  }
  const std::uint64_t bits = bits_at(at, type.size, type.is_swapped);
  switch (type.kind) {
    case 'b':
      return Value(bits != 0);
    case 'f':
      return Value(real_of(bits, type.size));
    case 'u':
      return Value(bits);
    default: {
      const auto unused = static_cast<unsigned>(64 - 8 * type.size);
      return Value(static_cast<std::int64_t>(bits << unused) >> unused);
    }
  }
}

// Builds nested lists from the inside out: each list is complete before it is added to
// the enclosing one.
class ListBuilder {
 public:
  ListBuilder(const ArrayPart& array, const ArrayItem& type)
      : array_(array), type_(type), strides_(array.shape.size()) {
    const std::size_t count = array.shape.size();
    std::uint64_t stride = type.size;
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t dimension = array.is_fortran ? i : count - 1 - i;
      strides_[dimension] = stride;
      stride *= array.shape[dimension];
    }
  }

  Value build() const { return build(0, 0); }

 private:
  // Recursion is bounded, since an array has at most 64 dimensions.
  Value build(std::size_t dimension, std::uint64_t offset) const {
    if (dimension == array_.shape.size()) {
      return value_of(type_, array_.bytes.data() + offset);
    }
    std::vector<Value> items;
    items.reserve(array_.shape[dimension]);
    for (std::uint64_t i = 0; i < array_.shape[dimension]; ++i) {
      items.push_back(build(dimension + 1, offset + i * strides_[dimension]));
    }
    return Value(data::List(std::move(items)));
  }

  const ArrayPart& array_;
  const ArrayItem& type_;
  std::vector<std::uint64_t> strides_;
};

}  // namespace

Result<data::Value> array_value(const ArrayPart& array, const Limits& limits) {
  const auto fail = [](ErrorCode code, std::string detail) {
    return tl::unexpected(Error{code, 0, std::move(detail)});
  };
  const std::optional<ArrayItem> type = envelope::array_item(array.item);
  if (!type) {
    return fail(ErrorCode::kRefused, "the items of an array are not numbers (" +
                                         array.item + "), and so not plain data");
  }
  std::uint64_t count = 1;  // Items.
  std::uint64_t lists = 0;  // Lists around them.
  bool is_valid = array.shape.size() <= envelope::kMaxDimensions;
  for (const std::uint64_t extent : array.shape) {
    lists += count;
    is_valid = is_valid && !__builtin_mul_overflow(count, extent, &count);
    if (!is_valid || count > limits.max_items || lists > limits.max_items) {
      return fail(ErrorCode::kLimitExceeded,
                  "an array has more items than max_items allows: " +
                      std::to_string(limits.max_items));
    }
  }
  if (count * type->size != array.bytes.size()) {
    return fail(ErrorCode::kRefused,
                "the items of an array are not contiguous; load it with Python");
  }
  return ListBuilder(array, *type).build();
}

}  // namespace waybill
