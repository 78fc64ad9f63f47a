// Keys are compared by their encoding, after numbers are normalized: a float or complex
// number that is an integer is written as an int.
// Tested by tests/values/value_keys_test.cpp.

#include "values/value_keys.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <string_view>
#include <vector>

#include "wire/utf8.h"

namespace waybill::envelope {
namespace {

using data::Kind;
using data::Value;
using wire::Writer;

enum class Form : std::uint8_t { kCanonical, kForEquality };

std::string_view view_of(const Writer& writer) { return wire::as_text(writer.view()); }

void append(std::string_view bytes, Writer& out) {
  out.append({reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()});
}

// A finite float without a fraction, as an int of any length.
Value integer_of(double value) {
  constexpr double kBeyond64Bits = 9223372036854775808.0;  // 2^63
  if (std::fabs(value) < kBeyond64Bits) return static_cast<std::int64_t>(value);
  constexpr int kMantissaBits = 53;
  int exponent = 0;
  const double mantissa = std::ldexp(std::frexp(value, &exponent), kMantissaBits);
  const auto digits = static_cast<std::int64_t>(mantissa);
  const auto shift = static_cast<std::size_t>(exponent - kMantissaBits);
  // The mantissa, shifted so that only whole bytes of 0 follow.
  data::Binary bytes;
  const std::uint64_t shifted = static_cast<std::uint64_t>(digits) << (shift % 8);
  for (int i = 7; i >= 0; --i) {
    bytes.push_back(static_cast<std::uint8_t>(shifted >> (8 * i)));
  }
  bytes.resize(bytes.size() + shift / 8);
  return Value::integer(bytes);
}

class KeyWriter {
 public:
  KeyWriter(Form form, Failure& failure) : form_(form), failure_(failure) {}

  bool write(const Value& key, Writer& out, int depth = 0) {
    if (depth > kMaxKeyDepth) {
      failure_ = {
          ErrorCode::kLimitExceeded,
          "a key nests containers more than " + std::to_string(kMaxKeyDepth) + " deep"};
      return false;
    }
    switch (key.kind()) {
      case Kind::kTuple:
        return write_items(key, out, depth);
      case Kind::kFrozenSet:
        return write_sorted(key, out, depth + 1);
      case Kind::kByteArray:
      case Kind::kList:
      case Kind::kSet:
      case Kind::kMap:
      case Kind::kSlice:
      case Kind::kArray:
        failure_ = {ErrorCode::kMalformed,
                    "a " + std::string(name_of(key.kind())) + " cannot be a key"};
        return false;
      case Kind::kRange:
        failure_ = {ErrorCode::kRefused,
                    "a range cannot be a key: only Python can compare ranges"};
        return false;
      case Kind::kReal:
        return write_number(*key.get_if<double>(), out);
      case Kind::kComplex:
        return write_complex(*key.get_if<std::complex<double>>(), out);
      case Kind::kStandard:
        if (form_ == Form::kCanonical) break;
        out.array(2);
        out.text(key.get_if<data::Standard>()->type);
        out.text(key.get_if<data::Standard>()->text);
        return true;
      case Kind::kBoolean:
        if (form_ == Form::kCanonical) break;
        out.integer(*key.get_if<bool>() ? 1 : 0);
        return true;
      default:
        break;
    }
    return write_leaf(key, out, failure_);
  }

  // Writes a set with sorted items. `depth`: that of the items.
  bool write_sorted(const Value& key, Writer& out, int depth) {
    const std::vector<Value>& values = *key.items();
    if (!is_countable(values.size(), key.kind(), failure_)) return false;
    std::vector<std::string> written;
    for (const Value& value : values) {
      Writer scratch;
      if (!write(value, scratch, depth)) return false;
      written.emplace_back(view_of(scratch));
    }
    std::ranges::sort(written);
    if (form_ == Form::kForEquality &&
        std::ranges::adjacent_find(written) != written.end()) {
      failure_ = {ErrorCode::kMalformed, "a frozenset has two equal items"};
      return false;
    }
    write_head(key.kind(), values.size(), out);
    for (const std::string& bytes : written) append(bytes, out);
    return true;
  }

 private:
  bool write_items(const Value& key, Writer& out, int depth) {
    const std::vector<Value>& values = *key.items();
    if (!is_countable(values.size(), key.kind(), failure_)) return false;
    write_head(key.kind(), values.size(), out);
    return std::ranges::all_of(
        values, [&](const Value& value) { return write(value, out, depth + 1); });
  }

  bool write_number(double value, Writer& out) {
    if (std::isnan(value)) {
      failure_ = {ErrorCode::kMalformed,
                  "NaN cannot be a key: it does not equal itself"};
      return false;
    }
    const bool is_integer = std::isfinite(value) && std::trunc(value) == value;
    if (form_ == Form::kCanonical || !is_integer) {
      out.real(value);
      return true;
    }
    return write_leaf(integer_of(value), out, failure_);
  }

  bool write_complex(std::complex<double> value, Writer& out) {
    if (std::isnan(value.real()) || std::isnan(value.imag())) {
      return write_number(std::nan(""), out);
    }
    if (form_ == Form::kForEquality) {
      if (value.imag() == 0) return write_number(value.real(), out);
      value = {value.real() + 0.0, value.imag()};  // -0.0 equals 0.0.
    }
    return write_leaf(value, out, failure_);
  }

  Form form_;
  Failure& failure_;
};

struct EncodedKey {
  std::string_view bytes;
  std::size_t number;
};

template <typename Items, typename KeyOf>
bool can_be_keys(const Items& items, KeyOf key_of, Failure& failure) {
  KeyWriter writer(Form::kForEquality, failure);
  Writer out;
  std::vector<std::size_t> ends;
  for (const auto& item : items) {
    if (!writer.write(std::invoke(key_of, item), out)) return false;
    ends.push_back(out.size());
  }
  std::vector<EncodedKey> written;
  std::size_t start = 0;
  for (const std::size_t end : ends) {
    written.push_back({view_of(out).substr(start, end - start), written.size()});
    start = end;
  }
  std::ranges::stable_sort(written, {}, &EncodedKey::bytes);
  const auto repeated = std::ranges::adjacent_find(written, {}, &EncodedKey::bytes);
  if (repeated == written.end()) return true;
  failure = {ErrorCode::kMalformed,
             "keys number " + std::to_string(repeated->number) + " and " +
                 std::to_string(std::next(repeated)->number) + " are equal"};
  return false;
}

}  // namespace

bool write_set(const Value& set, Writer& out, Failure& failure) {
  return KeyWriter(Form::kCanonical, failure).write_sorted(set, out, 0);
}

bool are_keys(const data::Map& map, Failure& failure) {
  return can_be_keys(map.pairs, &std::pair<Value, Value>::first, failure);
}

bool are_keys(const std::vector<Value>& items, Failure& failure) {
  return can_be_keys(items, std::identity(), failure);
}

}  // namespace waybill::envelope
