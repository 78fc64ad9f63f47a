// Values that nest deeply: taken apart, copied and compared by loops.
//
// Taking apart needs no memory, since it must not fail. On the way down, the place of
// the child that is entered holds the value around its parent; on the way up it gives
// that back. So the path to the root is in the tree itself.
// Tested by tests/values/value_test.cpp.

#include "waybill/value.h"

#include <algorithm>

namespace waybill::data {

using Pairs = std::vector<std::pair<Value, Value>>;

template <typename T>
concept HasItems = requires(T held) { held.items; };
template <typename T>
concept HasPairs = requires(T held) { held.pairs; };

// What only this file may do to values.
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

  // The last value in `value` that holds others; what stands after it is dropped. Of a
  // pair that is the second.
  static Value* last_branch(Value& value) {
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

  // Whether both are equal as far as can be told without what is in them.
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

// What was here is destroyed last: `other` may be part of it.
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
    if (Value* child = ValueAccess::last_branch(here)) {
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

}  // namespace waybill::data
