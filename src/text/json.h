#pragma once

// JSON as a tree, for what is written as it is or laid out as lines.
//
// nlohmann-json holds and writes the tree. Its templates take seconds of the compiler
// in each source that sees them, so json.cpp alone does: all else goes through handles.

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
// changes the node; assigning a handle, which only a variable allows, changes what the
// variable refers to. A handle is valid as long as the tree, and as long as what holds
// the node gets no more members than there was room for.
class Json {
 public:
  Json(const Json&) = default;
  Json& operator=(const Json&) & = default;

  // --- Writing. What is not UTF-8 in a text is replaced where the tree is written.

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

  // Make the node an empty object or array with room for so many members, and give it.
  Json make_object(std::size_t room) const;
  Json make_array(std::size_t room = 0) const;

  // A new member, null: of an object under a key that it may not have yet, or at the
  // end of an array.
  Json add(std::string_view key) const;
  Json append() const;

  // Moves another node's value here, and leaves null there.
  void take(Json other) const;

  // --- Reading.

  // The member of an object; where there is none it is made, null.
  Json operator[](const char* key) const;
  // The item of an array, which has more than `index`.
  Json operator[](std::integral auto index) const {
    return item(static_cast<std::size_t>(index));
  }
  // The member of an object, if this is one that has it.
  std::optional<Json> find(const char* key) const;
  bool contains(const char* key) const { return find(key).has_value(); }

  bool is_null() const;
  bool is_text() const;
  bool is_number() const;
  bool is_object() const;
  bool is_array() const;

  // What the node is known to be.
  const std::string& text() const;
  bool boolean() const;
  std::int64_t integer() const;
  std::uint64_t unsigned_integer() const;

  // Members of an object or items of an array; 0 of null.
  std::size_t size() const;
  bool empty() const { return size() == 0; }
  // Of an object, in the order in which they were made.
  const std::string& key_at(std::size_t index) const;
  Json value_at(std::size_t index) const;

  // The items of an array; none of null.
  class Iterator;
  Iterator begin() const;
  Iterator end() const;

  // The node as JSON: on one line, or with `indent` spaces for each level.
  std::string dump(int indent = -1) const;
  // On one line, all but ASCII escaped.
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

// Where a tree is made, null at first. The library's destructor needs memory for what
// is nested, and must not fail; so no tree is made elsewhere and moved, and what grows
// gets its room first: an object that grows copies all it holds, and may fail in the
// middle.
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

// "function", "file" and "line", where something is in code; null where one is empty
// or 0.
void set_place(Json into, const std::string& function, const std::string& file,
               std::uint32_t line);

std::string hex(BytesView bytes);

// The JSON with characters escaped that would move a terminal's cursor or turn the
// direction of text, or are not seen, which JSON lets pass; with colours if they are
// asked for. Makes no copy where nothing is to do.
std::string painted(std::string json, bool colours);

// A character as JSON escapes it: one that is beyond 16 bits as two surrogates.
std::string json_escape(char32_t point);

}  // namespace waybill::envelope
