// The report's tree, and the tree as JSON.
// Tested by tests/envelope/report_test.cpp.

#include "waybill/report.h"

#include <algorithm>

#include "envelope/code_body.h"
#include "envelope/report_model.h"
#include "waybill/signature.h"
#include "wire/reader.h"

namespace waybill {
namespace envelope {
namespace {

using wire::Reader;
using wire::Token;
using wire::TokenType;

constexpr const char* kSectionNames[wire::kSectionCount] = {
    "header", "manifest", "code", "shared", "payload", "notes", "digest", "signature"};

Json text_or_null(const std::string& text) {
  return text.empty() ? Json() : Json(text);
}

// What an envelope may have beside all others: keys that are there if it has it.
void add_extras(const Envelope& envelope, std::size_t max_text, Json& model) {
  if (const auto info = signature_info(envelope)) {
    model["signature"] = {{"algorithm", name_of(info->algorithm)},
                          {"key", to_string(info->key)}};
  }
  if (!envelope.application.empty()) {
    const std::size_t shown = std::min(envelope.application.size(), max_text / 2);
    model["application"] = {{"size", envelope.application.size()},
                            {"start", hex(envelope.application.first(shown))}};
  }
}

Json imports_model(const Manifest& manifest) {
  Json imports = Json::array();
  for (const ImportRecord& record : manifest.imports) {
    imports.push_back({{"module", record.module},
                       {"time", name_of(record.time)},
                       {"chain", text_or_null(record.chain)},
                       {"function", text_or_null(record.function)},
                       {"file", text_or_null(record.file)},
                       {"line", record.line == 0 ? Json() : Json(record.line)}});
  }
  return imports;
}

Json substitutions_model(const Manifest& manifest) {
  Json substitutions = Json::array();
  for (const Substitution& substitution : manifest.substitutions) {
    substitutions.push_back({{"policy", substitution.policy},
                             {"type", substitution.type},
                             {"path", substitution.path}});
  }
  return substitutions;
}

Json names_model(const std::vector<std::string_view>& names) {
  Json list = Json::array();
  for (std::string_view name : names) list.push_back(std::string(name));
  return list;
}

// Hashes of the code that stands directly among the constants.
Json nested_model(const Section& constants) {
  Json nested = Json::array();
  Reader reader(constants.bytes, Limits{}, constants.offset);
  std::uint64_t count = 0;
  if (!reader.read_array(count, "the constants")) return nested;
  for (; count != 0; --count) {
    Reader ahead = reader;
    Token token;
    if (!reader.skip() || !ahead.next(token)) return nested;
    if (token.type == TokenType::kExtension &&
        token.ext_type == static_cast<std::int8_t>(wire::ExtType::kCode)) {
      nested.push_back(hex(token.bytes));
    }
  }
  return nested;
}

Json body_model(const CodeBody& body, std::vector<std::string>& names) {
  Json model = {
      {"hash", hex(body.hash)}, {"offset", body.offset}, {"size", body.bytes.size()}};
  Reader reader(body.bytes, Limits{}, body.offset);
  CodeFields fields;
  const bool sound = read_code_body(reader, body.bytes, fields);
  names.emplace_back(fields.qualified_name);
  if (!sound) {
    model["error"] = error_model(reader.error());
    return model;
  }
  model["name"] = std::string(fields.name);
  model["qualified_name"] = std::string(fields.qualified_name);
  model["argument_count"] = fields.argument_count;
  model["positional_only_count"] = fields.positional_only_count;
  model["keyword_only_count"] = fields.keyword_only_count;
  model["flags"] = fields.flags;
  model["stack_size"] = fields.stack_size;
  model["instruction_bytes"] = fields.instructions.size();
  model["constant_count"] = fields.constant_count;
  model["names"] = names_model(fields.names);
  model["local_names"] = names_model(fields.local_names);
  model["nested"] = nested_model(fields.constants);
  return model;
}

Json sections_model(const Envelope& envelope) {
  Json sections = Json::object();
  Reader reader(envelope.bytes);
  std::uint64_t count = 0;
  if (!reader.read_array(count, "the envelope")) return sections;
  for (const char* name : kSectionNames) {
    const std::size_t offset = reader.offset();
    if (!reader.skip()) return sections;
    sections[name] = {{"offset", offset}, {"size", reader.offset() - offset}};
  }
  return sections;
}

// Names may hold bytes that are no UTF-8: they are replaced, not refused.
std::string dump(const Json& model) {
  return model.dump(2, ' ', false, Json::error_handler_t::replace);
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

Json error_model(const Error& error) {
  return {{"code", name_of(error.code)},
          {"offset", error.offset},
          {"detail", error.detail}};
}

Json report_model(const Envelope& envelope, const ReportOptions& options) {
  Json model = {{"format_version", envelope.format_version},
                {"python",
                 {{"major", envelope.python.major},
                  {"minor", envelope.python.minor},
                  {"magic", envelope.python.magic}}},
                {"size", envelope.size},
                {"digest", hex(envelope.digest)},
                {"signed", !envelope.signature.empty()},
                {"imports", imports_model(envelope.manifest)},
                {"substitutions", substitutions_model(envelope.manifest)}};
  std::vector<std::string> names;
  Json code = Json::array();
  for (const CodeBody& body : envelope.code) code.push_back(body_model(body, names));
  model["code"] = std::move(code);
  model["payload"] = payload_model(envelope, names, options);
  model["sections"] = sections_model(envelope);
  add_extras(envelope, options.max_text, model);
  return model;
}

}  // namespace envelope

std::string report_json(const Envelope& envelope, const ReportOptions& options) {
  return envelope::dump(envelope::report_model(envelope, options));
}

std::string error_json(const Error& error) {
  return envelope::dump({{"ok", false}, {"error", envelope::error_model(error)}});
}

}  // namespace waybill
