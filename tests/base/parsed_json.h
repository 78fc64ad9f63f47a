#pragma once

// JSON as tests read it. Only parsed_json.cpp includes the library, whose templates
// take seconds of the compiler in each source.

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

namespace waybill {

// A value that shares ownership of all that was parsed with it. Its constructor fails
// the test if the text is not JSON. A member that is missing and a value of another
// type throw, which fails the test too.
class ParsedJson {
 public:
  explicit ParsedJson(const std::string& text);

  ParsedJson operator[](const std::string& key) const;
  ParsedJson operator[](std::size_t index) const;
  bool contains(const std::string& key) const;
  std::size_t size() const;
  std::vector<std::string> keys() const;
  std::vector<ParsedJson> items() const;
  std::string text() const;
  std::uint64_t number() const;
  std::string dump() const;  // On one line.

  // Objects are equal only if their keys have the same order.
  bool operator==(const ParsedJson& other) const;
  bool operator==(const std::string& other) const;
  bool operator==(std::nullptr_t) const { return dump() == "null"; }
  bool operator==(std::integral auto other) const {
    if constexpr (std::same_as<decltype(other), bool>) {
      return dump() == (other ? "true" : "false");
    } else {
      return dump() == std::to_string(other);
    }
  }

  // What GoogleTest shows.
  friend void PrintTo(const ParsedJson& json, std::ostream* out) {
    *out << json.dump();
  }

 private:
  ParsedJson(const ParsedJson& parent, const void* node) : node_(parent.node_, node) {}

  std::shared_ptr<const void> node_;
};

}  // namespace waybill
