// Tested by tests/report/report_test.cpp and tests/values/value_json_test.cpp.

#include "text/json_tree.h"

#include <cstdint>
#include <memory>

namespace waybill::envelope {
namespace {

// Takes a tree apart from its leaves; depth is bounded where the tree is made. What got
// no memory for its content has a type and a null pointer, which its destructor would
// follow.
void take_apart(Json& json) {
  if (auto* array = json.get_ptr<Json::array_t*>()) {
    for (Json& child : *array) take_apart(child);
    array->clear();
  } else if (auto* object = json.get_ptr<Json::object_t*>()) {
    for (auto& [key, child] : *object) take_apart(child);
    object->clear();
  } else if (json.is_structured()) {
    std::construct_at(&json);
  }
}

}  // namespace

std::string hex(BytesView bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (std::uint8_t byte : bytes) {
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

Tree::~Tree() { take_apart(root); }

Json& begin_object(Json& into, std::size_t keys) {
  into = Json::object();
  into.get_ref<Json::object_t&>().reserve(keys);
  return into;
}

void set_error(Json& into, const Error& error) {
  begin_object(into, 3);
  into["code"] = name_of(error.code);
  if (error.code != ErrorCode::kBadKey) into["offset"] = error.offset;
  into["detail"] = error.detail;
}

}  // namespace waybill::envelope
