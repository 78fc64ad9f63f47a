// Tested by tests/report/paths_at_test.cpp and tests/explain/explain_payload_test.cpp.

#include "report/paths.h"

#include <algorithm>
#include <utility>

#include "format/leaf_kind.h"
#include "format/manifest_codec.h"
#include "format/path_steps.h"

namespace waybill::envelope {
namespace {

using steps::Style;
using wire::FunctionField;
using wire::NodeTag;
using wire::Reader;
using wire::Token;

constexpr std::size_t kLongestKey = 100;   // Bytes of a key that are shown.
constexpr std::size_t kLongestName = 200;  // Likewise, of names.
constexpr std::uint64_t kMostItems = 8;    // Of a tuple that is a key.

// Whether Python takes the text for a name. Letters of other alphabets pass.
bool is_name(std::string_view text) {
  const auto is_letter = [](unsigned char byte) {
    return byte == '_' || byte >= 0x80 || (byte >= 'a' && byte <= 'z') ||
           (byte >= 'A' && byte <= 'Z');
  };
  return !text.empty() && is_letter(static_cast<unsigned char>(text[0])) &&
         !steps::is_keyword(text) && std::ranges::all_of(text, [&](char byte) {
           return is_letter(static_cast<unsigned char>(byte)) ||
                  (byte >= '0' && byte <= '9');
         });
}

// Whether repr() gives an expression for a value without values in it.
bool is_literal_leaf(const Token& token) {
  const LeafKind kind = leaf_kind(token);
  if (kind == LeafKind::kReal) return token.real - token.real == 0;  // Finite.
  return kind <= LeafKind::kComplex;
}

// As repr() of text: in double quotes if that spares a backslash.
std::string quoted_key(std::string_view text) {
  if (text.find('\'') == text.npos || text.find('"') != text.npos) {
    return "'" + escaped(text, false) + "'";
  }
  std::string shown = "\"";
  for (std::size_t end = 0; end != text.npos; text.remove_prefix(end + 1)) {
    end = text.find('\'');
    shown += escaped(text.substr(0, end), false);
    if (end == text.npos) break;
    shown += '\'';
  }
  return shown + '"';
}

// Whether repr() gives an expression for it: a leaf, or a tuple of few.
bool is_literal(const ValueView& value) {
  if (!value.is(NodeTag::kTuple)) return is_literal_leaf(value.token());
  const std::uint64_t count = *value.items();
  if (count > kMostItems) return false;
  for (std::uint64_t i = 0; i < count; ++i) {
    const ValueView item = ValueView::at(value.envelope(), value.value(i));
    if (!is_literal_leaf(item.token())) return false;
  }
  return true;
}

}  // namespace

// What reports show of it, of up to kLongestKey bytes.
std::string StepFormatter::text_of(const ValueView& value) const {
  return value_text(reader_at(envelope_, value.offset()), names_, kLongestKey);
}

std::string_view StepFormatter::key_name(const Link& link) const {
  const std::string_view text = follow(link.at).text();
  return text.size() <= kLongestName ? text : std::string_view();
}

// A key as Python writes it, or as much of it as is shown.
StepText StepFormatter::key_text(const Link& link) const {
  const ValueView key = follow(link.at);
  if (key.is_text()) {
    const std::string_view text = key.text();
    const bool may_fit = text.size() <= kLongestKey;
    std::string shown = quoted_key(start_of(text, kLongestKey));
    if (may_fit && shown.size() <= kLongestKey) return {std::move(shown), true};
    return {start_of(shown, kLongestKey), false};
  }
  if (is_literal(key)) {
    std::string text = text_of(key);
    const bool is_whole = text.find("…") == text.npos && !text.starts_with('<');
    if (is_whole) return {std::move(text), true};
  }
  return {steps::marker(shown_type(key)), false};
}

// What stands in brackets for a key that cannot be written whole.
std::string StepFormatter::shown_type(const ValueView& key) const {
  const LeafKind kind = leaf_kind(key.token());
  if (kind == LeafKind::kReal || kind == LeafKind::kDict)
    return std::string(words_of(kind).type);
  // Of too many digits; other leaves are cut.
  if (kind != LeafKind::kList) return "int";
  const Shape* shape = key.shape();
  if (shape == nullptr) return "list";
  if (!key.is_object()) return std::string(shape->name);
  std::string name = text_of(follow(key.behind().offset()));
  const std::string_view kClass = "<class ";
  if (name.starts_with(kClass) && name.ends_with('>'))
    name = name.substr(kClass.size(), name.size() - kClass.size() - 1);
  return name;
}

StepText StepFormatter::step(const Link& link, std::size_t holder) {
  // A bound method is made of its function and its object, which have names.
  if (link.style == Style::kArgument && link.number < 2 && makes_method(holder)) {
    return {link.number == 0 ? ".__func__" : ".__self__"};
  }
  if (link.style == Style::kAttribute) {
    const std::string_view name = key_name(link);
    if (is_name(name) && !may_be_descriptor(link, holder)) {
      return {steps::attribute(name)};
    }
  }
  const StepText key = steps::has_key(link.style) ? key_text(link) : StepText{};
  const std::uint64_t number =
      link.style == Style::kCell ? place_of_cell(link) : link.number;
  return {steps::spelled(link.style, link.label, key.text, number),
          steps::is_expression(link.style) && key.evaluates};
}

std::uint64_t StepFormatter::place_of_cell(const Link& link) {
  const auto [found, is_new] = cells_.try_emplace(link.at);
  std::vector<std::uint32_t>& places = found->second;
  if (is_new) {
    const ValueView function = ValueView::at(envelope_, link.at);
    const ValueView closure = ValueView::at(
        envelope_, function.value(position_of(NodeTag::kFunction, "closure")));
    std::uint32_t place = 0;
    for (const std::size_t cell : closure.values()) {
      if (ValueView::at(envelope_, cell).is(NodeTag::kCell)) places.push_back(place);
      ++place;
    }
  }
  return link.number < places.size() ? places[link.number] : UINT32_MAX;
}

// Properties, class methods and the like make something else of themselves when their
// class is asked for them. Any object may.
bool StepFormatter::may_be_descriptor(const Link& link, std::size_t holder) const {
  if (!follow(holder).is(NodeTag::kClass)) return false;
  Reader key = reader_at(envelope_, link.at);
  if (!key.skip()) return false;
  return follow(key.offset()).is_object();
}

bool StepFormatter::makes_method(std::size_t holder) const {
  const ValueView object = follow(holder);
  if (!object.is(NodeTag::kObject)) return false;
  const ValueView callable = follow(object.behind().offset());
  if (!callable.is(NodeTag::kGlobal)) return false;
  const auto global = global_name(callable.behind(), &envelope_.manifest);
  return global && global->module == "types" && global->name == "MethodType";
}

// What its fields say, else what its code does.
std::string_view StepFormatter::name_of_function(const ValueView& function) const {
  const std::size_t code = function.code_index();
  const std::size_t fields = function.value(position_of(NodeTag::kFunction, "fields"));
  const std::vector<std::size_t> values = ValueView::at(envelope_, fields).values();
  for (std::size_t i = 0; i + 1 < values.size(); i += 2) {
    const auto field = ValueView::at(envelope_, values[i]).number();
    const ValueView value = follow(values[i + 1]);
    const bool is_name = field == static_cast<std::uint64_t>(FunctionField::kName);
    if (is_name && value.is_text()) return value.text();
  }
  return code < names_.code.size() ? names_.code[code] : std::string_view();
}

StepText StepFormatter::name_at(std::size_t offset) const {
  const ValueView value = follow(offset);
  std::string_view name;
  if (value.is(NodeTag::kFunction)) {
    name = name_of_function(value);
  } else if (value.is(NodeTag::kClass)) {
    name = follow(value.value(position_of(NodeTag::kClass, "name"))).text();
  } else if (value.is(NodeTag::kGlobal)) {
    name = follow(value.value(position_of(NodeTag::kGlobal, "name"))).text();
  }
  std::string shown = start_of(name.substr(name.rfind('.') + 1), kLongestName);
  // No expression begins with "<lambda>".
  return {is_name(shown) ? std::move(shown) : "obj"};
}

namespace {

constexpr std::size_t kMostSteps = 32;  // Of a path that are shown: the last ones.

class PathWalk {
 public:
  PathWalk(const Envelope& envelope, const ValueNames& names)
      : steps_(envelope, names),
        cursor_(reader_at(envelope, envelope.payload.offset)) {}

  std::vector<std::string> run(std::span<const std::size_t> offsets) {
    std::vector<std::string> paths(offsets.size());
    std::size_t at = 0;
    while (at != offsets.size() && cursor_.next()) {
      if (cursor_.event() == CursorEvent::kClose) continue;
      const std::size_t offset = cursor_.token().offset;
      for (; at != offsets.size() && offsets[at] <= offset; ++at) {
        if (offsets[at] == offset) paths[at] = path_here();
      }
    }
    return paths;
  }

 private:
  // What is around comes first, and what leads to nothing is passed over. What is in a
  // definition has a path that begins there.
  std::string path_here() {
    const auto open = cursor_.open();
    std::vector<std::string> parts;  // The last one first.
    std::size_t depth = cursor_.depth();
    bool is_begun = false;
    if (cursor_.event() == CursorEvent::kOpen && has_no_link(depth)) {
      parts.emplace_back(name_of_inner(holds_at(open, depth)));
    } else {
      is_begun = add(depth, parts);
    }
    for (; !is_begun && depth != 0 && parts.size() < kMostSteps; --depth) {
      if (!has_no_link(depth - 1)) is_begun = add(depth - 1, parts);
    }
    std::string path;
    if (!is_begun) path = depth == 0 ? steps_.root().text : "…";
    for (std::size_t i = parts.size(); i-- != 0;) path += parts[i];
    return path;
  }

  // Whether a container that is open is what holds it. A namespace or a cell of a
  // function is no object of its own, and has a name.
  bool has_no_link(std::size_t depth) const {
    const auto open = cursor_.open();
    const bool is_node = open[depth].tag != 0 && !is_object(open[depth].rule);
    return !is_node && is_inner_at(open, depth);
  }

  // What leads to what stands at this depth. True if a path begins there.
  bool add(std::size_t depth, std::vector<std::string>& parts) {
    const auto open = cursor_.open();
    if (depth != 0 && holds_at(open, depth - 1) == Holds::kDefinitions) {
      const bool is_open = depth < open.size();
      parts.push_back(
          steps_.name_at(is_open ? open[depth].offset : cursor_.token().offset).text);
      return true;
    }
    const Link link = link_at(open, depth);
    if (link.style == steps::Style::kNone) return false;
    parts.push_back(steps_.step(link, holder_at(open, depth)).text);
    return false;
  }

  StepFormatter steps_;
  PayloadCursor<> cursor_;
};

}  // namespace

std::vector<std::string> paths_at(const Envelope& envelope, const ValueNames& names,
                                  std::span<const std::size_t> offsets) {
  return PathWalk(envelope, names).run(offsets);
}

}  // namespace waybill::envelope
