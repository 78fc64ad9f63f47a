// Writes a value as an envelope of plain data. One loop with a stack of its own; the
// stack is also the path that errors tell.
// Tested by tests/values/value_test.cpp, array_test.cpp and
// tests/examples/test_plain_data.py.

#include <algorithm>
#include <string>
#include <vector>

#include "text/control_characters.h"
#include "values/array_objects.h"
#include "values/value_keys.h"
#include "values/value_leaf.h"
#include "waybill/value.h"
#include "wire/writer.h"

namespace waybill {
namespace {

using data::Kind;
using data::Map;
using data::Value;
using envelope::Objection;
using wire::Writer;

constexpr std::size_t kMaxPathSteps = 16;
constexpr std::size_t kMaxPathText = 40;

class ValueWriter {
 public:
  bool write(const Value& root) {
    if (!value(root)) return false;
    while (!stack_.empty()) {
      Frame& frame = stack_.back();
      if (frame.next == frame.count) {
        stack_.pop_back();
      } else {
        const std::size_t place = frame.next++;
        if (!value(frame.child(place))) return false;
      }
    }
    return true;
  }

  // What was written, as parts of an envelope; views of this.
  Parts parts(const WriteOptions& options) const {
    Parts parts;
    parts.python = options.python;
    parts.application = options.application;
    parts.key = options.key;
    parts.payload = out_.view();
    parts.buffers = buffers_.rows();
    arrays_.put_into(parts);
    return parts;
  }

  Error error() const {
    return {objection_.code, 0, path() + ": " + objection_.detail};
  }

 private:
  // A container that is being written. Of a map, keys and values are in turn.
  struct Frame {
    const std::vector<Value>* items;
    const Map* map;
    std::size_t count;
    std::size_t next = 0;

    const Value& child(std::size_t place) const {
      if (map == nullptr) return (*items)[place];
      const auto& pair = map->pairs[place / 2];
      return place % 2 == 0 ? pair.first : pair.second;
    }
  };

  bool value(const Value& value) {
    switch (value.kind()) {
      case Kind::kMap:
        return map(*value.get_if<Map>());
      case Kind::kSet:
      case Kind::kFrozenSet:
        return set(value);
      case Kind::kSlice:
      case Kind::kRange:
        return is_slice_or_range(value) && items(value);
      case Kind::kList:
      case Kind::kTuple:
        return items(value);
      case Kind::kArray:
        return arrays_.write(*value.get_if<data::Array>(), objection_);
      case Kind::kBinary:
      case Kind::kByteArray:
        return binary(value);
      default:
        return envelope::write_leaf(value, out_, objection_);
    }
  }

  bool items(const Value& value) {
    const std::vector<Value>& values = *value.items();
    if (!envelope::is_countable(values.size(), value.kind(), objection_)) return false;
    envelope::write_head(value.kind(), values.size(), out_);
    stack_.push_back({&values, nullptr, values.size()});
    return true;
  }

  bool binary(const Value& value) {
    const auto* bytes = value.get_if<data::Binary>();
    BufferParts row;
    row.kind =
        bytes != nullptr ? wire::BufferKind::kBytes : wire::BufferKind::kByteArray;
    row.bytes = bytes != nullptr ? *bytes : value.get_if<data::ByteArray>()->bytes;
    if (!envelope::LargeBuffers::takes(row.bytes)) {
      return envelope::write_leaf(value, out_, objection_);
    }
    buffers_.add(row, out_);
    return true;
  }

  bool map(const Map& map) {
    std::size_t culprit = 0;
    if (!envelope::is_countable(map.pairs.size(), Kind::kMap, objection_) ||
        !envelope::are_keys(map, culprit, objection_)) {
      return false;
    }
    out_.map(map.pairs.size());
    stack_.push_back({nullptr, &map, map.pairs.size() * 2});
    return true;
  }

  bool set(const Value& value) {
    std::size_t culprit = 0;
    return envelope::are_keys(*value.items(), culprit, objection_) &&
           envelope::write_set(value, out_, objection_);
  }

  bool is_slice_or_range(const Value& value) {
    const char* problem = envelope::problem_of(value);
    if (problem == nullptr) return true;
    objection_ = {ErrorCode::kMalformed, problem};
    return false;
  }

  // Where the value stands that was written last, as Python would get there:
  // value['runs'][3].
  std::string path() const {
    std::string text = "value";
    for (std::size_t i = 0; i < stack_.size(); ++i) {
      if (i == kMaxPathSteps) return text + "…";
      text += step(stack_[i]);
    }
    return text;
  }

  static std::string step(const Frame& frame) {
    const std::size_t place = frame.next - 1;
    if (frame.map == nullptr) return "[" + std::to_string(place) + "]";
    const Value& key = frame.map->pairs[place / 2].first;
    if (place % 2 == 0) return ".keys()[" + std::to_string(place / 2) + "]";
    if (const auto* text = key.get_if<std::string>();
        text && text->size() < kMaxPathText) {
      return "['" + envelope::printable_text(*text) + "']";
    }
    return ".values()[" + std::to_string(place / 2) + "]";
  }

  Writer out_;
  envelope::LargeBuffers buffers_;
  envelope::ArrayObjects arrays_{out_, buffers_};
  std::vector<Frame> stack_;
  Objection objection_{};
};

}  // namespace

Result<std::vector<std::uint8_t>> write_value(const Value& value,
                                              const WriteOptions& options) {
  ValueWriter writer;
  if (!writer.write(value)) return tl::unexpected(writer.error());
  std::vector<std::uint8_t> bytes;
  seal(writer.parts(options), bytes);
  return bytes;
}

Result<void> write_value_to(const std::function<void(BytesView)>& write,
                            const Value& value, const WriteOptions& options) {
  ValueWriter writer;
  if (!writer.write(value)) return tl::unexpected(writer.error());
  seal_to(writer.parts(options), [&](BytesView piece, bool) { write(piece); });
  return {};
}

}  // namespace waybill
