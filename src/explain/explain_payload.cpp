// Explains a payload in two steps. A walk measures all values and keeps the large
// parts; the code here describes these parts.
//
//   payload_walk.cpp  the walk: sizes, references to bytes in other sections, and a
//                     bounded number of parts
//   code_places.cpp   the code that captured a part
//
// Tested by tests/explain/explain_payload_test.cpp and fuzz/fuzz_payload.cpp.

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "explain/code_places.h"
#include "explain/payload_walk.h"
#include "format/value_view.h"
#include "parts/array_kinds.h"
#include "report/paths.h"
#include "report/value_text.h"
#include "waybill/explanation.h"

namespace waybill {
namespace {

using envelope::CodeBodies;
using envelope::CodePlaces;
using envelope::CodeUse;
using envelope::NameOptions;
using envelope::StepFormatter;
using envelope::StepText;
using envelope::TreePart;
using envelope::ValueNames;
using envelope::ValueView;
using envelope::WalkedPayload;
using envelope::steps::Style;
using wire::NodeTag;

// The most bytes of a name. A path omits longer keys.
constexpr std::size_t kMaxName = 200;

// Describes parts: their steps, types and details. The length of text is bounded, so
// that descriptions cannot take much more memory than the payload.
class PartText {
 public:
  PartText(const Envelope& envelope, const CodeBodies& code,
           const WalkedPayload& walked)
      : envelope_(envelope),
        code_(code),
        names_(envelope::names_of(envelope)),
        steps_(envelope, names_),
        node_names_{&names_.code, &walked.class_names, kMaxName, ""},
        budget_(4096 + 16 * walked.values) {}

  // Fills in step, variable, evaluates, type and detail. `holder`: the part that
  // contains `part`.
  void describe(const TreePart& part, const TreePart& holder, ExplainedPart& into) {
    const bool is_root = &part == &holder;
    StepText step = is_root ? steps_.root() : steps_.step(part.link, holder.offset);
    into.step = std::move(step.text);
    into.evaluates = step.evaluates;
    if (part.link.style == Style::kGlobal) {
      into.variable = steps_.key_name(part.link);
    } else if (part.link.style == Style::kCell) {
      into.variable = envelope::start_of(
          code_.free_variable(code_of(holder), steps_.closure_index_of(part.link)),
          kMaxName);
    }
    set_type(part, {envelope_, part.offset}, into);
  }

  // The name of the attribute that holds the part.
  std::string_view attribute_name(const TreePart& part) const {
    return steps_.key_name(part.link);
  }

  // The index of the code of a part that is a function; SIZE_MAX for other parts.
  std::size_t code_of(const TreePart& part) const {
    const ValueView value = ValueView::at(envelope_, part.offset);
    return value.is(NodeTag::kFunction) ? value.code_index() : SIZE_MAX;
  }

  // The offset of the class by value that a part is, or is an instance of; 0 if there
  // is none.
  std::size_t class_of(const TreePart& part) const {
    const ValueView value = ValueView::at(envelope_, part.offset);
    if (value.is(NodeTag::kClass)) return value.offset();
    if (!value.is(NodeTag::kNewObject)) return 0;
    const ValueView made_by(envelope_, value.reader_inside().offset());
    return made_by.is(NodeTag::kClass) ? made_by.offset() : 0;
  }

 private:
  void set_type(const TreePart& part, const ValueView& value, ExplainedPart& into) {
    into.type = envelope::type_of(value);
    if (const auto items = value.items()) into.detail = "of " + std::to_string(*items);
    if (part.kind == ExplainedPart::Kind::kModule)
      into.detail = name_of(value, node_names_);
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

  void set_object(const TreePart& part, const ValueView& value, ExplainedPart& into) {
    std::string name = name_of(value, node_names_);
    if (name == "types.MethodType") name = "method";  // The __name__ of the type.
    if (!name.empty()) into.type = std::move(name);
    if (!value.is(NodeTag::kObject) || part.cost > budget_) return;
    budget_ -= part.cost;
    const auto found = envelope::array_of(value, into.type);
    if (!found) return;
    into.type = envelope::start_of(found->type, kMaxName);
    for (const std::uint64_t extent : found->array.shape) {
      into.detail += (into.detail.empty() ? "" : "x") + std::to_string(extent);
    }
  }

  const Envelope& envelope_;
  const CodeBodies& code_;
  ValueNames names_;
  StepFormatter steps_;
  NameOptions node_names_;  // For names of types.
  // How many more values array detection may visit. Without a bound, values to which
  // many references lead would be visited again for each.
  std::uint64_t budget_;
};

// Finds the code that captured parts. For a variable at the start of a path, this is
// the load of the variable, with as many attributes of the path as the expression has.
// For an attribute of a class or of its instances, it is a method that reads the
// attribute from its first parameter.
class Captures {
 public:
  Captures(const Envelope& envelope, const CodeBodies& code, const PartText& text,
           const std::vector<TreePart>& parts)
      : text_(text),
        parts_(parts),
        places_(envelope, code),
        uses_(parts.size()),
        is_of_code_(parts.size()) {
    for (const TreePart& part : parts) add_method(part);
    std::ranges::sort(methods_);
  }

  // Sets the place of a part. The place of its holder must be set already.
  void add(std::size_t index, ExplainedPart& part, const ExplainedPart& holder) {
    if (index == 0) return;
    const TreePart& source = parts_[index];
    const TreePart& around = parts_[part.parent];
    const std::size_t function = text_.code_of(around);
    part.place = holder.place;
    is_of_code_[index] = is_of_code_[part.parent];
    if (!part.variable.empty()) {
      uses_[index] = places_.loads_of(function, part.variable);
      part.place = places_.place_of_function(function, part.variable);
      is_of_code_[index] = true;
    } else if (function != SIZE_MAX && source.link.style != Style::kNone) {
      // Defaults, annotations and other attributes have the location of the function.
      part.place = places_.place_of_function(function, {});
      is_of_code_[index] = true;
    } else if (source.link.style == Style::kAttribute) {
      uses_[index] = attribute_of(index, around, text_.attribute_name(source));
    }
    if (!uses_[index].values.empty()) part.place = places_.place_of(uses_[index]);
  }

 private:
  // A class may have any number of methods.
  static constexpr int kMaxMethods = 64;

  // Records a method: a function in a class, or the argument of a call that wraps the
  // function, such as staticmethod.
  void add_method(const TreePart& part) {
    const std::size_t method = text_.code_of(part);
    if (method == SIZE_MAX) return;
    const TreePart* holder = &parts_[part.parent];
    if (part.link.style == Style::kArgument) holder = &parts_[holder->parent];
    const std::size_t owner = text_.class_of(*holder);
    if (owner == holder->offset) methods_.emplace_back(owner, method);
  }

  CodeUse attribute_of(std::size_t index, const TreePart& around,
                       std::string_view name) {
    CodeUse use = places_.attribute_of(uses_[&around - parts_.data()], name);
    if (!use.values.empty()) return use;
    const std::size_t owner = text_.class_of(around);
    // A variable earlier in the path is more informative than a method of the object's
    // class.
    const bool is_of_class = owner == around.offset;
    if (is_of_code_[index] && !is_of_class) return use;
    auto method = std::ranges::lower_bound(methods_, owner, {}, &Method::first);
    for (int left = kMaxMethods; left != 0 && use.values.empty(); --left, ++method) {
      if (method == methods_.end() || method->first != owner) break;
      use = places_.attribute_of(places_.self_of(method->second), name);
    }
    if (!use.values.empty() && is_of_class) is_of_code_[index] = true;
    return use;
  }

  // Offset of the class; index of the code.
  using Method = std::pair<std::size_t, std::size_t>;

  const PartText& text_;
  const std::vector<TreePart>& parts_;
  CodePlaces places_;
  std::vector<CodeUse> uses_;
  std::vector<bool> is_of_code_;  // Whether the path contains a variable or a class.
  std::vector<Method> methods_;   // Sorted.
};

void set_sizes(const std::vector<TreePart>& parts, Explanation& explanation) {
  for (std::size_t i = 0; i < parts.size(); ++i) {
    ExplainedPart& part = explanation.parts[i];
    part.bytes = part.own = parts[i].bytes;
    if (i != 0) explanation.parts[part.parent].own -= part.bytes;
  }
}

void set_imports(const Manifest& manifest, Explanation& explanation) {
  for (const ImportRecord& record : manifest.imports) {
    if (!record.is_added_by_encoder()) explanation.imports.push_back({record, false});
  }
}

}  // namespace

Explanation explain_payload(const VerifiedEnvelope& verified,
                            const std::function<void(std::uint64_t)>& progress) {
  const Envelope& envelope = *verified;
  CodeBodies code(envelope);
  const WalkedPayload walked = walk_payload(envelope, code, progress);
  PartText text(envelope, code, walked);
  Captures captures(envelope, code, text, walked.parts);
  Explanation explanation;
  explanation.total = envelope.size;
  explanation.omitted_parts = walked.omitted_parts;
  explanation.parts.resize(walked.parts.size());
  for (std::size_t i = 0; i < walked.parts.size(); ++i) {
    const TreePart& source = walked.parts[i];
    const TreePart& holder = walked.parts[source.parent];
    ExplainedPart& part = explanation.parts[i];
    part.parent = source.parent;
    part.kind = source.kind;
    part.is_shared = source.is_shared;
    text.describe(source, holder, part);
    captures.add(i, part, explanation.parts[part.parent]);
  }
  set_sizes(walked.parts, explanation);
  set_imports(envelope.manifest, explanation);
  explanation.source = envelope::explained_source(envelope, false);
  return explanation;
}

}  // namespace waybill
