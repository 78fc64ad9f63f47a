#pragma once

// JSON as a tree, which is written as JSON or laid out as lines of text.
//
// nlohmann-json holds and writes the tree. Its templates cost seconds of compile time
// in each source, so only json.cpp includes them; all others use handles.

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "waybill/bytes.h"
#include "waybill/error.h"

namespace waybill::envelope {

// A handle to a node of a JsonTree, as cheap to copy as a pointer. Assigning a value
// changes the node. Assigning a handle, which only variables allow, rebinds the
// variable. A handle is valid as long as the tree, and as long as the node's container
// does not grow beyond its reserved size.
class Json {
 public:
  Json(const Json&) = default;
  Json& operator=(const Json&) & = default;

  // --- Writing. Invalid UTF-8 is replaced when the tree is written.

  void operator=(std::nullptr_t) const;
  void operator=(std::string_view text) const;
  void operator=(const char* text) const { *this = std::string_view(text); }
  void operator=(const std::string& text) const { *this = std::string_view(text); }
  void operator=(double number) const;
  void operator=(std::integral auto number) const {
    if constexpr (std::same_as<decltype(number), bool>) {
      set_boolean(number);
    } else if constexpr (std::signed_integral<decltype(number)>) {
      set_integer(number);
    } else {
      set_unsigned(number);
    }
  }

  // Makes the node an empty object or array with reserved size, and returns it.
  Json make_object(std::size_t room) const;
  Json make_array(std::size_t room = 0) const;

  // Adds a member, null: to an object under a new key, or at the end of an array.
  Json add(std::string_view key) const;
  Json append() const;

  // Moves the value of another node here, and leaves null there.
  void take(Json other) const;

  // --- Reading.

  // The member of an object; created as null if it is missing.
  Json operator[](const char* key) const;
  // The item of an array, at an index within its size.
  Json operator[](std::integral auto index) const {
    return item(static_cast<std::size_t>(index));
  }
  // The member of an object; nothing if it is missing or this is not an object.
  std::optional<Json> find(const char* key) const;
  bool contains(const char* key) const { return find(key).has_value(); }

  bool is_null() const;
  bool is_text() const;
  bool is_number() const;
  bool is_object() const;
  bool is_array() const;

  // The content; the node must have this type.
  const std::string& text() const;
  bool boolean() const;
  std::int64_t integer() const;
  std::uint64_t unsigned_integer() const;

  // The number of members of an object or items of an array; 0 for null.
  std::size_t size() const;
  bool empty() const { return size() == 0; }
  // Keys and values of an object, in order of insertion.
  const std::string& key_at(std::size_t index) const;
  Json value_at(std::size_t index) const;

  // Iterates over the items of an array; null has none.
  class Iterator;
  Iterator begin() const;
  Iterator end() const;

  // The node as JSON: on one line, or indented by `indent` spaces for each level.
  std::string dump(int indent = -1) const;
  // On one line, with all non-ASCII characters escaped.
  std::string dump_ascii() const;

 private:
  friend class JsonTree;
  explicit Json(void* node) : node_(node) {}

  Json item(std::size_t index) const;
  void set_boolean(bool value) const;
  void set_integer(std::int64_t number) const;
  void set_unsigned(std::uint64_t number) const;

  void* node_;
};

class Json::Iterator {
 public:
  Iterator(Json array, std::size_t index) : array_(array), index_(index) {}
  Json operator*() const { return array_[index_]; }
  Iterator& operator++() {
    ++index_;
    return *this;
  }
  bool operator==(const Iterator& other) const { return index_ == other.index_; }

 private:
  Json array_;
  std::size_t index_;
};

inline Json::Iterator Json::begin() const { return {*this, 0}; }
inline Json::Iterator Json::end() const { return {*this, size()}; }

// Owns a tree, null at first. The library's destructor allocates for nested values and
// must not fail, so no tree is built elsewhere and moved here. Containers reserve their
// size first: an object that grows copies its members, and may fail halfway.
class JsonTree {
 public:
  JsonTree();
  ~JsonTree();
  JsonTree(const JsonTree&) = delete;
  JsonTree& operator=(const JsonTree&) = delete;

  Json root() const;

 private:
  struct Node;
  std::unique_ptr<Node> node_;
};

// {"code", "offset", "detail"}
void set_error(Json into, const Error& error);

// The text, or null where it is empty.
void set_text_or_null(Json into, const std::string& text);

// Sets "function", "file" and "line" of a place in code; null where one is empty or 0.
void set_place(Json into, const std::string& function, const std::string& file,
               std::uint32_t line);

std::string hex(BytesView bytes);

// Escapes characters that JSON allows and terminals must not get
// (text/control_characters.h), and adds colours if asked. Returns the argument itself
// if nothing changes.
std::string format_for_terminal(std::string json, bool colours);

// The JSON escape of a code point; two surrogates beyond 16 bits.
std::string json_escape(char32_t point);

}  // namespace waybill::envelope
