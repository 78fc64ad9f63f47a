#pragma once

// Plain data as C++ values, to and from envelopes, without Python: what
// waybill.loads(data, policy=waybill.DATA_ONLY) builds there, read_value() builds here.
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

// What a value is. Integers are of one kind each, by their size alone.
enum class Kind : std::uint8_t {
  kNil,             // Nil: None
  kBoolean,         // bool
  kInteger,         // std::int64_t: an int within its range
  kUnsigned,        // std::uint64_t: an int beyond that
  kBigInteger,      // BigInteger: an int beyond both
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

// As reports and errors spell it: "none", "bool", "int", …, "dict". Static storage.
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

// An object of the standard library, as docs/cli.md writes it: of a type "date",
// "time", "datetime", "timedelta", "timezone", "decimal" or "path". Only read, and only
// where Objects::kStandard asks for it. As keys, two are equal if they are written
// alike.
struct Standard {
  std::string type;
  std::string text;

  friend bool operator==(const Standard&, const Standard&) = default;
};

// An array of numbers, which is a numpy.ndarray in Python. Only written: read_value()
// refuses arrays, and waybill/parts.h has views of them where they lie. The bytes are
// not copied, nor is the name: both are others', and have to stay as they are until the
// array is written.
struct Array {
  // What an item is, as NumPy and ArrayPart spell it: "bool", "int8" to "int64",
  // "uint8" to "uint64", "float16" to "float64", "complex64", "complex128"; in an order
  // of bytes that is told, "<i4" or ">f8".
  std::string_view item;
  std::vector<std::uint64_t> shape;  // Of one item, if it is empty.
  BytesView bytes;                   // All items, without gaps.
  bool is_fortran = false;           // The first index varies fastest.

  // Goes by the bytes, so NaN equals NaN.
  friend bool operator==(const Array& a, const Array& b);
};

// An int beyond 64 bits.
class BigInteger {
 public:
  // Big-endian two's complement, as short as value and sign allow.
  const Binary& bytes() const { return bytes_; }
  // Decimal digits, after a minus if it is negative. Cost: the square of the length.
  std::string decimal() const;

  friend bool operator==(const BigInteger&, const BigInteger&) = default;

 private:
  friend class Value;
  explicit BigInteger(Binary bytes) : bytes_(std::move(bytes)) {}

  Binary bytes_;
};

// Values in a row: one type for each kind. A list of braces is the items, so
// List{List{1}} holds a list. Compilers before CWG 2137, Clang 14 among them, take
// braces around a variable of the same type for a copy of it: List{Value(list)} is the
// same with all.
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
// In any order; write_value() sorts, and equality goes by the order that is there.
using Set = Items<Kind::kSet>;
using FrozenSet = Items<Kind::kFrozenSet>;
// Three items, each of any kind.
using Slice = Items<Kind::kSlice>;
// Three items, which are ints; the last is not 0.
using Range = Items<Kind::kRange>;

// Pairs in the order in which they were put there. Keys may be what Python can hash:
// numbers but NaN, text, binary, the constants, and tuples and frozensets of these.
// Ranges are the exception: Python takes them as keys, here they are kRefused.
struct Map {
  std::vector<std::pair<Value, Value>> pairs;

  Map() = default;
  // NOLINTNEXTLINE(google-explicit-constructor): braces are the pairs.
  Map(std::initializer_list<std::pair<Value, Value>> values);
  explicit Map(std::vector<std::pair<Value, Value>> values);

  // The value under a key that is this text; null if there is none. Cost: by the
  // number of pairs. Valid as long as the pairs stay.
  const Value* find(std::string_view key) const;
};

template <typename T, typename... Ts>
inline constexpr bool is_one_of = (std::is_same_v<T, Ts> || ...);

// Not characters, which look like numbers to C++, nor __int128, which is integral where
// extensions of the compiler are on and would lose its upper half.
template <typename T>
concept Number = std::integral<T> && sizeof(T) <= sizeof(std::int64_t) &&
                 !is_one_of<T, bool, char, wchar_t, char8_t, char16_t, char32_t>;

// One value. A tree: it owns all that is in it, but for the bytes of an Array, and no
// two share anything else.
//
// Copying, comparing, moving and destroying take no stack in proportion to depth, so
// values may nest as deep as memory lasts. Copies are deep. Thread-safe when const.
class Value {
 public:
  Value() = default;  // Nil.
  // Only what is one of these already: neither pointers nor characters become numbers.
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
  // Not long double, which may be beyond a double.
  template <typename T>
    requires is_one_of<T, float, double>
  Value(T value) : content_(static_cast<double>(value)) {}
  template <std::same_as<std::complex<double>> T>
  Value(T value) : content_(value) {}
  // Text is UTF-8, in which surrogates may stand alone, as Python's "surrogatepass" has
  // it. write_value() checks that.
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
  // An int of any length, from big-endian two's complement; of the kind that its size
  // asks for. No bytes are 0.
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

  // What is in it if it is of that type, else null; nothing is converted. The types are
  // those of Kind.
  template <typename T>
  const T* get_if() const& {
    return std::get_if<T>(&content_);
  }
  template <typename T>
  const T* get_if() && = delete;  // It is the value's.
  // What items a list, tuple, set, frozenset, slice or range has; null of other kinds.
  const std::vector<Value>* items() const&;
  const std::vector<Value>* items() && = delete;  // They are the value's.

  // Whether both are of the same kind and have the same content: 1 is neither 1.0 nor
  // true here, pairs and items are compared in order, and NaN equals nothing.
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

// What is an item of an array to C++.
template <typename T>
concept Item =
    Number<T> ||
    is_one_of<T, bool, float, double, std::complex<float>, std::complex<double>>;

// How Array spells it. Static storage.
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

// The array of numbers that lie in a row somewhere: in a vector, say, or in a span of
// what a library has. They have to outlive it.
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

// Opens and verifies an envelope, and builds its value. Objects that the payload refers
// to again are copied; what that comes to is counted each time, in values
// (max_unfolded), depth (max_depth) and bytes (max_memory). So the value nests no
// deeper than max_depth. A stored buffer is bytes, or a bytearray if its owner may
// write to it, whatever its items are; kTruncated if only the head was opened. Holds to
// the ceiling of the process too (restrict_process).
//
// Errors: those of open_whole() and verify(); kRefused for what is no plain data
// (modules, functions, objects, …), with its byte, the kind of its node, its name and
// its path, for containers that hold themselves, and for imports and code that come
// along; kMalformed for keys that are equal or that cannot be keys; kLimitExceeded.
// Cost: two passes over the payload, and keys of maps are sorted aside.
[[nodiscard]] Result<data::Value> read_value(BytesView bytes,
                                             const Limits& limits = kStrictLimits);

// What read_value() does with objects: what they are made by is a name in the payload,
// of which nothing is imported or called.
enum class Objects : std::uint8_t {
  kRefused,
  kStandard,  // Those that data::Standard tells are values; others are refused.
};

// The same behind a gate of the caller's, which may ask for a signature. What is no
// plain data is refused, whatever the gate allows. Errors: those of
// Gate::open_trusted() too.
[[nodiscard]] Result<data::Value> read_value(BytesView bytes, const Gate& gate,
                                             Objects objects = Objects::kRefused);

// The same for an envelope that was verified on these limits.
[[nodiscard]] Result<data::Value> read_value(const VerifiedEnvelope& envelope,
                                             const Limits& limits = kStrictLimits,
                                             Objects objects = Objects::kRefused);

// The items of an array of numbers, as lists inside of each other, one for each
// dimension.
//
// Errors, with offset 0: kRefused for items that are no bools, ints, floats or complex
// numbers of NumPy's usual sizes, or do not lie together; kLimitExceeded for more than
// limits.max_items. Cost: by their number.
[[nodiscard]] Result<data::Value> array_value(const ArrayPart& array,
                                              const Limits& limits = kStrictLimits);

struct WriteOptions {
  // What the header says. Nobody asks that of plain data; with the version of a Python,
  // the bytes are those of its waybill.dumps(). As it is: no Python.
  PythonVersion python = {};
  // See Envelope; less than 4 GiB.
  BytesView application = {};
  // What to sign it with; null for an envelope that is not signed.
  const SigningKey* key = nullptr;
};

// An envelope of the value, which any Python with waybill reads; with NumPy 2 or later,
// if there are arrays in it. The same value and options always give the same bytes, and
// as Python gives them for the same data if no object of it stands there twice, but for
// types of items: arrays share these. Arrays, Binary and ByteArray of 64 KiB and more
// are rows of the table of buffers, where a reader may map them.
//
// Errors, with the path to the culprit in the words, and offset 0: kMalformed for text
// that is no UTF-8, keys that are equal or cannot be keys (Map), slices and ranges that
// are none, arrays of more or fewer bytes than item and shape say; kRefused for
// Standard, and arrays of other items; kLimitExceeded for what has 2^32 bytes or items,
// and is not in the table, and for keys nested more than 15 deep. Cost: one pass over
// the value, two copies of the bytes, but one of what is in the table, and keys are
// sorted aside.
[[nodiscard]] Result<std::vector<std::uint8_t>> write_value(
    const data::Value& value, const WriteOptions& options = {});

// The same piece by piece, for files and sockets: `write` is given the head of the
// envelope, and then what is in the table from where it lies, with what stands between.
// Pieces are valid until it returns; what it throws goes through. After an error it was
// not called. Cost: two copies of all but what is in the table, which is read twice,
// the first time for digests.
[[nodiscard]] Result<void> write_value_to(const std::function<void(BytesView)>& write,
                                          const data::Value& value,
                                          const WriteOptions& options = {});

}  // namespace waybill
