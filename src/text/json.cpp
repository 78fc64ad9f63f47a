// Tested by tests/report/report_test.cpp and tests/values/value_json_test.cpp.

#include "text/json.h"

#include <algorithm>
#include <utility>

#include <nlohmann/json.hpp>

#include "text/control_characters.h"
#include "text/format_text.h"

namespace waybill::envelope {
namespace {

using Library = nlohmann::ordered_json;

Library& at(void* node) { return *static_cast<Library*>(node); }

// The members of an object, in order of insertion.
Library::object_t::Container& members(void* node) {
  return at(node).get_ref<Library::object_t&>();
}

// Destroys a tree from its leaves up; callers bound its depth. A node whose content
// could not be allocated has a type and a null pointer, which the library's destructor
// would dereference.
void destroy_from_leaves(Library& json) {
  if (auto* array = json.get_ptr<Library::array_t*>()) {
    for (Library& child : *array) destroy_from_leaves(child);
    array->clear();
  } else if (auto* object = json.get_ptr<Library::object_t*>()) {
    for (auto& [key, child] : *object) destroy_from_leaves(child);
    object->clear();
  } else if (json.is_structured()) {
    std::construct_at(&json);
  }
}

}  // namespace

struct JsonTree::Node {
  Library value;
};

JsonTree::JsonTree() : node_(std::make_unique<Node>()) {}

JsonTree::~JsonTree() { destroy_from_leaves(node_->value); }

Json JsonTree::root() const { return Json(&node_->value); }

void Json::operator=(std::nullptr_t) const { at(node_) = nullptr; }

void Json::operator=(std::string_view text) const { at(node_) = text; }

void Json::operator=(double number) const { at(node_) = number; }

void Json::set_boolean(bool value) const { at(node_) = value; }

void Json::set_integer(std::int64_t number) const { at(node_) = number; }

void Json::set_unsigned(std::uint64_t number) const { at(node_) = number; }

Json Json::make_object(std::size_t room) const {
  at(node_) = Library::object();
  at(node_).get_ref<Library::object_t&>().reserve(room);
  return *this;
}

Json Json::make_array(std::size_t room) const {
  at(node_) = Library::array();
  at(node_).get_ref<Library::array_t&>().reserve(room);
  return *this;
}

Json Json::add(std::string_view key) const {
  members(node_).emplace_back(std::string(key), Library());
  return Json(&members(node_).back().second);
}

Json Json::append() const { return Json(&at(node_).emplace_back()); }

void Json::take(Json other) const { at(node_) = std::move(at(other.node_)); }

Json Json::operator[](const char* key) const { return Json(&at(node_)[key]); }

Json Json::item(std::size_t index) const { return Json(&at(node_)[index]); }

std::optional<Json> Json::find(const char* key) const {
  const auto found = at(node_).find(key);
  if (found == at(node_).end()) return std::nullopt;
  return Json(&*found);
}

bool Json::is_null() const { return at(node_).is_null(); }
bool Json::is_text() const { return at(node_).is_string(); }
bool Json::is_number() const { return at(node_).is_number(); }
bool Json::is_object() const { return at(node_).is_object(); }
bool Json::is_array() const { return at(node_).is_array(); }

const std::string& Json::text() const {
  return at(node_).get_ref<const std::string&>();
}

bool Json::boolean() const { return at(node_).get<bool>(); }

std::int64_t Json::integer() const { return at(node_).get<std::int64_t>(); }

std::uint64_t Json::unsigned_integer() const { return at(node_).get<std::uint64_t>(); }

std::size_t Json::size() const { return at(node_).size(); }

const std::string& Json::key_at(std::size_t index) const {
  return members(node_)[index].first;
}

Json Json::value_at(std::size_t index) const {
  return Json(&members(node_)[index].second);
}

std::string Json::dump(int indent) const {
  return at(node_).dump(indent, ' ', false, Library::error_handler_t::replace);
}

std::string Json::dump_ascii() const {
  return at(node_).dump(-1, ' ', true, Library::error_handler_t::replace);
}

void set_error(Json into, const Error& error) {
  into.make_object(3);
  into["code"] = name_of(error.code);
  if (error.code != ErrorCode::kBadKey) into["offset"] = error.offset;
  into["detail"] = error.detail;
}

void set_text_or_null(Json into, const std::string& text) {
  if (!text.empty()) into = text;
}

void set_place(Json into, const std::string& function, const std::string& file,
               std::uint32_t line) {
  set_text_or_null(into["function"], function);
  set_text_or_null(into["file"], file);
  const Json number = into["line"];
  if (line != 0) number = line;
}

std::string hex(BytesView bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (std::uint8_t byte : bytes) {
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

// --- For terminals. This code walks what nlohmann-json wrote: only strings have
// quotes, and only strings hold non-ASCII characters.

namespace {

constexpr const char* kName = "36";
constexpr const char* kText = "32";
constexpr const char* kOther = "33";

// The size of the control character at the start of `text`, and its code point; 0 for
// other characters. nlohmann-json escapes those below space, and line ends are allowed.
std::size_t control_at(std::string_view text, char32_t& point) {
  std::size_t length = 0;
  point = first_character(text, length);
  return point >= 0x20 && is_control(point) ? length : 0;
}

bool has_control(std::string_view text) {
  char32_t point = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (control_at(text.substr(at), point) != 0) return true;
  }
  return false;
}

std::string escaped(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    char32_t point = 0;
    const std::size_t length = control_at(text, point);
    if (length == 0) {
      out += text.front();
    } else {
      out += json_escape(point);
    }
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return out;
}

// The size of the string literal at the start of `json`, quotes included.
std::size_t string_length(std::string_view json) {
  std::size_t end = 1;
  while (json[end] != '"') end += json[end] == '\\' ? 2 : 1;
  return end + 1;
}

}  // namespace

std::string json_escape(char32_t point) {
  constexpr char32_t kBeyond = 0x10000;
  const auto number = static_cast<std::uint32_t>(point);
  if (point < kBeyond) return format_text("\\u{:04x}", number);
  const std::uint32_t rest = number - kBeyond;
  return format_text("\\u{:04x}\\u{:04x}", 0xd800 + (rest >> 10),
                     0xdc00 + (rest & 0x3ff));
}

std::string format_for_terminal(std::string text, bool colours) {
  if (!colours) return has_control(text) ? escaped(text) : std::move(text);
  std::string_view json = text;
  constexpr std::string_view kBetween = "{}[],: \n\"";
  std::string out;
  const auto put = [&](const char* colour, std::string_view piece) {
    out += format_text("\x1b[{}m{}\x1b[0m", colour, piece);
  };
  while (!json.empty()) {
    std::size_t length = 1;
    if (json.front() == '"') {
      length = string_length(json);
      const bool is_name = json.substr(length).starts_with(':');
      put(is_name ? kName : kText, escaped(json.substr(0, length)));
    } else if (kBetween.find(json.front()) != kBetween.npos) {
      out += json.front();
    } else {
      length = std::min(json.find_first_of(kBetween), json.size());
      put(kOther, json.substr(0, length));
    }
    json.remove_prefix(length);
  }
  return out;
}

}  // namespace waybill::envelope
