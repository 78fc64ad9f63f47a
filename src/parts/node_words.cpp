// Tested by tests/values/value_refusals_test.cpp and tests/cli/test_cat.py.

#include "parts/node_words.h"

#include "format/code_body.h"
#include "format/manifest_codec.h"
#include "format/shapes.h"
#include "format/value_view.h"
#include "wire/reader.h"

namespace waybill::envelope {
namespace {

using wire::NodeTag;
using wire::Reader;
using wire::Token;
using wire::TokenType;

// Of what stands around an object, one in the other.
constexpr int kMostSteps = 8;

std::string module_of(const Envelope& envelope, const Token& token) {
  const ImportRecord* import = import_of(token, envelope.manifest);
  return import != nullptr ? import->module : std::string();
}

std::string name_of_global(const Envelope& envelope, Reader reader) {
  Token module;
  Token name;
  if (!reader.next(module) || !reader.next(name)) return {};
  const std::string owner =
      module.type == TokenType::kNil ? "builtins" : module_of(envelope, module);
  return owner + "." + std::string(name.text());
}

std::string name_of_code(const Envelope& envelope, Reader reader) {
  std::uint64_t index = 0;
  if (!reader.read_unsigned(index, UINT64_MAX, "code") ||
      index >= envelope.code.size()) {
    return {};
  }
  const CodeBody& body = envelope.code[index];
  Reader code(body.bytes, Limits{}, body.offset);
  CodeFields fields;
  return read_code_body(code, body.bytes, fields) ? std::string(fields.qualified_name)
                                                  : std::string();
}

}  // namespace

std::string name_at(const Envelope& envelope, std::size_t offset) {
  for (int step = 0; step < kMostSteps; ++step) {
    const ValueView value(envelope, offset);
    if (value.is_text()) return std::string(value.text());
    if (value.token().type == TokenType::kExtension) {
      return module_of(envelope, value.token());
    }
    const Shape* shape = value.shape();
    if (shape == nullptr) return {};
    switch (shape->tag) {
      case NodeTag::kGlobal:
        return name_of_global(envelope, value.behind());
      case NodeTag::kFunction:
      case NodeTag::kCode:
        return name_of_code(envelope, value.behind());
      case NodeTag::kClass:
        offset = value.value(position_of(NodeTag::kClass, "name"));
        break;
      case NodeTag::kObject:
      case NodeTag::kNewObject:
      case NodeTag::kReplacement:
      case NodeTag::kNamespace:
      case NodeTag::kModule:
      case NodeTag::kClassDict:
      case NodeTag::kLazyImport:
        offset = value.behind().offset();
        break;
      default:
        return {};
    }
  }
  return {};
}

}  // namespace waybill::envelope
