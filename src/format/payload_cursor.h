#pragma once

// Walks a payload value by value, with a stack of open containers. The grammar
// (shapes.h) gives the rule of each value. The payload need not be verified: where it
// violates the grammar, values count as objects.
//
//   PayloadCursor<> cursor(reader);
//   while (cursor.next()) {
//     if (cursor.event() == CursorEvent::kLeaf) ... cursor.token(), cursor.rule()
//   }
//   if (cursor.reader().failed()) ...

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "format/shapes.h"
#include "wire/reader.h"

namespace waybill::envelope {

enum class CursorEvent : std::uint8_t {
  kLeaf,   // A value that is not a container.
  kOpen,   // A container starts, possibly an empty one.
  kClose,  // The innermost open container ends.
};

// A container whose values are being walked.
struct OpenContainer {
  std::uint64_t count;  // Values in it, keys included, without a node's tag.
  std::uint64_t left;   // Values not visited yet.
  std::size_t offset = 0;
  bool is_map = false;
  std::uint8_t tag = 0;          // The tag of a node; 0 for other containers.
  const Shape* shape = nullptr;  // Null unless it is a node with a known tag.
  Contents contents = {};
  std::uint64_t field = UINT64_MAX;  // The last key among a function's fields.
  std::size_t key = 0;               // Offset of the last key of a map.
  // Rule and part of the container itself: see PayloadCursor.
  Rule rule = Rule::kObject;
  const Part* part = nullptr;

  // Index and role of the last value visited.
  std::uint64_t index() const { return count - left - 1; }
  bool is_key() const { return is_map && left % 2 != 0; }
};

struct NoAnnotation {};

// `Annotation` is data that a client keeps for each open container. Memory is
// proportional to the depth.
template <typename Annotation = NoAnnotation>
class PayloadCursor {
 public:
  struct Container : OpenContainer {
    Annotation annotation = {};
  };

  // `around`: the annotation around the payload.
  explicit PayloadCursor(wire::Reader reader, Annotation around = {})
      : reader_(std::move(reader)),
        stack_{{{.count = 1, .left = 1}, std::move(around)}} {}

  // Goes to the next event. False at the end of the payload, or with an error in the
  // reader. Invalidates references to containers.
  bool next() {
    if (event_ == CursorEvent::kClose) stack_.pop_back();
    if (stack_.back().left == 0) {
      event_ = CursorEvent::kClose;
      return stack_.size() > 1;
    }
    Container& around = stack_.back();
    --around.left;
    if (!reader_.next(token_)) return false;
    find_rule(around);
    event_ = CursorEvent::kLeaf;
    if (token_.type == wire::TokenType::kMap) {
      open({.count = token_.count * 2, .left = token_.count * 2, .is_map = true});
    } else if (token_.type == wire::TokenType::kArray) {
      open({.count = token_.count, .left = token_.count});
    }
    return true;
  }

  // Skips the content of a container that starts, so that it ends next. Returns false
  // with an error in the reader.
  bool skip() { return reader_.skip_values(std::exchange(stack_.back().left, 0)); }

  // The current event, its token and rule, and the part of a node, or field of a
  // function, that it is; null if it is neither.
  CursorEvent event() const { return event_; }
  const wire::Token& token() const { return token_; }
  Rule rule() const { return rule_; }
  const Part* part() const { return part_; }

  // The container that starts or ends here, and the one that encloses the value.
  Container& container() { return stack_.back(); }
  Container& around() {
    return event_ == CursorEvent::kLeaf ? stack_.back() : stack_[stack_.size() - 2];
  }

  // The open containers, outermost first; depth() of them enclose the value.
  std::span<const Container> open() const { return std::span(stack_).subspan(1); }
  std::size_t depth() const {
    return open().size() - (event_ == CursorEvent::kLeaf ? 0 : 1);
  }

  // The reader, after the value or at the first value of a container.
  wire::Reader& reader() { return reader_; }

 private:
  void find_rule(OpenContainer& around) {
    part_ = nullptr;
    if (around.is_key()) around.key = token_.offset;
    if (around.shape != nullptr) {
      part_ = around.shape->part(around.index());
      rule_ = part_ == nullptr ? Rule::kObject : part_->rule;
      return;
    }
    const Contents& contents = around.contents;
    // The current value is not counted in `left` any more.
    rule_ = around.left % 2 == 0 ? contents.odd : contents.even;
    if (!contents.are_fields) return;
    if (around.is_key()) {
      around.field = token_.type == wire::TokenType::kInteger && token_.integer >= 0
                         ? static_cast<std::uint64_t>(token_.integer)
                         : UINT64_MAX;
    } else {
      part_ = function_part(around.field);
      rule_ = part_ == nullptr ? Rule::kObject : part_->rule;
    }
  }

  void open(OpenContainer container) {
    event_ = CursorEvent::kOpen;
    container.offset = token_.offset;
    container.rule = rule_;
    container.part = part_;
    container.contents = contents_of(rule_);
    if (!container.is_map && container.count != 0 &&
        reader_.read_node_tag(container.tag)) {
      container.left = --container.count;
      container.shape = shape_of(container.tag);
      container.contents = {};
    }
    stack_.push_back({container, {}});
  }

  wire::Reader reader_;
  CursorEvent event_ = CursorEvent::kLeaf;
  wire::Token token_{};
  Rule rule_ = Rule::kObject;
  const Part* part_ = nullptr;
  std::vector<Container> stack_;  // The first holds the payload.
};

}  // namespace waybill::envelope
