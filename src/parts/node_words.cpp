// Tested by tests/values/value_refusals_test.cpp and tests/cli/test_cat.py.

#include "parts/node_words.h"

#include <optional>
#include <string_view>

#include "format/code_body.h"
#include "format/manifest_codec.h"
#include "format/shapes.h"
#include "parts/value_view.h"
#include "wire/reader.h"

namespace waybill::envelope {
namespace {

using wire::NodeTag;
using wire::Reader;
using wire::Token;
using wire::TokenType;

// References and what stands around an object, one in the other.
constexpr int kMostSteps = 8;

class Search {
 public:
  Search(const Envelope& envelope, std::size_t offset)
      : envelope_(envelope), reader_(reader_at(envelope, offset)) {}

  std::string name() {
    for (int step = 0; step < kMostSteps; ++step) {
      Token token;
      if (!reader_.next(token)) return {};
      if (token.type == TokenType::kText) return std::string(token.text());
      if (token.type == TokenType::kExtension) {
        std::uint64_t number = 0;
        if (!wire::is_reference(token, number)) return module_of(token);
        if (number >= envelope_.shared.size()) return {};
        reader_ =
            reader_at(envelope_, envelope_.payload.offset + envelope_.shared[number]);
        continue;
      }
      std::uint8_t tag = 0;
      if (token.type != TokenType::kArray || token.count == 0 ||
          !reader_.take_node_tag(tag)) {
        return {};
      }
      if (auto found = name_in(static_cast<NodeTag>(tag))) return *found;
    }
    return {};
  }

 private:
  std::string module_of(const Token& token) const {
    const ImportRecord* import = import_of(token, envelope_.manifest);
    return import != nullptr ? import->module : std::string();
  }

  // What a node of that tag tells by itself; null: what stands next in it tells.
  std::optional<std::string> name_in(NodeTag tag) {
    switch (tag) {
      case NodeTag::kGlobal:
        return global();
      case NodeTag::kFunction:
      case NodeTag::kCode:
        return code();
      case NodeTag::kClass:
        return after(position_of(NodeTag::kClass, "name"));
      case NodeTag::kIdentified:
        return after(position_of(NodeTag::kIdentified, "value"));
      case NodeTag::kObject:
      case NodeTag::kNewObject:
      case NodeTag::kReplacement:
      case NodeTag::kNamespace:
      case NodeTag::kModule:
      case NodeTag::kClassDict:
      case NodeTag::kLazyImport:
        return std::nullopt;
      default:
        return "";
    }
  }

  // What stands behind so many values tells; nothing does if they cannot be read.
  std::optional<std::string> after(std::size_t values) {
    for (; values != 0; --values) {
      if (!reader_.skip()) return "";
    }
    return std::nullopt;
  }

  std::string global() {
    Token module;
    Token name;
    if (!reader_.next(module) || !reader_.next(name)) return {};
    const std::string owner =
        module.type == TokenType::kNil ? "builtins" : module_of(module);
    return owner + "." + std::string(name.text());
  }

  std::string code() {
    std::uint64_t index = 0;
    if (!reader_.read_unsigned(index, UINT64_MAX, "code") ||
        index >= envelope_.code.size()) {
      return {};
    }
    const CodeBody& body = envelope_.code[index];
    Reader reader(body.bytes, Limits{}, body.offset);
    CodeFields fields;
    return read_code_body(reader, body.bytes, fields)
               ? std::string(fields.qualified_name)
               : std::string();
  }

  const Envelope& envelope_;
  Reader reader_;
};

}  // namespace

std::string name_at(const Envelope& envelope, std::size_t offset) {
  return Search(envelope, offset).name();
}

}  // namespace waybill::envelope
