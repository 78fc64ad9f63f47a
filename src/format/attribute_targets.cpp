// One pass with a stack of open containers, which also records where shared objects end
// and where the references to them are.
// Tested by tests/format/attribute_targets_test.cpp.

#include "format/attribute_targets.h"

#include <algorithm>
#include <utility>

#include "format/definitions.h"
#include "format/payload_cursor.h"
#include "format/value_view.h"

namespace waybill::envelope {
namespace {

using wire::NodeTag;
using wire::Token;
using wire::TokenType;

// Whether the receiver may have another object in the place of this value: true for
// containers and objects, false for names, classes, text and bytes.
bool can_be_replaced(const Envelope& envelope, std::uint64_t position) {
  // Definitions stand outside of classes.
  if (std::ranges::binary_search(envelope.definitions.starts, position)) return false;
  const auto value = ValueView::at(envelope, envelope.payload.offset + position);
  const bool is_container = value.is_map() || value.token().type == TokenType::kArray;
  return is_container && !value.is(NodeTag::kGlobal) && !value.is(NodeTag::kClass) &&
         !value.is(NodeTag::kNamespace);
}

class TargetFinder {
 public:
  // `is_replaceable` is indexed by the numbers of reference targets.
  TargetFinder(const Envelope& envelope, std::vector<bool> is_replaceable)
      : envelope_(envelope),
        cursor_(wire::Reader(envelope.payload.bytes)),
        is_replaceable_(std::move(is_replaceable)) {
    positions_.reserve(shared_.size());
    for (std::uint64_t position : shared_) {
      positions_.push_back({position, positions_.size()});
    }
    std::ranges::sort(positions_, {}, &Position::at);
    referents_.resize(shared_.size());
  }

  std::vector<AttributeTarget> run() {
    while (cursor_.next()) {
      if (cursor_.event() != CursorEvent::kClose) {
        visit_value();
      } else if (const std::uint64_t number = cursor_.container().annotation.number;
                 number != kNone) {
        referents_[number].end = end();
      }
    }
    if (cursor_.reader().failed()) return {};
    std::erase_if(found_, [&](const AttributeTarget& target) {
      return is_entangled(target.number);
    });
    for (AttributeTarget& target : found_) target.end = referents_[target.number].end;
    std::ranges::stable_sort(found_, {}, &AttributeTarget::number);
    return std::move(found_);
  }

 private:
  // kAttributes: the map of the attributes of a class. kEntries: a map that is the
  // value of an attribute.
  enum class Kind : std::uint8_t { kOther, kAttributes, kEntries };
  static constexpr std::uint64_t kNone = UINT64_MAX;
  // The position of an object, or of a reference to it, and the object's number.
  struct Position {
    std::uint64_t at, number;
    std::uint32_t code_depth = 0;  // For a reference: Referent::code_depth there.
  };
  using Positions = std::vector<Position>;  // In ascending order.

  // The target of references.
  struct Referent {
    std::uint64_t end = 0;  // End of the object.
    // Positions of the first and the last reference to it.
    std::uint64_t first = kNone, last = 0;
    bool is_code = false;  // A class, a function, or a part of one.
    // The number of code nodes around it, itself included.
    std::uint32_t code_depth = 0;
  };

  struct Context {
    Kind kind = Kind::kOther;
    BytesView class_id{};  // The id of the enclosing class.
    // The attribute: the current (kAttributes) or the enclosing one (kEntries).
    std::string_view name{};
    std::string_view key{};        // kEntries: the current key.
    bool is_key_text = false;      // The last key was text.
    std::uint64_t number = kNone;  // The number that references to it have.
    std::uint32_t code_depth = 0;  // See Referent::code_depth.
  };

  void visit_value() {
    const Token& token = cursor_.token();
    Context& around = cursor_.around().annotation;
    const std::size_t start = token.offset;
    std::uint64_t number = kNone;
    if (is_reference(token, number)) {
      referents_[number].first =
          std::min<std::uint64_t>(referents_[number].first, start);
      referents_[number].last = std::max<std::uint64_t>(referents_[number].last, start);
      references_.push_back({start, number, around.code_depth});
    } else {
      number = number_at(start);
      if (number != kNone) referents_[number].end = end();
    }
    Kind inner = Kind::kOther;
    if (around.kind != Kind::kOther) {
      if (visit_entry(around, number)) inner = Kind::kEntries;
    } else if (is_in(NodeTag::kClass)) {
      const std::uint64_t position = cursor_.around().index();
      const bool is_id = position == position_of(NodeTag::kClass, "id");
      if (is_id && token.type == TokenType::kBinary) around.class_id = token.bytes;
      if (position == position_of(NodeTag::kClass, "attributes"))
        inner = Kind::kAttributes;
    }
    if (cursor_.event() == CursorEvent::kOpen) open_container(number, inner);
  }

  // Visits the key or value of an attribute, or of an entry of one. Returns whether it
  // is the value of an attribute.
  bool visit_entry(Context& around, std::uint64_t number) {
    const Token& token = cursor_.token();
    if (cursor_.around().is_key()) {
      around.is_key_text = token.type == TokenType::kText;
      std::string_view& text =
          around.kind == Kind::kAttributes ? around.name : around.key;
      if (around.is_key_text) text = token.text();
      return false;
    }
    if (around.is_key_text) add_target(around, number);
    return around.is_key_text && around.kind == Kind::kAttributes;
  }

  bool is_in(NodeTag tag) {
    const Shape* shape = cursor_.around().shape;
    return shape != nullptr && shape->tag == tag;
  }

  // Whether the innermost container is code, or a part of it.
  bool is_code() {
    const Shape* shape = cursor_.container().shape;
    if (shape == nullptr) return false;
    switch (shape->tag) {
      case NodeTag::kClass:
      case NodeTag::kFunction:
      case NodeTag::kGlobal:
      case NodeTag::kNamespace:
      case NodeTag::kModule:
        return true;
      case NodeTag::kCell:  // A cell outside of a function is data.
        return cursor_.rule() == Rule::kCell;
      default:
        return false;
    }
  }

  // `kind`: what the container is if it is a map.
  void open_container(std::uint64_t number, Kind kind) {
    const Context& around = cursor_.around().annotation;
    Context& context = cursor_.container().annotation;
    if (cursor_.container().is_map) {
      context.kind = kind;
      context.class_id = around.class_id;
      context.name = around.name;
    }
    const bool is_own_code = is_code();
    context.code_depth = around.code_depth + (is_own_code ? 1 : 0);
    context.number = number;
    if (number == kNone) return;
    referents_[number].is_code = is_own_code;
    referents_[number].code_depth = context.code_depth;
  }

  std::uint64_t end() { return cursor_.reader().offset(); }

  bool is_reference(const Token& token, std::uint64_t& number) const {
    return envelope::is_reference(envelope_, token, number, 0);
  }

  // The number of the object that starts here.
  std::uint64_t number_at(std::uint64_t start) {
    if (next_position_ == positions_.size() || positions_[next_position_].at != start)
      return kNone;
    return positions_[next_position_++].number;
  }

  static auto first_after(const Positions& positions, std::uint64_t start) {
    return std::ranges::upper_bound(positions, start, {}, &Position::at);
  }

  bool spend_step() {
    if (steps_left_ != 0) --steps_left_;
    return steps_left_ != 0;
  }

  // Whether the object contains objects that are referred to from outside of it, or
  // refers to objects outside. Nested objects are searched once each; beyond a bound
  // they count as entangled.
  bool is_entangled(std::uint64_t number) {
    const std::uint64_t start = shared_[number], end = referents_[number].end;
    const auto is_inside = [&](std::uint64_t position) {
      return start <= position && position < end;
    };
    const std::uint32_t code_depth = referents_[number].code_depth;
    for (auto inner = first_after(positions_, start);
         inner != positions_.end() && inner->at < end; ++inner) {
      const Referent& referent = referents_[inner->number];
      if (!spend_step()) return true;
      const bool is_private = is_inside(referent.first) && is_inside(referent.last);
      if (referent.code_depth == code_depth && !is_private) return true;
    }
    for (auto reference = first_after(references_, start);
         reference != references_.end() && reference->at < end; ++reference) {
      const std::uint64_t to = reference->number;
      if (!spend_step()) return true;
      if (reference->code_depth == code_depth && !referents_[to].is_code &&
          !is_inside(shared_[to])) {
        return true;
      }
    }
    return false;
  }

  void add_target(const Context& around, std::uint64_t number) {
    if (number == kNone || !is_replaceable_[number]) return;
    const bool is_entry = around.kind == Kind::kEntries;
    found_.push_back({number, around.class_id, around.name, is_entry, around.key});
  }

  const Envelope& envelope_;
  const std::vector<std::uint64_t>& shared_ = envelope_.shared;
  PayloadCursor<Context> cursor_;
  Positions positions_;               // The positions of reference targets.
  Positions references_;              // The positions of references.
  std::size_t next_position_ = 0;     // An index in positions_.
  std::vector<bool> is_replaceable_;  // Indexed by number.
  std::vector<Referent> referents_;   // Indexed by number.
  std::size_t steps_left_ = 1 << 16;
  std::vector<AttributeTarget> found_;
};

}  // namespace

std::vector<AttributeTarget> find_attribute_targets(const VerifiedEnvelope& envelope) {
  std::vector<bool> is_replaceable;
  for (const std::uint64_t position : envelope->shared) {
    is_replaceable.push_back(can_be_replaced(envelope, position));
  }
  // Most payloads refer only to names and namespaces.
  if (std::ranges::find(is_replaceable, true) == is_replaceable.end()) return {};
  return TargetFinder(envelope, std::move(is_replaceable)).run();
}

}  // namespace waybill::envelope
