// Values as JSON. A value that JSON cannot express becomes an object of one pair, whose
// name starts with a dollar; a map with such names, or with keys that are not text, is
// written as an array of pairs. So no array or object is ambiguous.
//
// Depth is bounded, since the JSON library recurses.
// Tested by tests/values/value_json_test.cpp and tests/cli/test_cat.py.

#include "waybill/value_json.h"

#include <sodium.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>

#include "text/control_characters.h"
#include "text/json.h"
#include "wire/utf8.h"

namespace waybill {
namespace {

using data::Kind;
using data::Value;
using envelope::Json;

constexpr int kMaxDepth = 512;

std::string base64_of(BytesView bytes) {
  constexpr int kVariant = sodium_base64_VARIANT_ORIGINAL;
  std::string text(sodium_base64_encoded_len(bytes.size(), kVariant), '\0');
  sodium_bin2base64(text.data(), text.size(), bytes.data(), bytes.size(), kVariant);
  text.pop_back();  // The terminator.
  return text;
}

BytesView bytes_of(const std::string& text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

const char* name_of_special(double value) {
  if (std::isnan(value)) return "nan";
  return value > 0 ? "inf" : "-inf";
}

// Builds the JSON tree. Charges each value before, or as soon as, it is added; a charge
// is at least the size that is written.
class JsonConverter {
 public:
  explicit JsonConverter(const JsonOptions& options)
      : is_loose_(options.is_loose),
        indent_(options.indent < 0 ? 0 : static_cast<std::size_t>(options.indent)),
        max_bytes_(options.max_bytes),
        left_(options.max_bytes) {}

  bool convert(const Value& value, Json into) { return convert(value, into, {}); }

  const Error& error() const { return error_; }

 private:
  // The nesting of a value: `depth` counts containers, `level` brackets.
  struct Place {
    int depth = 0;
    std::size_t level = 0;

    Place in_container() const { return {depth + 1, level + 1}; }
    Place in_brackets() const { return {depth, level + 1}; }
  };

  // The charge for each value: brackets, a comma, line ends, or a short leaf.
  static constexpr std::size_t kMinCharge = 16;
  // The charge for a tag: brackets, line ends and quotes, with the longest name.
  static constexpr std::size_t kTagCharge = 24;
  // Writing digits takes time quadratic in the bytes of an int: two seconds for this
  // sum of squares.
  static constexpr std::uint64_t kMaxSquares = std::uint64_t{1} << 34;

  bool convert(const Value& value, Json into, Place place) {
    if (place.depth > kMaxDepth) {
      return fail(
          ErrorCode::kLimitExceeded,
          "containers are nested more than 512 deep, which is too deep for JSON");
    }
    if (!charge(kMinCharge + margin(place.level))) return false;
    switch (value.kind()) {
      case Kind::kNil:
        into = nullptr;
        return true;
      case Kind::kBoolean:
        into = *value.get_if<bool>();
        return true;
      case Kind::kInteger:
        into = *value.get_if<std::int64_t>();
        return charge_number(into);
      case Kind::kUnsigned:
        into = *value.get_if<std::uint64_t>();
        return charge_number(into);
      case Kind::kBigInteger:
        return write_big_integer(*value.get_if<data::BigInteger>(), into, place);
      case Kind::kReal:
        return write_real(*value.get_if<double>(), into, place);
      case Kind::kComplex:
        return write_complex(*value.get_if<std::complex<double>>(), into, place);
      case Kind::kText:
        return write_text(*value.get_if<std::string>(), into, place);
      case Kind::kBinary:
        return write_base64("$bytes", *value.get_if<data::Binary>(), into, place);
      case Kind::kByteArray:
        return write_base64("$bytearray", value.get_if<data::ByteArray>()->bytes, into,
                            place);
      case Kind::kMap:
        return write_map(*value.get_if<data::Map>(), into, place);
      case Kind::kEllipsis:
      case Kind::kNotImplemented:
        return write_literal("$constant", name_of(value.kind()), into, place);
      case Kind::kStandard:
        return write_standard(*value.get_if<data::Standard>(), into, place);
      case Kind::kArray:
        return fail(ErrorCode::kRefused,
                    "an array is not written as JSON; array_value() makes lists");
      default:
        return write_items(value, into, place);
    }
  }

  std::size_t margin(std::size_t level) const { return indent_ * level; }

  bool charge(std::size_t size) {
    if (size > left_) {
      return fail(ErrorCode::kLimitExceeded, "the JSON has more than " +
                                                 std::to_string(max_bytes_) +
                                                 " bytes (max_bytes)");
    }
    left_ -= size;
    return true;
  }

  bool fail(ErrorCode code, std::string detail) {
    error_ = {code, 0, std::move(detail)};
    return false;
  }

  // The size with quotes, after nlohmann-json and format_for_terminal() have escaped
  // the text.
  static std::size_t size_of(std::string_view text) {
    std::size_t size = 2;
    while (!text.empty()) {
      std::size_t length = 0;
      const char32_t point = envelope::first_character(text, length);
      length = std::max<std::size_t>(length, 1);
      size +=
          envelope::is_control(point) ? envelope::json_escape(point).size() : length;
      if (point == '"' || point == '\\') ++size;
      text.remove_prefix(length);
    }
    return size;
  }

  // Adds a tag, unless the JSON is loose. Returns the node for its content, and moves
  // `place` there; nothing if the text would exceed max_bytes.
  std::optional<Json> add_tag(const char* tag, Json into, Place& place) {
    if (is_loose_) return into;
    if (!charge(kTagCharge + margin(place.level) + margin(place.level + 1)))
      return std::nullopt;
    ++place.level;
    return into.make_object(1).add(tag);
  }

  bool write_literal(const char* tag, std::string_view text, Json into, Place place) {
    const auto content = add_tag(tag, into, place);
    if (!content || !charge(size_of(text))) return false;
    *content = text;
    return true;
  }

  bool write_base64(const char* tag, BytesView bytes, Json into, Place place) {
    const auto content = add_tag(tag, into, place);
    if (!content || !charge((bytes.size() + 2) / 3 * 4 + 2)) return false;
    *content = base64_of(bytes);
    return true;
  }

  // Makes an array with room for `count` items.
  bool begin_array(std::size_t count, Json into, Place place) {
    if (!charge(kMinCharge + margin(place.level))) return false;  // Closing bracket.
    into.make_array(count);
    return true;
  }

  bool charge_number(Json written) {
    const std::size_t size = written.dump().size() + 2;
    return size <= kMinCharge || charge(size - kMinCharge);
  }

  bool write_big_integer(const data::BigInteger& value, Json into, Place place) {
    const std::uint64_t size = value.bytes().size();
    // A byte has 2.41 digits.
    const auto content = add_tag("$int", into, place);
    if (!content || !charge(size / 100 * 241 + size % 100 * 3 + 2)) {
      return false;
    }
    if (size > squares_left_ / size) {
      return fail(
          ErrorCode::kLimitExceeded,
          "the decimal digits of the ints take too long to compute: one int has more "
          "than 128 KiB, or several together take as much time");
    }
    squares_left_ -= size * size;
    *content = value.decimal();
    return true;
  }

  bool write_real(double value, Json into, Place place) {
    if (std::isfinite(value)) {
      into = value;
      return charge_number(into);
    }
    if (!is_loose_) return write_literal("$float", name_of_special(value), into, place);
    into = nullptr;
    return true;
  }

  bool write_complex(std::complex<double> value, Json into, Place place) {
    const auto parts = add_tag("$complex", into, place);
    return parts && begin_array(2, *parts, place) &&
           convert(value.real(), parts->append(), place.in_brackets()) &&
           convert(value.imag(), parts->append(), place.in_brackets());
  }

  bool write_text(const std::string& text, Json into, Place place) {
    if (wire::is_utf8(text)) {
      if (!charge(size_of(text))) return false;
      into = text;
      return true;
    }
    if (!wire::is_utf8(text, wire::Surrogates::kAllowed)) {
      return fail(ErrorCode::kMalformed, "text is not UTF-8");
    }
    if (!is_loose_) return write_base64("$text", bytes_of(text), into, place);
    if (!charge(size_of(text))) return false;
    into = with_replacements(text);
    return true;
  }

  bool write_standard(const data::Standard& value, Json into, Place place) {
    const std::string tag = "$" + value.type;
    const auto content = add_tag(tag.c_str(), into, place);
    return content && write_text(value.text, *content, place);
  }

  // Replaces each surrogate, which has three bytes, by U+FFFD.
  static std::string with_replacements(const std::string& text) {
    std::string replaced;
    for (std::size_t i = 0; i < text.size(); ++i) {
      const bool is_surrogate = text[i] == '\xed' && (text[i + 1] & 0x20) != 0;
      replaced += is_surrogate ? std::string("\xef\xbf\xbd") : text.substr(i, 1);
      if (is_surrogate) i += 2;
    }
    return replaced;
  }

  bool write_items(const Value& value, Json into, Place place) {
    const std::string tag = "$" + std::string(name_of(value.kind()));
    const auto array = value.kind() == Kind::kList ? std::optional<Json>(into)
                                                   : add_tag(tag.c_str(), into, place);
    if (!array || !begin_array(value.items()->size(), *array, place)) {
      return false;
    }
    return std::ranges::all_of(*value.items(), [&](const Value& item) {
      return convert(item, array->append(), place.in_container());
    });
  }

  bool write_map(const data::Map& map, Json into, Place place) {
    if (is_loose_) return write_loose_map(map, into, place);
    const bool has_names = std::ranges::all_of(map.pairs, [](const auto& pair) {
      const auto* name = pair.first.template get_if<std::string>();
      return name != nullptr && !name->starts_with('$') && wire::is_utf8(*name);
    });
    if (!has_names) {
      const auto content = add_tag("$dict", into, place);
      return content && write_pairs(map, *content, place);
    }
    if (!charge(kMinCharge + margin(place.level))) return false;  // Closing bracket.
    into.make_object(map.pairs.size());
    for (const auto& [key, item] : map.pairs) {
      const std::string& name = *key.template get_if<std::string>();
      if (!charge(kMinCharge + size_of(name))) return false;
      if (!convert(item, into.add(name), place.in_container())) return false;
    }
    return true;
  }

  bool write_pairs(const data::Map& map, Json into, Place place) {
    if (!begin_array(map.pairs.size(), into, place)) return false;
    const Place around = place.in_brackets();
    return std::ranges::all_of(map.pairs, [&](const auto& pair) {
      const Json both = into.append();
      return charge(kMinCharge + margin(around.level)) &&
             begin_array(2, both, around) &&
             convert(pair.first, both.append(), around.in_container()) &&
             convert(pair.second, both.append(), around.in_container());
    });
  }

  // Writes the keys that Python's module json accepts, in the same form.
  bool write_loose_map(const data::Map& map, Json into, Place place) {
    if (!charge(kMinCharge + margin(place.level))) return false;  // Closing bracket.
    std::set<std::string> names;
    into.make_object(map.pairs.size());
    for (const auto& [key, item] : map.pairs) {
      envelope::JsonTree tree;
      const Json name = tree.root();
      if (!convert(key, tree.root(), place.in_container())) return false;
      if (name.is_object() || name.is_array()) {
        return fail(ErrorCode::kRefused,
                    "a " + std::string(name_of(key.kind())) +
                        " cannot be a key in loose JSON; use the exact form");
      }
      std::string text = name.is_text() ? name.text() : name.dump();
      if (!names.insert(text).second) {
        return fail(ErrorCode::kRefused, "two keys of a dict would both be \"" + text +
                                             "\" in loose JSON; use the exact form");
      }
      if (!convert(item, into.add(text), place.in_container())) return false;
    }
    return true;
  }

  bool is_loose_;
  std::size_t indent_;
  std::size_t max_bytes_;
  std::size_t left_;
  std::uint64_t squares_left_ = kMaxSquares;
  Error error_{};
};

}  // namespace

Result<std::string> value_json(const Value& value, const JsonOptions& options) {
  envelope::JsonTree tree;
  JsonConverter converter(options);
  if (!converter.convert(value, tree.root())) return tl::unexpected(converter.error());
  return envelope::format_for_terminal(tree.root().dump(options.indent),
                                       options.colours);
}

}  // namespace waybill
