// One pass with a stack of open containers; each knows what its values are. It also
// notes where objects that are referred to end, and where their references stand.
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

// Whether it is no name, class, text or bytes, which are what they are.
bool may_be_replaced(const Envelope& envelope, std::uint64_t position) {
  const auto value = ValueView::at(envelope, envelope.payload.offset + position);
  const bool is_container = value.is_map() || value.token().type == TokenType::kArray;
  return is_container && !value.is(NodeTag::kGlobal) && !value.is(NodeTag::kClass) &&
         !value.is(NodeTag::kNamespace);
}

class Walk {
 public:
  // `is_replaceable`: of what references mean, by number.
  Walk(const Envelope& envelope, std::vector<bool> is_replaceable)
      : envelope_(envelope),
        cursor_(wire::Reader(envelope.payload.bytes)),
        is_replaceable_(std::move(is_replaceable)) {
    positions_.reserve(shared_.size());
    for (std::uint64_t position : shared_) {
      positions_.push_back({position, positions_.size()});
    }
    std::ranges::sort(positions_, {}, &Position::at);
    is_found_.resize(shared_.size());
    uses_.resize(shared_.size());
  }

  std::vector<AttributeTarget> run() {
    while (cursor_.next()) {
      if (cursor_.event() != CursorEvent::kClose) {
        value();
      } else if (const std::uint64_t number = cursor_.container().note.number;
                 number != kNone) {
        uses_[number].end = end();
      }
    }
    if (cursor_.reader().failed()) return {};
    std::erase_if(found_, [&](const AttributeTarget& target) {
      return is_entangled(target.number);
    });
    for (AttributeTarget& target : found_) target.end = uses_[target.number].end;
    std::ranges::sort(found_, {}, &AttributeTarget::number);
    return std::move(found_);
  }

 private:
  // kAttributes: a map of the attributes of a class. kEntries: one that is an
  // attribute.
  enum class Kind : std::uint8_t { kOther, kAttributes, kEntries };
  static constexpr std::uint64_t kNone = UINT64_MAX;
  // Where something stands that has to do with the object of this number.
  struct Position {
    std::uint64_t at, number;
    std::uint32_t inside = 0;  // Of a reference: as Use has it.
  };
  using Positions = std::vector<Position>;  // In ascending order.

  // An object that is referred to.
  struct Use {
    std::uint64_t end = 0;  // Of the object.
    // Where the first and the last reference to it stand.
    std::uint64_t first = kNone, last = 0;
    bool is_code = false;      // A class, a function, or what belongs to one.
    std::uint32_t inside = 0;  // How many of these it is in, itself included.
  };

  struct Note {
    Kind kind = Kind::kOther;
    BytesView class_id{};          // Of the class around.
    std::string_view name{};       // kAttributes: at hand. kEntries: around.
    std::string_view key{};        // kEntries: at hand.
    bool is_key_text = false;      // The last key was text.
    std::uint64_t number = kNone;  // Of the references to it.
    std::uint32_t inside = 0;      // How many classes and functions it is in: see Use.
  };

  void value() {
    const Token& token = cursor_.token();
    Note& around = cursor_.around().note;
    const std::size_t start = token.offset;
    std::uint64_t number = kNone;
    if (is_reference(token, number)) {
      uses_[number].first = std::min<std::uint64_t>(uses_[number].first, start);
      uses_[number].last = std::max<std::uint64_t>(uses_[number].last, start);
      references_.push_back({start, number, around.inside});
    } else {
      number = number_at(start);
      if (number != kNone) uses_[number].end = end();
    }
    Kind inner = Kind::kOther;
    if (around.kind != Kind::kOther) {
      if (entry(around, number)) inner = Kind::kEntries;
    } else if (is_in(NodeTag::kClass)) {
      const std::uint64_t position = cursor_.around().index();
      const bool is_id = position == position_of(NodeTag::kClass, "id");
      if (is_id && token.type == TokenType::kBinary) around.class_id = token.bytes;
      if (position == position_of(NodeTag::kClass, "attributes"))
        inner = Kind::kAttributes;
    }
    if (cursor_.event() == CursorEvent::kOpen) open(number, inner);
  }

  // The key or the value of an attribute, or of an entry of one. Whether it is the
  // value of an attribute.
  bool entry(Note& around, std::uint64_t number) {
    const Token& token = cursor_.token();
    if (cursor_.around().is_key()) {
      around.is_key_text = token.type == TokenType::kText;
      std::string_view& text =
          around.kind == Kind::kAttributes ? around.name : around.key;
      if (around.is_key_text) text = token.text();
      return false;
    }
    if (around.is_key_text) note(around, number);
    return around.is_key_text && around.kind == Kind::kAttributes;
  }

  bool is_in(NodeTag tag) {
    const Shape* shape = cursor_.around().shape;
    return shape != nullptr && shape->tag == tag;
  }

  // Whether what was opened last is code, or belongs to it.
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
      case NodeTag::kCell:  // One that is no function's is data.
        return cursor_.rule() == Rule::kCell;
      default:
        return false;
    }
  }

  // `kind`: what a map is if it stands where attributes or an attribute's value do.
  void open(std::uint64_t number, Kind kind) {
    const Note& around = cursor_.around().note;
    Note& note = cursor_.container().note;
    if (cursor_.container().is_map) {
      note.kind = kind;
      note.class_id = around.class_id;
      note.name = around.name;
    }
    const bool is_own = is_code();
    note.inside = around.inside + (is_own ? 1 : 0);
    note.number = number;
    if (number == kNone) return;
    uses_[number].is_code = is_own;
    uses_[number].inside = note.inside;
  }

  std::uint64_t end() { return cursor_.reader().offset(); }

  bool is_reference(const Token& token, std::uint64_t& number) const {
    return envelope::is_reference(envelope_, token, number, 0);
  }

  // Of the object that starts here.
  std::uint64_t number_at(std::uint64_t start) {
    if (passed_ == positions_.size() || positions_[passed_].at != start) return kNone;
    return positions_[passed_++].number;
  }

  static auto after(const Positions& positions, std::uint64_t start) {
    return std::ranges::upper_bound(positions, start, {}, &Position::at);
  }

  bool may_look() {
    if (looks_left_ != 0) --looks_left_;
    return looks_left_ != 0;
  }

  // Whether it holds what is referred to from outside of it, or refers to what is
  // there. Objects inside each other are looked at once for each of them: beyond a
  // bound they count as entangled.
  bool is_entangled(std::uint64_t number) {
    const std::uint64_t start = shared_[number], end = uses_[number].end;
    const auto is_inside = [&](std::uint64_t position) {
      return start <= position && position < end;
    };
    const std::uint32_t inside = uses_[number].inside;
    for (auto inner = after(positions_, start);
         inner != positions_.end() && inner->at < end; ++inner) {
      const Use& use = uses_[inner->number];
      if (!may_look()) return true;
      const bool is_own = is_inside(use.first) && is_inside(use.last);
      if (use.inside == inside && !is_own) return true;
    }
    for (auto reference = after(references_, start);
         reference != references_.end() && reference->at < end; ++reference) {
      const std::uint64_t to = reference->number;
      if (!may_look()) return true;
      if (reference->inside == inside && !uses_[to].is_code &&
          !is_inside(shared_[to])) {
        return true;
      }
    }
    return false;
  }

  void note(const Note& around, std::uint64_t number) {
    if (number == kNone || !is_replaceable_[number] || is_found_[number]) return;
    is_found_[number] = true;
    const bool is_entry = around.kind == Kind::kEntries;
    found_.push_back({number, around.class_id, around.name, is_entry, around.key});
  }

  const Envelope& envelope_;
  const std::vector<std::uint64_t>& shared_ = envelope_.shared;
  PayloadCursor<Note> cursor_;
  Positions positions_;                          // Of objects.
  Positions references_;                         // To objects.
  std::size_t passed_ = 0;                       // Of these.
  std::vector<bool> is_replaceable_, is_found_;  // By number.
  std::vector<Use> uses_;                        // By number.
  std::size_t looks_left_ = 1 << 16;
  std::vector<AttributeTarget> found_;
};

}  // namespace

std::vector<AttributeTarget> find_attribute_targets(const VerifiedEnvelope& envelope) {
  std::vector<bool> is_replaceable;
  for (const std::uint64_t position : envelope->shared) {
    is_replaceable.push_back(may_be_replaced(envelope, position));
  }
  // Most payloads refer to names and namespaces alone.
  if (std::ranges::find(is_replaceable, true) == is_replaceable.end()) return {};
  return Walk(envelope, std::move(is_replaceable)).run();
}

}  // namespace waybill::envelope
