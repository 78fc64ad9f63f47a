// Tested by tests/explain/explain_payload_test.cpp.

#include "explain/part_words.h"

#include <algorithm>
#include <optional>

#include "format/value_view.h"
#include "parts/array_kinds.h"
#include "parts/part_text.h"
#include "report/value_text.h"

namespace waybill::envelope {
namespace {

using Kind = ExplainedPart::Kind;
using steps::Style;
using wire::NodeTag;

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
      names_(names_of_values(envelope, code)),
      steps_(envelope, names_),
      node_names_{&names_.code, &walked.class_names, kLongestName, ""},
      budget_(4096 + 16 * walked.values) {}

void PartWords::describe(const TreePart& part, const TreePart& holder,
                         ExplainedPart& into) {
  const bool is_root = &part == &holder;
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
  return value.is(NodeTag::kFunction) ? value.code_index() : SIZE_MAX;
}

std::size_t PartWords::class_of(const TreePart& part) const {
  const ValueView value = ValueView::at(envelope_, part.offset);
  if (value.is(NodeTag::kClass)) return value.offset();
  if (!value.is(NodeTag::kNewObject)) return 0;
  const ValueView made_by(envelope_, value.behind().offset());
  return made_by.is(NodeTag::kClass) ? made_by.offset() : 0;
}

void PartWords::set_type(const TreePart& part, const ValueView& value,
                         ExplainedPart& into) {
  into.type = type_of(value);
  if (const auto items = value.items()) into.detail = "of " + std::to_string(*items);
  if (part.kind == Kind::kModule) into.detail = name_of(value, node_names_);
  if (value.shape() == nullptr) return;
  switch (value.shape()->tag) {
    case NodeTag::kObject:
    case NodeTag::kNewObject:
      return set_object(part, value, into);
    case NodeTag::kClass:
      into.type = "type";
      return;
    case NodeTag::kGlobal:
    case NodeTag::kLazyImport:
    case NodeTag::kModule:
      into.detail = name_of(value, node_names_);
      return;
    default:
      return;
  }
}

void PartWords::set_object(const TreePart& part, const ValueView& value,
                           ExplainedPart& into) {
  std::string name = name_of(value, node_names_);
  if (name == "types.MethodType") name = "method";  // As its type is called.
  if (!name.empty()) into.type = std::move(name);
  if (!value.is(NodeTag::kObject) || part.cost > budget_) return;
  budget_ -= part.cost;
  const auto found = array_of(value, into.type);
  if (!found) return;
  into.type = start_of(found->type, kLongestName);
  for (const std::uint64_t extent : found->array.shape) {
    into.detail += (into.detail.empty() ? "" : "x") + std::to_string(extent);
  }
}

}  // namespace waybill::envelope
