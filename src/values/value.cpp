// Destroys, copies and compares values by loops, since they may nest deeply; and
// converts ints beyond 64 bits.
//
// Destruction must not fail, so it allocates no memory. On the way down, the place of
// the entered child stores the parent of its parent; on the way up it is restored. So
// the tree itself holds the path to the root.
// Tested by tests/values/value_test.cpp.

#include "waybill/value.h"

#include <algorithm>

namespace waybill::data {
namespace {

// Strips leading bytes that only repeat the sign.
BytesView without_padding(BytesView bytes) {
  const auto is_padded = [](BytesView view) {
    return view.size() > 1 && ((view[0] == 0x00 && view[1] < 0x80) ||
                               (view[0] == 0xff && view[1] >= 0x80));
  };
  while (is_padded(bytes)) bytes = bytes.subspan(1);
  return bytes;
}

// The absolute value in base 2^32, lowest digit first.
std::vector<std::uint32_t> magnitude_of(BytesView bytes, bool is_negative) {
  std::vector<std::uint32_t> digits((bytes.size() + 3) / 4);
  std::uint32_t carry = is_negative ? 1 : 0;
  for (std::size_t i = 0; i < digits.size() * 4; ++i) {
    std::uint32_t byte = 0;
    if (i < bytes.size()) byte = bytes[bytes.size() - 1 - i];
    if (is_negative) {
      byte = (i < bytes.size() ? ~byte & 0xff : 0) + carry;
      carry = byte >> 8;
    }
    digits[i / 4] |= (byte & 0xff) << (8 * (i % 4));
  }
  return digits;
}

}  // namespace

using Pairs = std::vector<std::pair<Value, Value>>;

template <typename T>
concept HasItems = requires(T held) { held.items; };
template <typename T>
concept HasPairs = requires(T held) { held.pairs; };

// Operations on the content of values that only this file needs.
struct ValueAccess {
  struct Copy {
    const Value* from;
    Value* to;
  };
  struct Comparison {
    const Value* a;
    const Value* b;
  };

  static std::vector<Value>* items_of(Value& value) {
    return std::visit(
        [](auto& held) -> std::vector<Value>* {
          if constexpr (HasItems<decltype(held)>) {
            return &held.items;
          } else {
            return nullptr;
          }
        },
        value.content_);
  }

  static Pairs* pairs_of(Value& value) {
    Map* map = std::get_if<Map>(&value.content_);
    return map == nullptr ? nullptr : &map->pairs;
  }

  static bool is_branch(const Value& value) {
    if (!value.holds_values()) return false;
    const Map* map = value.get_if<Map>();
    return map != nullptr ? !map->pairs.empty() : !value.items()->empty();
  }

  static bool is_deep(const Value& value) {
    const Map* map = value.get_if<Map>();
    if (map == nullptr) return std::ranges::any_of(*value.items(), is_branch);
    return std::ranges::any_of(map->pairs, [](const auto& pair) {
      return is_branch(pair.first) || is_branch(pair.second);
    });
  }

  // The last child that holds values itself. Drops the children after it. If it is a
  // key, moves it to the value of its pair.
  static Value* drop_to_last_branch(Value& value) {
    if (std::vector<Value>* items = items_of(value)) {
      while (!items->empty() && !is_branch(items->back())) items->pop_back();
      return items->empty() ? nullptr : &items->back();
    }
    Pairs& pairs = *pairs_of(value);
    while (!pairs.empty()) {
      auto& [key, item] = pairs.back();
      if (is_branch(item)) return &item;
      if (is_branch(key)) {
        item = std::exchange(key, Value());
        return &item;
      }
      pairs.pop_back();
    }
    return nullptr;
  }

  static Value& last_place(Value& value) {
    std::vector<Value>* items = items_of(value);
    return items != nullptr ? items->back() : pairs_of(value)->back().second;
  }

  static void copy_child(const Value& from, Value& to, std::vector<Copy>& later) {
    if (is_branch(from)) {
      later.push_back({&from, &to});
    } else {
      to.content_ = from.content_;
    }
  }

  static void copy_one(const Value& from, Value& to, std::vector<Copy>& later) {
    std::visit(
        [&](const auto& held) {
          using Held = std::decay_t<decltype(held)>;
          if constexpr (HasItems<Held>) {
            auto& items = to.content_.template emplace<Held>().items;
            items.resize(held.items.size());
            for (std::size_t i = 0; i < items.size(); ++i) {
              copy_child(held.items[i], items[i], later);
            }
          } else if constexpr (HasPairs<Held>) {
            Pairs& pairs = to.content_.template emplace<Held>().pairs;
            pairs.resize(held.pairs.size());
            for (std::size_t i = 0; i < pairs.size(); ++i) {
              copy_child(held.pairs[i].first, pairs[i].first, later);
              copy_child(held.pairs[i].second, pairs[i].second, later);
            }
          } else {
            to.content_ = held;
          }
        },
        from.content_);
  }

  // Whether both are equal, apart from their children, which are added to `later`.
  static bool compare_one(const Value& a, const Value& b,
                          std::vector<Comparison>& later) {
    return std::visit(
        [&](const auto& held) {
          using Held = std::decay_t<decltype(held)>;
          const Held* other = b.get_if<Held>();
          if (other == nullptr) return false;
          if constexpr (HasItems<Held>) {
            if (held.items.size() != other->items.size()) return false;
            for (std::size_t i = 0; i < held.items.size(); ++i) {
              later.push_back({&held.items[i], &other->items[i]});
            }
            return true;
          } else if constexpr (HasPairs<Held>) {
            if (held.pairs.size() != other->pairs.size()) return false;
            for (std::size_t i = 0; i < held.pairs.size(); ++i) {
              later.push_back({&held.pairs[i].first, &other->pairs[i].first});
              later.push_back({&held.pairs[i].second, &other->pairs[i].second});
            }
            return true;
          } else {
            return held == *other;
          }
        },
        a.content_);
  }
};

std::string_view name_of(Kind kind) {
  constexpr std::string_view kNames[] = {"none",
                                         "bool",
                                         "int",
                                         "int",
                                         "int",
                                         "float",
                                         "complex",
                                         "str",
                                         "bytes",
                                         "bytearray",
                                         "list",
                                         "tuple",
                                         "set",
                                         "frozenset",
                                         "dict",
                                         "slice",
                                         "range",
                                         "ellipsis",
                                         "not_implemented",
                                         "standard",
                                         "numpy.ndarray"};
  return kNames[static_cast<std::size_t>(kind)];
}

bool operator==(const Array& a, const Array& b) {
  return a.item == b.item && a.shape == b.shape && a.is_fortran == b.is_fortran &&
         std::ranges::equal(a.bytes, b.bytes);
}

Map::Map(std::initializer_list<std::pair<Value, Value>> values) : pairs(values) {}
Map::Map(Pairs values) : pairs(std::move(values)) {}

const Value* Map::find(std::string_view key) const {
  const auto found = std::ranges::find_if(pairs, [&](const auto& pair) {
    const auto* text = pair.first.template get_if<std::string>();
    return text != nullptr && *text == key;
  });
  return found == pairs.end() ? nullptr : &found->second;
}

Value::Value(const Value& other) {
  std::vector<ValueAccess::Copy> later;
  ValueAccess::copy_one(other, *this, later);
  while (!later.empty()) {
    const ValueAccess::Copy copy = later.back();
    later.pop_back();
    ValueAccess::copy_one(*copy.from, *copy.to, later);
  }
}

Value& Value::operator=(const Value& other) {
  Value copy(other);
  return *this = std::move(copy);
}

// The old content is destroyed last, since `other` may be part of it.
Value& Value::operator=(Value&& other) noexcept {
  Content taken = std::move(other.content_);
  content_.swap(taken);
  return *this;
}

void Value::dismantle() noexcept {
  if (!ValueAccess::is_deep(*this)) return;
  Value here = std::move(*this);
  Value around;
  std::size_t depth = 0;
  for (;;) {
    if (Value* child = ValueAccess::drop_to_last_branch(here)) {
      Value inner = std::exchange(*child, std::move(around));
      around = std::move(here);
      here = std::move(inner);
      ++depth;
    } else if (depth-- == 0) {
      return;
    } else {
      Value above = std::exchange(ValueAccess::last_place(around), Value());
      here = std::move(around);
      around = std::move(above);
    }
  }
}

const std::vector<Value>* Value::items() const& {
  return ValueAccess::items_of(const_cast<Value&>(*this));
}

bool operator==(const Value& a, const Value& b) {
  std::vector<ValueAccess::Comparison> later = {{&a, &b}};
  while (!later.empty()) {
    const ValueAccess::Comparison next = later.back();
    later.pop_back();
    if (!ValueAccess::compare_one(*next.a, *next.b, later)) return false;
  }
  return true;
}

Value Value::integer(BytesView twos_complement) {
  const BytesView bytes = without_padding(twos_complement);
  if (bytes.empty()) return 0;
  const bool is_unsigned = bytes.size() == 9 && bytes[0] == 0;
  if (bytes.size() > 8 && !is_unsigned) {
    return BigInteger(Binary(bytes.begin(), bytes.end()));
  }
  std::uint64_t bits = bytes[0] >= 0x80 ? UINT64_MAX : 0;
  for (const std::uint8_t byte : bytes) bits = bits << 8 | byte;
  if (is_unsigned) return bits;
  return static_cast<std::int64_t>(bits);
}

std::string BigInteger::decimal() const {
  constexpr std::uint32_t kBase = 1'000'000'000;
  constexpr int kDigits = 9;
  const bool is_negative = bytes_[0] >= 0x80;
  std::vector<std::uint32_t> rest = magnitude_of(bytes_, is_negative);
  std::string text;  // In reverse order.
  while (!rest.empty()) {
    std::uint64_t remainder = 0;
    for (auto digit = rest.rbegin(); digit != rest.rend(); ++digit) {
      remainder = remainder << 32 | *digit;
      *digit = static_cast<std::uint32_t>(remainder / kBase);
      remainder %= kBase;
    }
    while (!rest.empty() && rest.back() == 0) rest.pop_back();
    for (int i = 0; i < kDigits; ++i, remainder /= 10) {
      text += static_cast<char>('0' + remainder % 10);
    }
  }
  text.erase(text.find_last_not_of('0') + 1);
  if (is_negative) text += '-';
  std::ranges::reverse(text);
  return text;
}

}  // namespace waybill::data
