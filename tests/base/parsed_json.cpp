#include "base/parsed_json.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace waybill {
namespace {

using Library = nlohmann::ordered_json;

const Library& at(const std::shared_ptr<const void>& node) {
  return *static_cast<const Library*>(node.get());
}

}  // namespace

ParsedJson::ParsedJson(const std::string& text)
    : node_(std::make_shared<const Library>(Library::parse(text, nullptr, false))) {
  EXPECT_FALSE(at(node_).is_discarded()) << "not JSON: " << text;
}

ParsedJson ParsedJson::operator[](const std::string& key) const {
  return {*this, &at(node_).at(key)};
}

ParsedJson ParsedJson::operator[](std::size_t index) const {
  return {*this, &at(node_).at(index)};
}

bool ParsedJson::contains(const std::string& key) const {
  return at(node_).contains(key);
}

std::size_t ParsedJson::size() const { return at(node_).size(); }

std::vector<std::string> ParsedJson::keys() const {
  std::vector<std::string> keys;
  for (const auto& member : at(node_).items()) keys.push_back(member.key());
  return keys;
}

std::vector<ParsedJson> ParsedJson::items() const {
  std::vector<ParsedJson> items;
  for (const Library& item : at(node_)) items.push_back({*this, &item});
  return items;
}

std::string ParsedJson::text() const { return at(node_).get<std::string>(); }

std::uint64_t ParsedJson::number() const { return at(node_).get<std::uint64_t>(); }

std::string ParsedJson::dump() const { return at(node_).dump(); }

bool ParsedJson::operator==(const ParsedJson& other) const {
  return at(node_) == at(other.node_);
}

bool ParsedJson::operator==(const std::string& other) const {
  return at(node_) == Library(other);
}

}  // namespace waybill
