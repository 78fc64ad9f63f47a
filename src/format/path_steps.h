#pragma once

// Spells the steps of paths, for everything that writes paths: docs/paths.md.

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace waybill::envelope::steps {

// Python's keywords, which cannot be attribute names in source.
inline bool is_keyword(std::string_view name) {
  constexpr std::array<std::string_view, 35> kKeywords{
      "False",  "None",   "True",    "and",      "as",       "assert", "async",
      "await",  "break",  "class",   "continue", "def",      "del",    "elif",
      "else",   "except", "finally", "for",      "from",     "global", "if",
      "import", "in",     "is",      "lambda",   "nonlocal", "not",    "or",
      "pass",   "raise",  "return",  "try",      "while",    "with",   "yield"};
  return std::ranges::binary_search(kKeywords, name);
}

// Indexing of `text` by a key or index in source form.
inline std::string item(std::string_view text, std::string_view key) {
  return std::string(text).append("[").append(key).append("]");
}

inline std::string attribute(std::string_view name) {
  return std::string(".").append(name);
}

// An attribute that is not an identifier, or that attribute access would not find.
inline std::string in_dict(std::string_view key) { return item(".__dict__", key); }

inline std::string dunder(std::string_view name) {
  return std::string(".__").append(name).append("__");
}

inline std::string global(std::string_view key) { return item(".__globals__", key); }

inline std::string cell(std::uint64_t number) {
  return item(".__closure__", std::to_string(number)) + ".cell_contents";
}

// A step that Python has no expression for.
inline std::string marker(std::string_view name) {
  return std::string("<").append(name).append(">");
}
inline std::string marker(std::string_view name, std::string_view which) {
  return std::string("<").append(name).append(" ").append(which).append(">");
}

// The form of a step from a container to a part: a text, with a key or a number.
enum class Style : std::uint8_t {
  kNone,  // The part is the container itself, e.g. the dict that is an object's state.
  kText,  // ".__defaults__", ".start"
  kDunder,     // ".__text__"
  kAttribute,  // ".__dict__['key']"; attribute() spells one whose key is a name.
  kKey,        // "['key']", ".__kwdefaults__['key']"
  kIndex,      // "[0]", ".__defaults__[0]"
  kGlobal,     // ".__globals__['key']"
  kCell,       // ".__closure__[0].cell_contents"
  kMarker,     // "<text>": Python has no expression for it.
  kNumbered,   // "<text 0>"
  kArgument,   // "<text 0>" of an argument of an object's callable.
  kNamed,      // "<text 'key'>"
};

// Whether the key is a part of the step.
inline bool has_key(Style style) {
  return style == Style::kAttribute || style == Style::kKey ||
         style == Style::kGlobal || style == Style::kNamed;
}

// Whether Python can evaluate the step, provided it can evaluate the key.
inline bool is_expression(Style style) { return style < Style::kMarker; }

inline std::string spelled(Style style, std::string_view text, std::string_view key,
                           std::uint64_t number) {
  switch (style) {
    case Style::kNone:
      return {};
    case Style::kText:
      return std::string(text);
    case Style::kDunder:
      return dunder(text);
    case Style::kAttribute:
      return in_dict(key).append(text);
    case Style::kKey:
      return item(text, key);
    case Style::kIndex:
      return item(text, std::to_string(number));
    case Style::kGlobal:
      return global(key);
    case Style::kCell:
      return cell(number);
    case Style::kMarker:
      return marker(text);
    case Style::kNumbered:
    case Style::kArgument:
      return marker(text, std::to_string(number));
    case Style::kNamed:
      return marker(text, key);
  }
  return {};
}

}  // namespace waybill::envelope::steps
