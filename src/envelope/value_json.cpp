// Values as JSON. What JSON has no word for becomes an object of one pair, whose name
// starts with a dollar; maps with such names, or with keys that are no text, become
// arrays of pairs. So nothing that is written as an array or object is ambiguous.
//
// Depth is bounded here, since the JSON library recurses.
// Tested by tests/envelope/value_json_test.cpp and tests/cli/test_cat.py.

#include "waybill/value_json.h"

#include <sodium.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "envelope/json_paint.h"
#include "envelope/report_model.h"
#include "wire/utf8.h"

namespace waybill {
namespace {

using data::Kind;
using data::Value;
using envelope::Json;

constexpr int kDeepest = 512;

std::string base64(BytesView bytes) {
  constexpr int kVariant = sodium_base64_VARIANT_ORIGINAL;
  std::string text(sodium_base64_encoded_len(bytes.size(), kVariant), '\0');
  sodium_bin2base64(text.data(), text.size(), bytes.data(), bytes.size(), kVariant);
  text.pop_back();  // The terminator.
  return text;
}

BytesView bytes_of(const std::string& text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

const char* word_for(double value) {
  if (std::isnan(value)) return "nan";
  return value > 0 ? "inf" : "-inf";
}

class Conversion {
 public:
  explicit Conversion(const JsonOptions& options)
      : is_loose_(options.is_loose),
        indent_(options.indent < 0 ? 0 : static_cast<std::size_t>(options.indent)),
        max_bytes_(options.max_bytes),
        left_(options.max_bytes) {}

  bool convert(const Value& value, Json& into, int depth = 0) {
    if (depth > kDeepest) {
      return fail(ErrorCode::kLimitExceeded,
                  "more than 512 containers inside each other are not written as JSON");
    }
    if (!spend(cost(value, depth))) return false;
    switch (value.kind()) {
      case Kind::kNil:
        into = nullptr;
        return true;
      case Kind::kBoolean:
        into = *value.get_if<bool>();
        return true;
      case Kind::kInteger:
        into = *value.get_if<std::int64_t>();
        return true;
      case Kind::kUnsigned:
        into = *value.get_if<std::uint64_t>();
        return true;
      case Kind::kBigInteger:
        tagged("$int", into) = value.get_if<data::BigInteger>()->decimal();
        return true;
      case Kind::kReal:
        real(*value.get_if<double>(), into);
        return true;
      case Kind::kComplex:
        return complex_number(*value.get_if<std::complex<double>>(), into);
      case Kind::kText:
        return text(*value.get_if<std::string>(), into);
      case Kind::kBinary:
        tagged("$bytes", into) = base64(*value.get_if<data::Binary>());
        return true;
      case Kind::kByteArray:
        tagged("$bytearray", into) = base64(value.get_if<data::ByteArray>()->bytes);
        return true;
      case Kind::kMap:
        return map(*value.get_if<data::Map>(), into, depth);
      case Kind::kEllipsis:
      case Kind::kNotImplemented:
        tagged("$constant", into) = name_of(value.kind());
        return true;
      default:
        return items(value, into, depth);
    }
  }

  const Error& error() const { return error_; }

 private:
  static constexpr std::size_t kTag = 24;
  static constexpr std::size_t kLeast = 16;

  // The most bytes that a value has without those inside it.
  std::size_t cost(const Value& value, int depth) const {
    const std::size_t margin = indent_ * static_cast<std::size_t>(depth);
    std::size_t size = kLeast;
    if (const auto* text = value.get_if<std::string>()) {
      size += text_cost(*text);
    } else if (const auto* bytes = value.get_if<data::Binary>()) {
      size += bytes->size() / 3 * 4 + kTag;
    } else if (const auto* array = value.get_if<data::ByteArray>()) {
      size += array->bytes.size() / 3 * 4 + kTag;
    } else if (value.kind() == Kind::kMap || value.items() != nullptr) {
      return size + margin * 2 + kTag;  // Both brackets.
    }
    return size + margin;
  }

  static std::size_t text_cost(std::string_view text) {
    std::size_t size = text.size();
    for (const char c : text) {
      const auto byte = static_cast<std::uint8_t>(c);
      if (byte < 0x20 || byte == 0x7f) size += 5;
      if (c == '"' || c == '\\') size += 1;
    }
    return size;
  }

  bool spend(std::size_t size) {
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

  // Where the content of what has no word of its own is put.
  Json& tagged(const char* tag, Json& into) const {
    return is_loose_ ? into : envelope::begin_object(into, 1)[tag];
  }

  void real(double value, Json& into) const {
    if (std::isfinite(value)) {
      into = value;
    } else if (is_loose_) {
      into = nullptr;
    } else {
      tagged("$float", into) = word_for(value);
    }
  }

  bool complex_number(std::complex<double> value, Json& into) const {
    Json& parts = tagged("$complex", into);
    parts = Json::array();
    parts.get_ref<Json::array_t&>().reserve(2);
    real(value.real(), parts.emplace_back());
    real(value.imag(), parts.emplace_back());
    return true;
  }

  bool text(const std::string& text, Json& into) {
    if (wire::is_utf8(text)) {
      into = text;
      return true;
    }
    if (!wire::is_utf8(text, wire::Surrogates::kAllowed)) {
      return fail(ErrorCode::kMalformed, "text is not UTF-8");
    }
    if (is_loose_) {
      into = with_replacements(text);
    } else {
      tagged("$text", into) = base64(bytes_of(text));
    }
    return true;
  }

  // Each surrogate, which has three bytes, as U+FFFD.
  static std::string with_replacements(const std::string& text) {
    std::string replaced;
    for (std::size_t i = 0; i < text.size(); ++i) {
      const bool is_surrogate = text[i] == '\xed' && (text[i + 1] & 0x20) != 0;
      replaced += is_surrogate ? std::string("\xef\xbf\xbd") : text.substr(i, 1);
      if (is_surrogate) i += 2;
    }
    return replaced;
  }

  bool items(const Value& value, Json& into, int depth) {
    const std::string tag = "$" + std::string(name_of(value.kind()));
    Json& array = value.kind() == Kind::kList ? into : tagged(tag.c_str(), into);
    array = Json::array();
    array.get_ref<Json::array_t&>().reserve(value.items()->size());
    return std::ranges::all_of(*value.items(), [&](const Value& item) {
      return convert(item, array.emplace_back(), depth + 1);
    });
  }

  bool map(const data::Map& map, Json& into, int depth) {
    if (is_loose_) return loose_map(map, into, depth);
    const bool has_names = std::ranges::all_of(map.pairs, [](const auto& pair) {
      const auto* name = pair.first.template get_if<std::string>();
      return name != nullptr && !name->starts_with('$') && wire::is_utf8(*name);
    });
    if (!has_names) return pairs(map, tagged("$dict", into), depth);
    auto& object = begin_pairs(map, into);
    for (const auto& [key, item] : map.pairs) {
      if (!spend(kLeast + text_cost(*key.get_if<std::string>()))) return false;
      object.emplace_back(*key.get_if<std::string>(), Json());
      if (!convert(item, object.back().second, depth + 1)) return false;
    }
    return true;
  }

  // Pairs in a row, without a look at those before: keys differ.
  static Json::object_t::Container& begin_pairs(const data::Map& map, Json& into) {
    return envelope::begin_object(into, map.pairs.size()).get_ref<Json::object_t&>();
  }

  bool pairs(const data::Map& map, Json& into, int depth) {
    into = Json::array();
    into.get_ref<Json::array_t&>().reserve(map.pairs.size());
    return std::ranges::all_of(map.pairs, [&](const auto& pair) {
      Json& both = into.emplace_back();
      both = Json::array();
      both.get_ref<Json::array_t&>().reserve(2);
      return convert(pair.first, both.emplace_back(), depth + 1) &&
             convert(pair.second, both.emplace_back(), depth + 1);
    });
  }

  // Keys that Python's json takes, as it writes them.
  bool loose_map(const data::Map& map, Json& into, int depth) {
    std::set<std::string> names;
    auto& object = begin_pairs(map, into);
    for (const auto& [key, item] : map.pairs) {
      envelope::Tree tree;
      const Json& name = tree.root;
      if (!convert(key, tree.root, depth + 1) || name.is_structured()) {
        return fail(ErrorCode::kRefused,
                    "a key that is a " + std::string(name_of(key.kind())) +
                        " is no name in JSON; without the loose form it is written");
      }
      std::string text = name.is_string() ? name.get<std::string>() : name.dump();
      if (!names.insert(text).second) {
        return fail(ErrorCode::kRefused,
                    "two keys of a dict would both be \"" + text +
                        "\" in JSON; without the loose form they are told apart");
      }
      object.emplace_back(std::move(text), Json());
      if (!convert(item, object.back().second, depth + 1)) return false;
    }
    return true;
  }

  bool is_loose_;
  std::size_t indent_;
  std::size_t max_bytes_;
  std::size_t left_;
  Error error_{};
};

}  // namespace

Result<std::string> value_json(const Value& value, const JsonOptions& options) {
  envelope::Tree tree;
  Conversion conversion(options);
  if (!conversion.convert(value, tree.root)) return tl::unexpected(conversion.error());
  return envelope::painted(tree.root.dump(options.indent), options.colours);
}

}  // namespace waybill
