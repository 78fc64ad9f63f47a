// Tested by tests/explain/explain_payload_test.cpp.

#include "explain/part_words.h"

#include <algorithm>
#include <optional>

#include "format/manifest_codec.h"
#include "format/value_view.h"
#include "parts/array_kinds.h"
#include "parts/part_text.h"
#include "report/value_text.h"

namespace waybill::envelope {
namespace {

using Kind = ExplainedPart::Kind;
using Style = Link::Style;
using wire::NodeTag;
using wire::Reader;
using wire::Token;
using wire::TokenType;

constexpr int kMostSteps = 8;  // Of what stands around an object.
// Bytes of a name. Keys that take more in the payload make no path.
constexpr std::size_t kLongestName = 200;

ValueNames names_of_values(const Envelope& envelope, const CodeBook& code) {
  ValueNames names;
  names.manifest = &envelope.manifest;
  names.buffers = envelope.buffers;
  for (std::size_t i = 0; i < code.size(); ++i) {
    names.code.emplace_back(code[i].fields.qualified_name);
  }
  return names;
}

}  // namespace

PartWords::PartWords(const Envelope& envelope, const CodeBook& code,
                     const WalkedPayload& walked)
    : envelope_(envelope),
      code_(code),
      walked_(walked),
      names_(names_of_values(envelope, code)),
      steps_(envelope, names_),
      budget_(4096 + 16 * walked.values) {}

void PartWords::describe(const TreePart& part, const TreePart& holder,
                         ExplainedPart& into) {
  const bool is_root = &part == walked_.parts.data();
  StepText step = is_root ? steps_.root() : steps_.step(part.link, holder.offset);
  into.step = std::move(step.text);
  into.evaluates = step.evaluates;
  if (part.link.style == Style::kGlobal) {
    into.variable = steps_.key_name(part.link);
  } else if (part.link.style == Style::kCell) {
    into.variable =
        start_of(code_.free_variable(code_of(holder), steps_.place_of_cell(part.link)),
                 kLongestName);
  }
  set_type(part, {envelope_, part.offset}, into);
}

std::size_t PartWords::code_of(const TreePart& part) const {
  const ValueView value = ValueView::at(envelope_, part.offset);
  std::uint64_t index = 0;
  const bool has_code = value.is(NodeTag::kFunction) &&
                        value.behind().read_unsigned(index, UINT32_MAX, "code");
  return has_code && index < code_.size() ? index : SIZE_MAX;
}

std::size_t PartWords::class_of(const TreePart& part) const {
  const ValueView value = ValueView::at(envelope_, part.offset);
  if (value.is(NodeTag::kClass)) return value.offset();
  if (!value.is(NodeTag::kNewObject)) return 0;
  const ValueView made_by(envelope_, value.behind().offset());
  return made_by.is(NodeTag::kClass) ? made_by.offset() : 0;
}

// What name_at() of parts/node_words.h tells, without reading what stands before it.
std::string PartWords::name_at(std::size_t offset) const {
  for (int step = 0; step < kMostSteps; ++step) {
    const ValueView value(envelope_, offset);
    const Token& token = value.token();
    if (token.type == TokenType::kText) return start_of(token.text(), kLongestName);
    if (const ImportRecord* import = import_of(token, envelope_.manifest)) {
      return start_of(import->module, kLongestName);
    }
    const Shape* shape = value.shape();
    if (shape == nullptr) return {};
    switch (shape->tag) {
      case NodeTag::kGlobal:
        return global_name(value.behind());
      case NodeTag::kFunction:
      case NodeTag::kCode: {
        std::uint64_t index = 0;
        if (!value.behind().read_unsigned(index, UINT32_MAX, "code")) return {};
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
        offset = value.behind().offset();
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

void PartWords::set_type(const TreePart& part, const ValueView& value,
                         ExplainedPart& into) {
  const Token& token = value.token();
  const Shape* shape = value.shape();
  if (shape == nullptr) {
    into.type = leaf_type(token);
    if (part.kind == Kind::kModule) into.detail = name_at(part.offset);
    if (token.type == TokenType::kMap || token.type == TokenType::kArray)
      into.detail = "of " + std::to_string(token.count);
    return;
  }
  into.type = shape->name;
  switch (shape->tag) {
    case NodeTag::kTuple:
    case NodeTag::kSet:
    case NodeTag::kFrozenSet:
      into.detail = "of " + std::to_string(token.count - 1);
      return;
    case NodeTag::kObject:
    case NodeTag::kNewObject:
      return set_object(part, value, into);
    case NodeTag::kStored:
      into.type = stored_type(value.behind());
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

void PartWords::set_object(const TreePart& part, const ValueView& value,
                           ExplainedPart& into) {
  std::string name = name_at(value.offset());
  if (name == "types.MethodType") name = "method";  // As its type is called.
  if (!name.empty()) into.type = std::move(name);
  if (!value.is(NodeTag::kObject) || part.cost > budget_) return;
  budget_ -= part.cost;
  const auto found = array_of(envelope_, ValueView(envelope_, part.offset), into.type);
  if (!found) return;
  into.type = start_of(found->type, kLongestName);
  for (const std::uint64_t extent : found->array.shape) {
    into.detail += (into.detail.empty() ? "" : "x") + std::to_string(extent);
  }
}

}  // namespace waybill::envelope
