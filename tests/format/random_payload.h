#pragma once

// Random payloads that follow the grammar, made from its table: each kind of node,
// references to all that may be referred to, as many source locations as there are uses
// of code, and stored buffers.

#include <algorithm>
#include <random>
#include <vector>

#include "format/samples.h"
#include "format/shapes.h"

namespace waybill::samples {

class RandomPayload {
 public:
  explicit RandomPayload(unsigned seed) : random_(seed) {
    draft_.manifest.imports = {
        {"json", ImportTime::kLoad, "json.dumps", "f", "/home/ada/task.py", 3},
        {"numpy", ImportTime::kLoad, "numpy", "", "", 0}};
    draft_.code.push_back(BodyDraft().body());
  }

  Bytes sealed() {
    if (random_below(3) == 0) write_definitions();
    write_value(envelope::Rule::kObject, kDepth);
    draft_.source_locations.array(code_uses_);
    for (std::size_t i = 0; i < code_uses_; ++i) write_location(i);
    return draft_.sealed();
  }

 private:
  using Rule = envelope::Rule;

  static constexpr int kDepth = 6;  // The functions here call themselves.

  // An object that a reference may mean.
  struct Target {
    std::uint64_t position;
    Rule rule;  // kNamespace, kCell or kObject.
    std::uint64_t number = UINT64_MAX;
  };

  std::size_t random_below(std::size_t end) { return random_() % end; }

  void write_location(std::size_t number) {
    if (number != 0 && random_below(2) == 0) {
      draft_.source_locations.unsigned_integer(random_below(number));
      return;
    }
    put(draft_.source_locations, {samples::location("/home/ada/task.py", 2)});
  }

  // After the definitions, references are numbered from 0 again.
  void write_definitions() {
    constexpr std::size_t kCount = 4;  // The offset of the number of shared positions.
    const std::size_t count = random_below(4);
    out_.node(NodeTag::kDefinitions, 3);
    out_.unsigned_integer(0);
    out_.array(count);
    for (std::size_t i = 0; i < count; ++i) write_value(Rule::kObject, kDepth);
    first_number_ = draft_.shared.size();
    Bytes bytes = out_.take();
    bytes[kCount] = static_cast<std::uint8_t>(first_number_);
    out_.append(bytes);
    for (Target& target : targets_) target.number = UINT64_MAX;
  }

  // Writes a reference to an object that fits the rule; false if there is none.
  bool write_reference(Rule rule) {
    const auto fits = [&](const Target& target) {
      return is_object(rule) || target.rule == rule;
    };
    const auto count = std::ranges::count_if(targets_, fits);
    if (count == 0) return false;
    auto chosen = random_below(static_cast<std::size_t>(count));
    for (Target& target : targets_) {
      if (!fits(target) || chosen-- != 0) continue;
      if (target.number == UINT64_MAX) {
        target.number = draft_.shared.size() - first_number_;
        draft_.shared.push_back(target.position);
      }
      out_.index(ExtType::kReference, target.number);
      break;
    }
    return true;
  }

  void write_value(Rule rule, int depth) {
    const std::uint64_t position = out_.size();
    if (is_referable(rule)) {
      if (random_below(8) == 0 && write_reference(rule)) return;
      targets_.push_back({position, is_object(rule) ? Rule::kObject : rule});
    }
    switch (rule) {
      case Rule::kObjectOrEmpty:
        if (random_below(3) == 0) return out_.singleton(wire::Singleton::kEmpty);
        return write_object(depth);
      case Rule::kTextOrNil:
      case Rule::kIdOrNil:
      case Rule::kModuleOrNil:
        if (random_below(3) == 0) return out_.nil();
        if (rule == Rule::kTextOrNil) return out_.text("name");
        if (rule == Rule::kIdOrNil) return out_.binary(Bytes(16, 0xab));
        return out_.index(ExtType::kModule, random_below(2));
      case Rule::kText:
        return out_.text("name");
      case Rule::kBoolean:
        return out_.boolean(random_below(2) != 0);
      case Rule::kBinary:
        return out_.binary(Bytes(random_below(20), 0xab));
      case Rule::kUnsigned:
        return out_.unsigned_integer(random_below(300));
      case Rule::kCodeIndex:
        ++code_uses_;
        return out_.unsigned_integer(0);
      case Rule::kNamespace:
        return write_node(envelope::shape_of(NodeTag::kNamespace), depth);
      case Rule::kCell:
        return out_.node(NodeTag::kCell, 0);
      case Rule::kObjects:
      case Rule::kCells:
      case Rule::kObjectsOrEmpty:
      case Rule::kPairs:
      case Rule::kNamedObjects:
        return write_container(rule, depth);
      case Rule::kFunctionFields:
        return write_function_fields(depth);
      default:
        return write_object(depth);
    }
  }

  void write_container(Rule rule, int depth) {
    const envelope::Contents contents = envelope::contents_of(rule);
    const bool is_map = rule == Rule::kPairs || rule == Rule::kNamedObjects;
    const std::size_t count = depth > 0 ? random_below(4) : 0;
    is_map ? out_.map(count) : out_.array(count);
    for (std::size_t i = 0; i < count; ++i) {
      if (is_map) write_value(contents.even, depth - 1);
      write_value(contents.odd, depth - 1);
    }
  }

  void write_function_fields(int depth) {
    std::vector<std::uint64_t> fields;
    for (std::uint64_t i = 0; i < envelope::kFunctionParts.size(); ++i) {
      if (random_below(3) == 0) fields.push_back(i);
    }
    out_.map(fields.size());
    for (const std::uint64_t field : fields) {
      out_.unsigned_integer(field);
      write_value(envelope::function_part(field)->rule, depth - 1);
    }
  }

  // Replaces the bytes of a buffer by the compressed bytes of kStoredItems.
  static void compress(BufferParts& buffer) {
    static constexpr std::uint8_t kFrame[] = {0x28, 0xb5, 0x2f, 0xfd, 0x20,
                                              100,  0x23, 3,    0,    7};
    buffer.bytes = kFrame;
    buffer.length = 100;
    buffer.compression = Compression{wire::CompressionMethod::kZstd, 1};
  }

  // Writes a reference to a stored buffer, an existing or a new one.
  void write_stored() {
    const std::size_t number = random_below(draft_.buffers.size() + 1);
    if (number == draft_.buffers.size()) {
      const auto kind = static_cast<wire::BufferKind>(random_below(5));
      const std::size_t size = 1 + random_below(kStoredItems.size());
      draft_.buffers.push_back({kind, BytesView(kStoredItems).first(size)});
      if (random_below(2) == 0) draft_.buffers.back().format = "<i";
      if (random_below(2) == 0) draft_.buffers.back().shape = kStoredShape;
      if (random_below(4) == 0) compress(draft_.buffers.back());
    }
    put(out_, {samples::stored(number)});
  }

  void write_node(const envelope::Shape& shape, int depth) {
    if (shape.tag == NodeTag::kStored) return write_stored();
    const std::size_t max_count =
        shape.max_count == envelope::kMany ? 3 : shape.max_count;
    const std::size_t count =
        shape.min_count + random_below(max_count - shape.min_count + 1);
    out_.node(shape.tag, count);
    for (std::size_t i = 0; i < count; ++i) write_value(shape.part(i)->rule, depth - 1);
  }

  void write_object(int depth) {
    if (depth <= 0 || random_below(4) == 0) return write_leaf();
    switch (random_below(6)) {
      case 0:
        return write_container(Rule::kObjects, depth);
      case 1:
        return write_container(Rule::kPairs, depth);
      default:
        // The last two are no objects: kDefinitions and kDefinitionHash.
        return write_node(envelope::kShapes[random_below(envelope::kShapes.size() - 2)],
                          depth);
    }
  }

  void write_leaf() {
    switch (random_below(9)) {
      case 0:
        return out_.nil();
      case 1:
        return out_.integer(static_cast<std::int64_t>(random_below(1000)) - 500);
      case 2:
        return out_.real(0.5);
      case 3:
        return out_.text("a text of more than thirty-two bytes, which is not short");
      case 4:
        return out_.binary(Bytes(3, 0xff));
      case 5:
        return out_.extension(ExtType::kInteger, Bytes(9, 0x12));
      case 6:
        return out_.extension(ExtType::kComplex, Bytes(16, 0));
      case 7:
        return out_.singleton(wire::Singleton::kEllipsis);
      default:
        return out_.index(ExtType::kModule, random_below(2));
    }
  }

  std::mt19937 random_;
  Draft draft_;
  wire::Writer& out_ = draft_.payload;
  std::vector<Target> targets_;
  std::size_t code_uses_ = 0;
  std::size_t first_number_ = 0;  // Among the shared positions.
};

}  // namespace waybill::samples
