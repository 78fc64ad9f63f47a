#pragma once

// Walks a payload value by value, with a stack of the containers that are open. The
// grammar (shapes.h) says what each value may be; what it is nobody need have checked:
// where a payload does not keep to the grammar, values count as objects.
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
  kLeaf,   // A value without values in it.
  kOpen,   // A container starts; an empty one too.
  kClose,  // The container that was opened last and not closed yet ends.
};

// A container whose values are being walked.
struct OpenContainer {
  std::uint64_t count;  // Values in it, without a node's tag; keys count.
  std::uint64_t left;   // Those still to come.
  std::size_t offset = 0;
  bool is_map = false;
  std::uint8_t tag = 0;          // Of a node; else 0.
  const Shape* shape = nullptr;  // Of a node whose tag is known.
  Contents contents = {};
  std::uint64_t field = UINT64_MAX;  // The last key of a function's fields.
  std::size_t key = 0;               // Where the last key of a map stands.
  // What the grammar says of the place that it stands in: see PayloadCursor.
  Rule rule = Rule::kObject;
  const Part* part = nullptr;

  // Of the value that came last.
  std::uint64_t index() const { return count - left - 1; }
  bool is_key() const { return is_map && left % 2 != 0; }
};

struct NoNote {};

// `Note`: what the walk keeps with each container that is open. Memory by depth.
template <typename Note = NoNote>
class PayloadCursor {
 public:
  struct Container : OpenContainer {
    Note note = {};
  };

  // `around`: the note of what is around the payload.
  explicit PayloadCursor(wire::Reader reader, Note around = {})
      : reader_(std::move(reader)),
        stack_{{{.count = 1, .left = 1}, std::move(around)}} {}

  // False at the end of the payload, and when the reader has an error. Ends all
  // references to containers.
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

  // Of a container that starts: passes over what is in it, so that it ends next. False
  // when the reader has an error.
  bool skip() { return reader_.skip_values(std::exchange(stack_.back().left, 0)); }

  // All of the event: what the value may be, and which part of a node, or field of a
  // function, it is; null if it is neither.
  CursorEvent event() const { return event_; }
  const wire::Token& token() const { return token_; }
  Rule rule() const { return rule_; }
  const Part* part() const { return part_; }

  // The container that starts or ends here, and the one around the value.
  Container& container() { return stack_.back(); }
  Container& around() {
    return event_ == CursorEvent::kLeaf ? stack_.back() : stack_[stack_.size() - 2];
  }

  // The containers that are open, the outermost first, and how many of them are around
  // the value.
  std::span<const Container> open() const { return std::span(stack_).subspan(1); }
  std::size_t depth() const {
    return open().size() - (event_ == CursorEvent::kLeaf ? 0 : 1);
  }

  // Stands behind the value, or at the first value of a container.
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
    // The value at hand does not count as one that is left any more.
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
        reader_.take_node_tag(container.tag)) {
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
