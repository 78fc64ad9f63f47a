#pragma once

// Plain data as C++ values, to and from envelopes, without Python: read_value() builds
// what waybill.loads(data, policy=waybill.DATA_ONLY) builds in Python.
//
//   using namespace waybill::data;
//   auto bytes = waybill::write_value(Map{{"run", 7}, {"energies", List{0.5, 0.25}}});
//   auto value = waybill::read_value(*bytes);
//   if (!value) return report(value.error());
//   const Map* run = value->get_if<Map>();
//   const Value* energies = run ? run->find("energies") : nullptr;

#include <bit>
#include <complex>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <ranges>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "waybill/bytes.h"
#include "waybill/envelope.h"
#include "waybill/error.h"
#include "waybill/gate.h"
#include "waybill/limits.h"

namespace waybill {

struct ArrayPart;  // waybill/parts.h

namespace data {

class Value;

// The kind of a value. The kind of an integer depends only on its size.
enum class Kind : std::uint8_t {
  kNil,             // Nil: None
  kBoolean,         // bool
  kInteger,         // std::int64_t: an int within its range
  kUnsigned,        // std::uint64_t: a larger int within its range
  kBigInteger,      // BigInteger: an int beyond 64 bits
  kReal,            // double: float
  kComplex,         // std::complex<double>
  kText,            // std::string: str
  kBinary,          // Binary: bytes
  kByteArray,       // ByteArray: bytearray
  kList,            // List
  kTuple,           // Tuple
  kSet,             // Set
  kFrozenSet,       // FrozenSet
  kMap,             // Map: dict
  kSlice,           // Slice: start, stop, step
  kRange,           // Range: start, stop, step
  kEllipsis,        // Ellipsis
  kNotImplemented,  // NotImplemented
  kStandard,        // Standard: a date, a decimal, a path, …
  kArray,           // Array: numpy.ndarray
};

// The name in reports and errors: "none", "bool", "int", …, "dict". Static storage.
std::string_view name_of(Kind kind);

using Nil = std::monostate;
using Binary = std::vector<std::uint8_t>;

struct ByteArray {
  Binary bytes;

  friend bool operator==(const ByteArray&, const ByteArray&) = default;
};

struct Ellipsis {
  friend bool operator==(const Ellipsis&, const Ellipsis&) = default;
};

struct NotImplemented {
  friend bool operator==(const NotImplemented&, const NotImplemented&) = default;
};

// An object of the standard library in the notation of docs/cli.md, of a type "date",
// "time", "datetime", "timedelta", "timezone", "decimal" or "path". It can be read,
// with Objects::kStandard, and not written. Two keys are equal if type and text are.
struct Standard {
  std::string type;
  std::string text;

  friend bool operator==(const Standard&, const Standard&) = default;
};

// An array of numbers, a numpy.ndarray in Python. Only written: read_value() refuses
// arrays, and waybill/parts.h has views of them. Views the caller's bytes and name,
// which must stay unchanged until the array is written.
struct Array {
  // The type of an item in NumPy and ArrayPart: "bool", "int8" to "int64", "uint8" to
  // "uint64", "float16" to "float64", "complex64", "complex128"; with a byte order,
  // "<i4" or ">f8".
  std::string_view item;
  std::vector<std::uint64_t> shape;  // Empty: a single item.
  BytesView bytes;                   // All items, without gaps.
  bool is_fortran = false;           // The first index varies fastest.

  // Compares bytes, so NaN equals NaN.
  friend bool operator==(const Array& a, const Array& b);
};

// An int beyond 64 bits.
class BigInteger {
 public:
  // The shortest big-endian two's complement.
  const Binary& bytes() const { return bytes_; }
  // Decimal digits, with a minus if negative. Cost: quadratic in the length.
  std::string decimal() const;

  friend bool operator==(const BigInteger&, const BigInteger&) = default;

 private:
  friend class Value;
  explicit BigInteger(Binary bytes) : bytes_(std::move(bytes)) {}

  Binary bytes_;
};

// A sequence of values: one type for each kind. Braces contain the items, so
// List{List{1}} contains a list. Compilers before CWG 2137, Clang 14 among them, treat
// braces around a variable of the same type as a copy; List{Value(list)} is portable.
template <Kind kKind>
struct Items {
  std::vector<Value> items;

  Items() = default;
  // NOLINTNEXTLINE(google-explicit-constructor): braces are the items.
  Items(std::initializer_list<Value> values);
  explicit Items(std::vector<Value> values);
};

using List = Items<Kind::kList>;
using Tuple = Items<Kind::kTuple>;
// In any order; write_value() sorts the items, and operator== compares them in order.
using Set = Items<Kind::kSet>;
using FrozenSet = Items<Kind::kFrozenSet>;
// Three items of any kind.
using Slice = Items<Kind::kSlice>;
// Three ints; the last is not 0.
using Range = Items<Kind::kRange>;

// Pairs in order of insertion. Keys may be values that Python can hash: numbers except
// NaN, text, binary, the constants, and tuples and frozensets of these. Ranges are
// refused as keys (kRefused), although Python can hash them.
struct Map {
  std::vector<std::pair<Value, Value>> pairs;

  Map() = default;
  // NOLINTNEXTLINE(google-explicit-constructor): braces are the pairs.
  Map(std::initializer_list<std::pair<Value, Value>> values);
  explicit Map(std::vector<std::pair<Value, Value>> values);

  // The value of a text key; null if there is none. Cost: linear in the number of
  // pairs. Valid until the pairs change.
  const Value* find(std::string_view key) const;
};

template <typename T, typename... Ts>
inline constexpr bool is_one_of = (std::is_same_v<T, Ts> || ...);

// Excludes characters, which C++ treats as numbers, and __int128, which is integral
// with compiler extensions and would lose its upper half.
template <typename T>
concept Number = std::integral<T> && sizeof(T) <= sizeof(std::int64_t) &&
                 !is_one_of<T, bool, char, wchar_t, char8_t, char16_t, char32_t>;

// One value. A tree: it owns everything in it, except the bytes of an Array.
//
// Copying, comparing, moving and destroying do not recurse, so depth is bounded only by
// memory. Copies are deep. Thread-safe when const.
class Value {
 public:
  Value() = default;  // Nil.
  // Accepts exactly these types: pointers and characters do not convert to numbers.
  template <std::same_as<bool> T>
  Value(T value) : content_(value) {}
  template <Number T>
  Value(T value) {
    if constexpr (std::is_signed_v<T>) {
      content_ = static_cast<std::int64_t>(value);
    } else if (value <= static_cast<std::uint64_t>(INT64_MAX)) {
      content_ = static_cast<std::int64_t>(value);
    } else {
      content_ = static_cast<std::uint64_t>(value);
    }
  }
  // Excludes long double, which may not fit a double.
  template <typename T>
    requires is_one_of<T, float, double>
  Value(T value) : content_(static_cast<double>(value)) {}
  template <std::same_as<std::complex<double>> T>
  Value(T value) : content_(value) {}
  // Text is UTF-8 with lone surrogates allowed (Python's "surrogatepass").
  // write_value() checks it.
  Value(std::string value) : content_(std::move(value)) {}
  Value(std::string_view value) : content_(std::string(value)) {}
  Value(const char* value) : content_(std::string(value)) {}
  Value(std::nullptr_t) = delete;
  Value(Binary value) : content_(std::move(value)) {}
  Value(ByteArray value) : content_(std::move(value)) {}
  template <Kind kKind>
  Value(Items<kKind> value) : content_(std::move(value)) {}
  Value(Map value) : content_(std::move(value)) {}
  Value(Ellipsis value) : content_(value) {}
  Value(NotImplemented value) : content_(value) {}
  Value(BigInteger value) : content_(std::move(value)) {}
  Value(Standard value) : content_(std::move(value)) {}
  Value(Array value) : content_(std::move(value)) {}
  // An int of any length from big-endian two's complement; its size decides its kind.
  // An empty view means 0.
  static Value integer(BytesView twos_complement);

  Value(const Value& other);
  Value(Value&& other) noexcept = default;
  Value& operator=(const Value& other);
  Value& operator=(Value&& other) noexcept;
  ~Value() {
    if (holds_values()) dismantle();
  }

  Kind kind() const { return static_cast<Kind>(content_.index()); }
  bool is_nil() const { return kind() == Kind::kNil; }

  // The content if it has this type, else null; without conversion. The types are those
  // of Kind.
  template <typename T>
  const T* get_if() const& {
    return std::get_if<T>(&content_);
  }
  template <typename T>
  const T* get_if() && = delete;  // The content belongs to the value.
  // The items of a list, tuple, set, frozenset, slice or range; null for other kinds.
  const std::vector<Value>* items() const&;
  const std::vector<Value>* items() && = delete;  // The items belong to the value.

  // Whether kind and content are equal: 1 equals neither 1.0 nor true, pairs and items
  // are compared in order, and NaN equals nothing.
  friend bool operator==(const Value& a, const Value& b);

 private:
  friend struct ValueAccess;

  // In the order of Kind.
  using Content = std::variant<Nil, bool, std::int64_t, std::uint64_t, BigInteger,
                               double, std::complex<double>, std::string, Binary,
                               ByteArray, List, Tuple, Set, FrozenSet, Map, Slice,
                               Range, Ellipsis, NotImplemented, Standard, Array>;

  bool holds_values() const { return kind() >= Kind::kList && kind() <= Kind::kRange; }
  void dismantle() noexcept;

  Content content_;
};

template <Kind kKind>
Items<kKind>::Items(std::initializer_list<Value> values) : items(values) {}
template <Kind kKind>
Items<kKind>::Items(std::vector<Value> values) : items(std::move(values)) {}

// A C++ type that can be an item of an array.
template <typename T>
concept Item =
    Number<T> ||
    is_one_of<T, bool, float, double, std::complex<float>, std::complex<double>>;

// The name of the type in Array. Static storage.
template <Item T>
constexpr std::string_view item_name() {
  constexpr std::string_view kSigned[] = {"int8", "int16", "int32", "int64"};
  constexpr std::string_view kUnsigned[] = {"uint8", "uint16", "uint32", "uint64"};
  if constexpr (std::is_same_v<T, bool>) return "bool";
  if constexpr (std::is_same_v<T, float>) return "float32";
  if constexpr (std::is_same_v<T, double>) return "float64";
  if constexpr (std::is_same_v<T, std::complex<float>>) return "complex64";
  if constexpr (std::is_same_v<T, std::complex<double>>) return "complex128";
  if constexpr (std::is_integral_v<T>) {
    return (std::is_signed_v<T> ? kSigned : kUnsigned)[std::countr_zero(sizeof(T))];
  }
}

// An array of contiguous numbers, such as those of a vector or span, which must outlive
// the array.
template <std::ranges::contiguous_range Numbers>
  requires std::ranges::borrowed_range<Numbers> &&
           Item<std::ranges::range_value_t<Numbers>>
Array array_of(Numbers&& numbers, std::vector<std::uint64_t> shape,
               bool is_fortran = false) {
  using T = std::ranges::range_value_t<Numbers>;
  const auto* first = reinterpret_cast<const std::uint8_t*>(std::ranges::data(numbers));
  const std::size_t size = std::ranges::size(numbers) * sizeof(T);
  return {item_name<T>(), std::move(shape), {first, size}, is_fortran};
}

}  // namespace data

// Opens and verifies an envelope, and builds its value. Shared objects are copied at
// each reference; the copies count towards values (max_unfolded), depth (max_depth) and
// bytes (max_memory), so the value nests no deeper than max_depth. A stored buffer
// becomes bytes, or a bytearray if its owner may write to it; kTruncated if only the
// head was opened. Applies the restrictions of the process (restrict_process).
//
// Errors: those of open_whole() and verify(); kRefused for values other than plain data
// (modules, functions, objects, …), with the kind of the node, its name and path, for
// containers that contain themselves, and for imports and code; kMalformed for equal
// keys and invalid ones; kLimitExceeded.
// Cost: two passes over the payload; keys of maps are copied and sorted.
[[nodiscard]] Result<data::Value> read_value(BytesView bytes,
                                             const Limits& limits = kStrictLimits);

// How read_value() treats objects. A constructor is only a name in the payload; nothing
// is imported or called.
enum class Objects : std::uint8_t {
  kRefused,
  kStandard,  // Types that data::Standard lists are read; others are refused.
};

// read_value() with a gate, which may require a signature. Only plain data is accepted,
// whatever the gate allows. Errors: those of Gate::open_trusted() too.
[[nodiscard]] Result<data::Value> read_value(BytesView bytes, const Gate& gate,
                                             Objects objects = Objects::kRefused);

// read_value() for an envelope that was verified with these limits.
[[nodiscard]] Result<data::Value> read_value(const VerifiedEnvelope& envelope,
                                             const Limits& limits = kStrictLimits,
                                             Objects objects = Objects::kRefused);

// The items of an array of numbers as nested lists, one level for each dimension.
//
// Errors, with offset 0: kRefused for items other than bools, ints, floats and complex
// numbers of NumPy's usual sizes, and for items that are not contiguous; kLimitExceeded
// for more than limits.max_items. Cost: linear.
[[nodiscard]] Result<data::Value> array_value(const ArrayPart& array,
                                              const Limits& limits = kStrictLimits);

struct WriteOptions {
  // The Python version in the header. Irrelevant for plain data; with the version of a
  // Python, the bytes equal those of its waybill.dumps(). The default names no Python.
  PythonVersion python = {};
  // See Envelope; less than 4 GiB.
  BytesView application = {};
  // Signs the envelope; null: it is unsigned.
  const SigningKey* key = nullptr;
};

// Encodes a value as an envelope, which any Python with waybill reads; with arrays, any
// Python with NumPy 2 or later. Deterministic. The bytes equal Python's for the same
// data if no Python object occurs twice in it, except that arrays share item types.
// Arrays, Binary and ByteArray of 64 KiB and more are stored buffers, which a reader
// may map.
//
// Errors, with the path to the culprit in the detail, and offset 0: kMalformed for
// invalid UTF-8, equal or invalid keys (Map), invalid slices and ranges, and arrays
// whose bytes do not fit item and shape; kRefused for Standard, and for arrays of other
// items; kLimitExceeded for 2^32 bytes or items outside of stored buffers, and for keys
// nested more than 15 deep. Cost: one pass over the value, two copies of its bytes, one
// copy of stored buffers; keys are copied and sorted.
[[nodiscard]] Result<std::vector<std::uint8_t>> write_value(
    const data::Value& value, const WriteOptions& options = {});

// Passes the envelope to `write` piece by piece, for files and sockets: the head, and
// then stored buffers where they are in memory, with padding between. Pieces are valid
// until `write` returns; its exceptions propagate. After an error `write` has not been
// called. Cost: two copies of everything but stored buffers, which are read twice, the
// first time for digests.
[[nodiscard]] Result<void> write_value_to(const std::function<void(BytesView)>& write,
                                          const data::Value& value,
                                          const WriteOptions& options = {});

}  // namespace waybill
