// The payload as a tree of kinds and sizes, and counts of what is in it.
//
// One walk does both: everything is counted, and what the options leave room for is
// shown. Each open container has a frame that knows where its items are shown, or that
// they are not.
// Tested by tests/report/report_test.cpp.

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "format/part_names.h"
#include "format/shapes.h"
#include "report/report_model.h"
#include "report/value_text.h"
#include "wire/reader.h"
#include "wire/utf8.h"

namespace waybill::envelope {
namespace {

using wire::ExtType;
using wire::NodeTag;
using wire::Reader;
using wire::Token;
using wire::TokenType;

constexpr std::size_t kDeepest = 64;  // Bounds the recursion of the JSON writer.
constexpr std::size_t kShownBytes = 16;
constexpr std::size_t kMostKeys = 10;  // Of one value in the outline.

class Outline {
 public:
  Outline(const Envelope& envelope, const std::vector<std::string>& names,
          const ReportOptions& options)
      : envelope_(envelope),
        names_(names),
        options_(options),
        max_depth_(std::min(options.max_depth, kDeepest)),
        reader_(envelope.payload.bytes, Limits{}, envelope.payload.offset) {
    shared_.reserve(envelope.shared.size());
    for (const std::uint64_t position : envelope.shared) {
      shared_.push_back({envelope.payload.offset + position, shared_.size()});
    }
    std::ranges::stable_sort(shared_, {}, &Shared::offset);
  }

  void run(Json& model) {
    Tree top;
    top.root = Json::array();
    stack_.push_back({.left = 1, .items = &top.root, .count = 1});
    bool sound = true;
    while (sound && !stack_.empty()) {
      Frame& frame = stack_.back();
      if (frame.left == 0) {
        if (frame.shown != nullptr) {
          (*frame.shown)["size"] = reader_.offset() - frame.offset;
        }
        stack_.pop_back();
        continue;
      }
      --frame.left;
      sound = value(slot_in(frame));
    }
    Json& outline = begin_object(model, 3)["outline"];
    if (!top.root.empty()) outline = std::move(top.root[0]);
    add_statistics(model["statistics"]);
    if (reader_.failed()) set_error(model["error"], reader_.error());
  }

 private:
  // What references with a number mean.
  struct Shared {
    std::uint64_t offset;
    std::size_t number;
  };
  struct Frame {
    std::uint64_t left = 0;
    Json* items = nullptr;  // Where the items are shown; null: they are not.
    Json* shown = nullptr;  // The container itself; likewise.
    std::size_t offset = 0;
    bool is_map = false;
    std::uint64_t count = 0;
    std::uint8_t tag = 0;     // Of a node.
    bool has_fields = false;  // A map by wire::FunctionField.

    // Of the value that was taken last.
    std::uint64_t position() const { return count - left - 1; }
    bool is_key() const { return is_map && left % 2 != 0; }
  };

  static bool is_function(std::uint8_t tag) {
    return tag == static_cast<std::uint8_t>(NodeTag::kFunction);
  }

  // What stands there, if references mean it; else null. Who made the envelope chose
  // the offsets, so they are in order and not hashed.
  const Shared* shared_at(std::size_t offset) const {
    const auto found = std::ranges::lower_bound(shared_, offset, {}, &Shared::offset);
    return found != shared_.end() && found->offset == offset ? &*found : nullptr;
  }

  // The place of the frame's next value in the outline, or null.
  Json* slot_in(Frame& frame) {
    if (frame.items == nullptr) return nullptr;
    const bool is_second = frame.is_map && !frame.is_key();
    if (!is_second && frame.items->size() == options_.max_items) {
      frame.items = nullptr;
      return nullptr;
    }
    Json* into = frame.items;
    if (frame.is_map && !is_second) into->push_back(Json::array());
    if (frame.is_map) into = &into->back();
    Json& slot = begin_object(into->emplace_back(), kMostKeys);
    const std::string_view name = part_name(frame.tag, frame.position());
    if (!name.empty()) slot["field"] = name;
    return &slot;
  }

  bool value(Json* slot) {
    const std::size_t offset = reader_.offset();
    Token token;
    if (!reader_.next(token)) return false;
    ++values_;
    if (slot != nullptr) add_field(stack_.back(), token, *slot);
    if (token.type == TokenType::kArray) {
      array(token, slot);
    } else if (token.type == TokenType::kMap) {
      open("dict", token, slot, token.count, true);
    } else if (slot != nullptr) {
      leaf(token, *slot);
    }
    count(token);
    if (slot == nullptr) return true;
    if (const Shared* shared = shared_at(offset)) (*slot)["shared"] = shared->number;
    return true;
  }

  // Which field of a function the value behind this key is.
  static void add_field(const Frame& frame, const Token& key, Json& slot) {
    if (!frame.has_fields || !frame.is_key() || key.type != TokenType::kInteger) return;
    const std::string_view name =
        function_field_name(static_cast<std::uint64_t>(key.integer));
    if (!name.empty()) slot["field"] = name;
  }

  void array(const Token& token, Json* slot) {
    std::uint8_t tag = 0;
    if (token.count == 0 || !reader_.take_node_tag(tag)) {
      open("list", token, slot, token.count, false);
      return;
    }
    const Shape* shape = shape_of(tag);
    const std::string kind =
        shape != nullptr ? std::string(shape->name) : "unknown_" + std::to_string(tag);
    ++nodes_[kind];
    const bool has_code =
        is_function(tag) || tag == static_cast<std::uint8_t>(NodeTag::kCode);
    if (slot != nullptr && has_code) add_code(*slot, kind);
    open(kind, token, slot, token.count - 1, false, tag);
  }

  // Which code a function or code node uses, before its items.
  void add_code(Json& slot, const std::string& kind) {
    Reader ahead = reader_;
    Token index;
    slot["kind"] = kind;
    if (!ahead.next(index) || index.type != TokenType::kInteger || index.integer < 0 ||
        static_cast<std::uint64_t>(index.integer) >= names_.size()) {
      return;
    }
    slot["code"] = index.integer;
    slot["name"] =
        start_of(names_[static_cast<std::size_t>(index.integer)], options_.max_text);
  }

  void open(const std::string& kind, const Token& token, Json* slot,
            std::uint64_t items, bool is_map, std::uint8_t tag = 0) {
    const Frame& around = stack_.back();
    Frame frame;
    frame.count = is_map ? items * 2 : items;
    frame.left = frame.count;
    frame.offset = token.offset;
    frame.is_map = is_map;
    frame.tag = tag;
    frame.has_fields = is_map && is_function(around.tag) && around.left == 0;
    if (slot != nullptr) {
      frame.shown = slot;
      const bool has_room = stack_.size() <= max_depth_;
      const std::uint64_t shown =
          has_room ? std::min<std::uint64_t>(items, options_.max_items) : 0;
      // All keys are made here: later ones would move the others in memory.
      if (shared_at(token.offset) != nullptr) (*slot)["shared"] = nullptr;
      (*slot)["kind"] = kind;
      (*slot)["offset"] = token.offset;
      (*slot)["size"] = 0;
      (*slot)["count"] = items;
      if (shown < items) (*slot)["more"] = items - shown;
      (*slot)["items"] = Json::array();
      if (shown != 0) frame.items = &(*slot)["items"];
    }
    deepest_ = std::max(deepest_, stack_.size());
    stack_.push_back(frame);
  }

  void leaf(const Token& token, Json& slot) {
    switch (token.type) {
      case TokenType::kNil:
        slot["kind"] = "none";
        return;
      case TokenType::kBoolean:
        slot["kind"] = "bool";
        slot["value"] = token.integer != 0;
        return;
      case TokenType::kInteger:
        slot["kind"] = "int";
        slot["value"] = token.integer;
        return;
      case TokenType::kUnsigned:
        slot["kind"] = "int";
        slot["value"] = token.unsigned_integer;
        return;
      case TokenType::kReal:
        slot["kind"] = "float";
        slot["value"] = real(token.real);
        return;
      case TokenType::kText:
        return text(token, slot);
      case TokenType::kBinary:
        return binary("bytes", token, slot);
      default:
        return extension(token, slot);
    }
  }

  // JSON has no word for these.
  static Json real(double value) {
    if (std::isnan(value)) return "nan";
    if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
    return value;
  }

  void text(const Token& token, Json& slot) const {
    slot["kind"] = "str";
    const std::size_t end = wire::size_of_start(token.text(), options_.max_text);
    slot["value"] = std::string(token.text().substr(0, end));
    if (end != token.bytes.size()) slot["size"] = token.bytes.size();
  }

  static void binary(const char* kind, const Token& token, Json& slot) {
    slot["kind"] = kind;
    slot["size"] = token.bytes.size();
    slot["start"] = hex(token.bytes.first(std::min(kShownBytes, token.bytes.size())));
  }

  void extension(const Token& token, Json& slot) const {
    std::uint64_t index = 0;
    const bool has_index = wire::index_of(token.bytes, index);
    switch (static_cast<ExtType>(token.ext_type)) {
      case ExtType::kReference:
        slot["kind"] = "reference";
        if (has_index) slot["index"] = index;
        return;
      case ExtType::kModule:
        slot["kind"] = "module";
        if (has_index && index < envelope_.manifest.imports.size()) {
          slot["name"] =
              start_of(envelope_.manifest.imports[index].module, options_.max_text);
        }
        return;
      case ExtType::kInteger:
        return binary("int", token, slot);
      case ExtType::kComplex:
        return binary("complex", token, slot);
      case ExtType::kText:
        return text(token, slot);
      case ExtType::kSingleton: {
        constexpr const char* kNames[] = {"ellipsis", "not_implemented", "empty"};
        const bool known = token.bytes.size() == 1 && token.bytes[0] < 3;
        slot["kind"] = known ? kNames[token.bytes[0]] : "unknown_singleton";
        return;
      }
      default:
        binary("unknown_extension", token, slot);
        slot["type"] = token.ext_type;
    }
  }

  void count(const Token& token) {
    if (token.type == TokenType::kText) text_bytes_ += token.bytes.size();
    if (token.type == TokenType::kBinary) binary_bytes_ += token.bytes.size();
    if (token.type != TokenType::kExtension) return;
    const auto type = static_cast<ExtType>(token.ext_type);
    if (type == ExtType::kReference) ++references_;
    if (type == ExtType::kModule) ++modules_;
  }

  void add_statistics(Json& statistics) const {
    begin_object(statistics, 7);
    statistics["values"] = values_;
    statistics["depth"] = deepest_;
    Json& nodes = begin_object(statistics["nodes"], nodes_.size());
    for (const auto& [kind, count] : nodes_) nodes[kind] = count;
    statistics["references"] = references_;
    statistics["modules"] = modules_;
    statistics["text_bytes"] = text_bytes_;
    statistics["binary_bytes"] = binary_bytes_;
  }

  const Envelope& envelope_;
  const std::vector<std::string>& names_;
  const ReportOptions& options_;
  std::size_t max_depth_;
  Reader reader_;
  std::vector<Shared> shared_;  // By offset.
  std::vector<Frame> stack_;
  std::size_t deepest_ = 0;
  std::uint64_t values_ = 0;
  std::uint64_t references_ = 0;
  std::uint64_t modules_ = 0;
  std::uint64_t text_bytes_ = 0;
  std::uint64_t binary_bytes_ = 0;
  std::map<std::string, std::uint64_t> nodes_;
};

}  // namespace

void fill_payload(const Envelope& envelope, const std::vector<std::string>& names,
                  const ReportOptions& options, Json& model) {
  Outline(envelope, names, options).run(model);
}

}  // namespace waybill::envelope
