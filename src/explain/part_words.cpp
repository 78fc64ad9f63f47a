// Tested by tests/explain/explain_payload_test.cpp.

#include "explain/part_words.h"

#include <algorithm>
#include <optional>

#include "format/manifest_codec.h"
#include "parts/array_kinds.h"
#include "parts/part_text.h"
#include "parts/value_view.h"
#include "report/value_text.h"

namespace waybill::envelope {
namespace {

using Kind = ExplainedPart::Kind;
using Style = Link::Style;
using wire::NodeTag;
using wire::Reader;
using wire::Token;
using wire::TokenType;

constexpr int kMostSteps = 8;  // References and what stands around an object.
// Bytes of a name. Keys that take more in the payload make no path.
constexpr std::size_t kLongestName = 200;

// Whether Python takes the text for a name. Letters of other alphabets pass.
bool is_identifier(std::string_view text) {
  const auto is_letter = [](unsigned char byte) {
    return byte == '_' || byte >= 0x80 || (byte >= 'a' && byte <= 'z') ||
           (byte >= 'A' && byte <= 'Z');
  };
  return !text.empty() && is_letter(static_cast<unsigned char>(text[0])) &&
         std::ranges::all_of(text, [&](char byte) {
           return is_letter(static_cast<unsigned char>(byte)) ||
                  (byte >= '0' && byte <= '9');
         });
}

// Whether all that is next is what repr() gives an expression for.
bool is_literal(Reader reader) {
  for (std::uint64_t left = 1; left != 0; --left) {
    Token token;
    if (!reader.next(token)) return false;
    std::uint8_t tag = 0;
    switch (token.type) {
      case TokenType::kArray:
        if (!reader.take_node_tag(tag) ||
            tag != static_cast<std::uint8_t>(NodeTag::kTuple))
          return false;
        left += token.count - 1;
        break;
      case TokenType::kMap:
        return false;
      case TokenType::kReal:
        if (token.real - token.real != 0) return false;  // NaN, infinities.
        break;
      case TokenType::kExtension:
        if (!token.is(wire::ExtType::kInteger) && !token.is(wire::ExtType::kText) &&
            !token.is(wire::ExtType::kComplex)) {
          return false;
        }
        break;
      default:
        break;
    }
  }
  return true;
}

std::string in_quotes(std::string_view text) {
  return "'" + escaped(text, false) + "'";
}

std::string last_name(std::string_view name) {
  return std::string(name.substr(name.rfind('.') + 1));
}

}  // namespace

PartWords::PartWords(const Envelope& envelope, const CodeBook& code,
                     const WalkedPayload& walked)
    : envelope_(envelope),
      code_(code),
      walked_(walked),
      budget_(4096 + 16 * walked.values) {}

void PartWords::describe(const TreePart& part, const TreePart& holder,
                         ExplainedPart& into) {
  if (part.link.style == Style::kRoot) {
    set_root(part, into);
  } else {
    set_step(part, holder, into);
  }
  set_type(part, follow(part.offset), into);
}

std::size_t PartWords::code_of(const TreePart& part) const {
  Seen seen = look(part.offset);
  std::uint64_t index = 0;
  const bool has_code = seen.is(NodeTag::kFunction) &&
                        seen.behind.read_unsigned(index, UINT32_MAX, "code");
  return has_code && index < code_.size() ? index : SIZE_MAX;
}

std::size_t PartWords::class_of(const TreePart& part) const {
  Seen seen = look(part.offset);
  if (seen.is(NodeTag::kNewObject)) seen = follow(seen.behind.offset());
  return seen.is(NodeTag::kClass) ? seen.token.offset : 0;
}

PartWords::Seen PartWords::look(std::size_t offset) const {
  Seen seen{{}, 0, reader_at(envelope_, offset)};
  seen.behind.next(seen.token);
  if (seen.token.type == TokenType::kArray && seen.token.count != 0)
    seen.behind.take_node_tag(seen.tag);
  return seen;
}

// The same of what is referred to, and of what an id stands before.
PartWords::Seen PartWords::follow(std::size_t offset) const {
  Seen seen = look(offset);
  for (int step = 0; step < kMostSteps; ++step) {
    std::uint64_t number = 0;
    if (wire::is_reference(seen.token, number) && number < envelope_.shared.size()) {
      seen = look(envelope_.payload.offset + envelope_.shared[number]);
    } else if (seen.is(NodeTag::kIdentified) && seen.behind.skip()) {
      seen = look(seen.behind.offset());
    } else {
      break;
    }
  }
  return seen;
}

// What name_at() of values/node_words.h tells, without reading what stands before it.
std::string PartWords::name_at(std::size_t offset) const {
  for (int step = 0; step < kMostSteps; ++step) {
    Seen seen = follow(offset);
    const Token& token = seen.token;
    if (token.type == TokenType::kText) return start_of(token.text(), kLongestName);
    if (const ImportRecord* import = import_of(token, envelope_.manifest)) {
      return start_of(import->module, kLongestName);
    }
    if (token.type != TokenType::kArray) return {};
    switch (static_cast<NodeTag>(seen.tag)) {
      case NodeTag::kGlobal:
        return global_name(seen.behind);
      case NodeTag::kFunction:
      case NodeTag::kCode: {
        std::uint64_t index = 0;
        if (!seen.behind.read_unsigned(index, UINT32_MAX, "code")) return {};
        if (index >= code_.size()) return {};
        return start_of(code_[index].fields.qualified_name, kLongestName);
      }
      case NodeTag::kClass: {
        const auto found =
            std::ranges::lower_bound(walked_.class_names, token.offset, {},
                                     [](const auto& each) { return each.first; });
        if (found == walked_.class_names.end()) return {};
        if (found->first != token.offset) return {};
        offset = found->second;
        break;
      }
      case NodeTag::kObject:
      case NodeTag::kNewObject:
      case NodeTag::kNamespace:
      case NodeTag::kModule:
      case NodeTag::kClassDict:
      case NodeTag::kLazyImport:
        offset = seen.behind.offset();
        break;
      default:
        return {};
    }
  }
  return {};
}

std::string PartWords::global_name(Reader reader) const {
  Token module;
  Token name;
  if (!reader.next(module) || !reader.next(name)) return {};
  const ImportRecord* import = import_of(module, envelope_.manifest);
  const std::string start = import == nullptr ? "" : import->module + ".";
  return start_of(start + start_of(name.text(), kLongestName), kLongestName);
}

std::string PartWords::stored_type(Reader reader) const {
  std::uint64_t number = 0;
  const bool is_there = reader.read_unsigned(number, UINT32_MAX, "a stored buffer") &&
                        number < envelope_.buffers.size();
  return is_there ? envelope::stored_type(envelope_.buffers[number].kind) : "bytes";
}

void PartWords::set_root(const TreePart& part, ExplainedPart& into) const {
  const Seen seen = follow(part.offset);
  std::string name;
  if (seen.is(NodeTag::kFunction) && !walked_.root_name.empty()) {
    name = start_of(walked_.root_name, kLongestName);
  } else if (seen.is(NodeTag::kFunction) || seen.is(NodeTag::kClass) ||
             seen.is(NodeTag::kGlobal)) {
    name = last_name(name_at(part.offset));
  }
  into.step = name.empty() ? "obj" : name;
  into.evaluates = is_identifier(into.step);
}

// The name that a key is; null for one that is none, or is too long.
std::string_view PartWords::key_name(const Link& link) const {
  const Token token = follow(link.key).token;
  const bool is_text =
      token.type == TokenType::kText && token.bytes.size() <= kLongestName;
  return is_text ? token.text() : std::string_view();
}

// A key as Python writes it; empty for one that it does not.
std::string PartWords::key_text(const Link& link) const {
  const std::string_view name = key_name(link);
  if (name.data() != nullptr) return in_quotes(name);
  if (link.value - link.key > kLongestName) return {};
  if (!is_literal(reader_at(envelope_, link.key))) return {};
  const std::string text = text_at(envelope_, link.key, 8 * kLongestName);
  return text.find("…") == std::string::npos ? text : std::string();
}

void PartWords::set_step(const TreePart& part, const TreePart& holder,
                         ExplainedPart& into) const {
  const Link& link = part.link;
  const std::string label(link.label);
  const std::string number = std::to_string(link.number);
  switch (link.style) {
    case Style::kLabel:
      into.step = label;
      return;
    case Style::kDunder:
      into.step = ".__" + label + "__";
      return;
    case Style::kIndex:
      into.step = (label.empty() ? "" : ".__" + label + "__") + "[" + number + "]";
      return;
    case Style::kCell:
      into.step = ".__closure__[" + number + "].cell_contents";
      into.variable =
          start_of(code_.free_variable(code_of(holder), link.number), kLongestName);
      return;
    case Style::kArgument:
      return set_argument(part, holder, into);
    case Style::kRoot:
    case Style::kMarker:
    case Style::kOnly:
      into.step =
          "<" + label + (link.style == Style::kMarker ? " " + number : "") + ">";
      into.evaluates = false;
      return;
    default:
      break;
  }
  const std::string key = key_text(link);
  const std::string_view name = key_name(link);
  into.evaluates = !key.empty();
  const std::string shown = key.empty() ? number : key;
  if (link.style == Style::kImport || link.style == Style::kKeyword) {
    into.step =
        (link.style == Style::kImport ? "<import " : "<argument ") + shown + ">";
    into.evaluates = false;
  } else if (link.style == Style::kAttribute) {
    into.evaluates = is_identifier(name);
    into.step = into.evaluates ? "." + std::string(name) : "<attribute " + shown + ">";
  } else if (link.style == Style::kGlobal) {
    into.variable = name;
    into.step = key.empty() ? "<global " + number + ">" : ".__globals__[" + key + "]";
  } else {
    into.step = key.empty() ? "<value " + number + ">" : "[" + key + "]";
  }
}

// A bound method is made of its function and its object, which have names.
void PartWords::set_argument(const TreePart& part, const TreePart& holder,
                             ExplainedPart& into) const {
  const bool is_method = part.link.number < 2 &&
                         look(holder.offset).is(NodeTag::kObject) &&
                         name_at(holder.offset) == "types.MethodType";
  into.evaluates = is_method;
  if (is_method) {
    into.step = part.link.number == 0 ? ".__func__" : ".__self__";
  } else {
    into.step = "<argument " + std::to_string(part.link.number) + ">";
  }
}

void PartWords::set_type(const TreePart& part, const Seen& seen, ExplainedPart& into) {
  const Shape* shape = seen.tag == 0 ? nullptr : shape_of(seen.tag);
  if (shape == nullptr) {
    into.type = leaf_type(seen.token);
    if (part.kind == Kind::kModule) into.detail = name_at(part.offset);
    if (seen.token.type == TokenType::kMap || seen.token.type == TokenType::kArray)
      into.detail = "of " + std::to_string(seen.token.count);
    return;
  }
  into.type = shape->name;
  switch (shape->tag) {
    case NodeTag::kTuple:
    case NodeTag::kSet:
    case NodeTag::kFrozenSet:
      into.detail = "of " + std::to_string(seen.token.count - 1);
      return;
    case NodeTag::kObject:
    case NodeTag::kNewObject:
      return set_object(part, seen, into);
    case NodeTag::kStored:
      into.type = stored_type(seen.behind);
      return;
    case NodeTag::kClass:
      into.type = "type";
      return;
    case NodeTag::kGlobal:
    case NodeTag::kLazyImport:
    case NodeTag::kModule:
      into.detail = name_at(part.offset);
      return;
    default:
      return;
  }
}

void PartWords::set_object(const TreePart& part, const Seen& seen,
                           ExplainedPart& into) {
  std::string name = name_at(seen.token.offset);
  if (name == "types.MethodType") name = "method";  // As its type is called.
  if (!name.empty()) into.type = std::move(name);
  if (!seen.is(NodeTag::kObject) || part.cost > budget_) return;
  budget_ -= part.cost;
  const auto found = array_of(envelope_, ValueView(envelope_, part.offset), into.type);
  if (!found) return;
  into.type = start_of(found->type, kLongestName);
  for (const std::uint64_t extent : found->array.shape) {
    into.detail += (into.detail.empty() ? "" : "x") + std::to_string(extent);
  }
}

}  // namespace waybill::envelope
