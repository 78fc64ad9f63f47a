// The JSON output of commands, apart from reports, which the library writes.
// Tested by tests/cli/test_json_errors.py, test_ls.py and test_man.py.

#include <cstdio>

#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "cli/listing.h"
#include "waybill/report.h"

namespace waybill::cli {
namespace {

using Json = nlohmann::ordered_json;

// Replaces bytes that are not UTF-8, which file names may hold.
std::string to_text(const Json& model, int indent = 2) {
  return model.dump(indent, ' ', false, Json::error_handler_t::replace);
}

Json json_of(const ListedPart& listed) {
  const Part& part = listed.part;
  Json json;
  json["path"] = printable(listed.path);
  json["type"] = printable(part.type);
  json["size"] = part.size;
  json["count"] = part.count;
  if (listed.hidden != 0) json["hidden"] = listed.hidden;
  if (!part.text.empty()) json["text"] = printable(part.text);
  if (part.array) {
    json["item"] = printable(part.array->item);
    json["shape"] = part.array->shape;
    if (part.array->buffer) json["buffer"] = *part.array->buffer;
  }
  return json;
}

}  // namespace

std::string failure_json(const std::string& code, const std::string& detail) {
  Json model;
  model["ok"] = false;
  model["error"]["code"] = code;
  model["error"]["detail"] = detail;
  return to_text(model);
}

std::string success_json(
    std::initializer_list<std::pair<const char*, std::size_t>> numbers,
    const std::optional<SignatureInfo>& signature) {
  Json model;
  model["ok"] = true;
  for (const auto& [name, number] : numbers) model[name] = number;
  if (signature) {
    model["signature"]["algorithm"] = name_of(signature->algorithm);
    model["signature"]["key"] = to_string(signature->key);
  }
  return to_text(model);
}

std::string parts_json(
    bool ok, std::initializer_list<std::pair<const char*, std::size_t>> numbers,
    const std::vector<ListedPart>& parts, const std::vector<std::string>& states) {
  Json model;
  model["ok"] = ok;
  for (const auto& [name, number] : numbers) model[name] = number;
  model["parts"] = Json::array();
  for (std::size_t i = 0; i < parts.size(); ++i) {
    Json part = json_of(parts[i]);
    if (!states.empty()) part["state"] = states[i];
    model["parts"].push_back(std::move(part));
  }
  return to_text(model, -1);
}

Exit print_text(const std::string& text, bool json) {
  if (json) {
    Json model;
    model["ok"] = true;
    model["text"] = text;
    std::printf("%s\n", to_text(model).c_str());
  } else {
    std::fputs(text.c_str(), stdout);
  }
  return Exit::kSuccess;
}

}  // namespace waybill::cli
