// What commands say in JSON beside reports: a library writes it.
// Tested by tests/cli/test_json_errors.py and test_man.py.

#include <cstdio>

#include <nlohmann/json.hpp>

#include "cli/command.h"

namespace waybill::cli {
namespace {

using Json = nlohmann::ordered_json;

// Names of files may be no UTF-8.
std::string to_text(const Json& model) {
  return model.dump(2, ' ', false, Json::error_handler_t::replace);
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

Exit print_text(const std::string& text, bool json) {
  if (json) {
    Json model;
    model["ok"] = true;
    model["text"] = text;
    std::printf("%s\n", to_text(model).c_str());
  } else {
    std::fputs(text.c_str(), stdout);
  }
  return Exit::kFine;
}

}  // namespace waybill::cli
