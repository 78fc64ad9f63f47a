// The payload as a tree of kinds and sizes, and statistics over all its values.
//
// One walk does both: it counts every value, and shows as many as the options allow.
// The annotation of each open container says where its items are shown, if they are.
// Tested by tests/report/report_test.cpp.

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "format/definitions.h"
#include "format/leaf_kind.h"
#include "format/manifest_codec.h"
#include "report/paths.h"
#include "report/report_model.h"
#include "report/value_text.h"
#include "wire/reader.h"
#include "wire/utf8.h"

namespace waybill::envelope {
namespace {

using wire::ExtType;
using wire::Reader;
using wire::Token;
using wire::TokenType;

constexpr std::size_t kMaxOutlineDepth =
    64;  // Bounds the recursion of the JSON writer.
constexpr std::size_t kShownBytes = 16;
constexpr std::size_t kMaxKeys = 11;  // Keys of a value in the outline.

class Outline {
 public:
  Outline(const Envelope& envelope, const ValueNames& names,
          const ReportOptions& options)
      : envelope_(envelope),
        names_(names.code),
        steps_(envelope, names),
        options_(options),
        max_depth_(std::min(options.max_depth, kMaxOutlineDepth)),
        cursor_(reader_at(envelope, envelope.payload.offset), {top_.root(), {}}),
        shared_(shared_places(envelope)) {}

  void run(Json model) {
    top_.root().make_array();
    while (cursor_.next()) {
      if (cursor_.event() == CursorEvent::kClose) {
        close();
      } else {
        add_value();
      }
    }
    const Json outline = model.make_object(3)["outline"];
    if (!top_.root().empty()) outline.take(top_.root()[0]);
    add_statistics(model["statistics"]);
    const Reader& reader = cursor_.reader();
    if (reader.failed()) {
      set_error(model["error"], reader.error());
    } else if (!reader.at_end()) {
      set_error(model["error"], {ErrorCode::kMalformed, reader.offset(),
                                 "the payload is more than one value"});
    }
  }

 private:
  struct Annotation {
    std::optional<Json> items;  // Receives the items, if they are shown.
    std::optional<Json> shown;  // The container, if it is shown.
  };
  using Container = PayloadCursor<Annotation>::Container;

  // The current value's place in the outline, if it is shown.
  std::optional<Json> add_slot() {
    Container& around = cursor_.around();
    std::optional<Json>& items = around.annotation.items;
    if (!items) return std::nullopt;
    const bool is_second = around.is_map && !around.is_key();
    if (!is_second && items->size() == options_.max_items) {
      items.reset();
      return std::nullopt;
    }
    if (around.is_map && !is_second) items->append().make_array();
    const Json into = around.is_map ? (*items)[items->size() - 1] : *items;
    const Json slot = into.append().make_object(kMaxKeys);
    const std::string_view name = field_name(around);
    if (!name.empty()) slot["field"] = name;
    add_step(slot);
    return slot;
  }

  // The step that paths have for the current value, if it is an object.
  void add_step(Json slot) {
    if (!is_object(cursor_.rule()) || cursor_.around().is_key()) return;
    const auto open = cursor_.open();
    const std::size_t depth = cursor_.depth();
    if (cursor_.event() == CursorEvent::kOpen && is_implicit_at(open, depth)) return;
    const Link link = link_at(open, depth);
    if (link.style == steps::Style::kNone) return;
    slot["step"] = steps_.step(link, holder_at(open, depth)).text;
  }

  // The name of the current part of a node, or of the function field that the current
  // key stands for.
  static std::string_view field_name(const Container& around) {
    if (around.is_key()) return function_field_name(around.field);
    return part_name(around.tag, around.index());
  }

  void add_value() {
    const Token& token = cursor_.token();
    const std::optional<Json> slot = add_slot();
    ++value_count_;
    if (cursor_.event() == CursorEvent::kOpen) {
      open(slot);
    } else if (slot) {
      add_leaf(token, *slot);
    }
    count(token);
    if (!slot) return;
    const auto shared = places_at(shared_, token.offset);
    if (!shared.empty()) (*slot)["shared"] = shared.front().number;
  }

  void close() {
    const Container& container = cursor_.container();
    if (!container.annotation.shown) return;
    (*container.annotation.shown)["size"] =
        cursor_.reader().offset() - container.offset;
  }

  // The kind of a container in the outline. Counts nodes.
  std::string count_kind(const Container& container) {
    if (container.is_map) return "dict";
    if (container.tag == 0) return "list";
    std::string kind = container.shape != nullptr
                           ? std::string(container.shape->name)
                           : "unknown_" + std::to_string(container.tag);
    ++node_counts_[kind];
    return kind;
  }

  // The code that a function or code node uses.
  void add_code(Json slot) {
    const std::size_t offset = cursor_.container().offset;
    const std::size_t index = ValueView::at(envelope_, offset).code_index();
    if (index >= names_.size()) return;
    slot["code"] = index;
    slot["name"] = start_of(names_[index], options_.max_text);
  }

  void open(const std::optional<Json>& slot) {
    Container& container = cursor_.container();
    const std::size_t depth = cursor_.open().size();
    deepest_level_ = std::max(deepest_level_, depth);
    const std::string kind = count_kind(container);
    if (!slot) return;
    const std::uint64_t items =
        container.is_map ? container.count / 2 : container.count;
    const std::uint64_t shown =
        depth <= max_depth_ ? std::min<std::uint64_t>(items, options_.max_items) : 0;
    // All keys are added here: a later one could move the others in memory.
    if (uses_code(container.tag)) {
      (*slot)["kind"] = kind;
      add_code(*slot);
    }
    if (!places_at(shared_, container.offset).empty()) (*slot)["shared"] = nullptr;
    (*slot)["kind"] = kind;
    (*slot)["offset"] = container.offset;
    (*slot)["size"] = 0;
    (*slot)["count"] = items;
    if (shown < items) (*slot)["more"] = items - shown;
    const Json list = (*slot)["items"].make_array();
    if (shown != 0) container.annotation.items.emplace(list);
    container.annotation.shown.emplace(*slot);
  }

  void add_leaf(const Token& token, Json slot) const {
    const LeafKind kind = leaf_kind(token);
    slot["kind"] = names_of(kind).report;
    std::uint64_t index = 0;
    switch (kind) {
      case LeafKind::kBoolean:
        slot["value"] = token.integer != 0;
        return;
      case LeafKind::kInteger:
        slot["value"] = token.integer;
        return;
      case LeafKind::kUnsigned:
        slot["value"] = token.unsigned_integer;
        return;
      case LeafKind::kReal:
        return add_real(token.real, slot);
      case LeafKind::kText:
        return add_text(token, slot);
      case LeafKind::kBytes:
      case LeafKind::kLargeInteger:
      case LeafKind::kComplex:
        return add_binary(token, slot);
      case LeafKind::kReference:
        if (is_reference(envelope_, token, index)) slot["index"] = index;
        return;
      case LeafKind::kModule:
        if (const ImportRecord* import = import_of(token, envelope_.manifest)) {
          slot["name"] = start_of(import->module, options_.max_text);
        }
        return;
      case LeafKind::kCode:
      case LeafKind::kUnknown:
        add_binary(token, slot);
        slot["type"] = token.ext_type;
        return;
      default:
        return;
    }
  }

  // JSON has no literals for NaN and infinities.
  static void add_real(double value, Json slot) {
    if (std::isnan(value)) {
      slot["value"] = "nan";
    } else if (std::isinf(value)) {
      slot["value"] = value > 0 ? "inf" : "-inf";
    } else {
      slot["value"] = value;
    }
  }

  void add_text(const Token& token, Json slot) const {
    const std::size_t end = wire::prefix_size(token.text(), options_.max_text);
    slot["value"] = std::string(token.text().substr(0, end));
    if (end != token.bytes.size()) slot["size"] = token.bytes.size();
  }

  static void add_binary(const Token& token, Json slot) {
    slot["size"] = token.bytes.size();
    slot["start"] = hex(token.bytes.first(std::min(kShownBytes, token.bytes.size())));
  }

  void count(const Token& token) {
    if (token.type == TokenType::kText) text_bytes_ += token.bytes.size();
    if (token.type == TokenType::kBinary) binary_bytes_ += token.bytes.size();
    if (token.type != TokenType::kExtension) return;
    const auto type = static_cast<ExtType>(token.ext_type);
    if (type == ExtType::kReference) ++reference_count_;
    if (type == ExtType::kModule) ++module_count_;
  }

  void add_statistics(Json statistics) const {
    statistics.make_object(7);
    statistics["values"] = value_count_;
    statistics["depth"] = deepest_level_;
    const Json nodes = statistics["nodes"].make_object(node_counts_.size());
    for (const auto& [kind, count] : node_counts_) nodes[kind.c_str()] = count;
    statistics["references"] = reference_count_;
    statistics["modules"] = module_count_;
    statistics["text_bytes"] = text_bytes_;
    statistics["binary_bytes"] = binary_bytes_;
  }

  const Envelope& envelope_;
  const std::vector<std::string>& names_;
  StepFormatter steps_;
  const ReportOptions& options_;
  std::size_t max_depth_;
  JsonTree top_;  // Holds the outline.
  PayloadCursor<Annotation> cursor_;
  std::vector<SharedPlace> shared_;
  std::size_t deepest_level_ = 0;
  std::uint64_t value_count_ = 0;
  std::uint64_t reference_count_ = 0;
  std::uint64_t module_count_ = 0;
  std::uint64_t text_bytes_ = 0;
  std::uint64_t binary_bytes_ = 0;
  std::map<std::string, std::uint64_t> node_counts_;
};

}  // namespace

void fill_payload(const Envelope& envelope, const ValueNames& names,
                  const ReportOptions& options, Json model) {
  Outline(envelope, names, options).run(model);
}

}  // namespace waybill::envelope
