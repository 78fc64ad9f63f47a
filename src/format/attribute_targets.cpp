// One pass with a stack of open containers; each knows what its values are. It also
// notes where objects that are referred to end, and where their references stand.
// Tested by tests/format/attribute_targets_test.cpp.

#include "format/attribute_targets.h"

#include <algorithm>
#include <utility>

#include "wire/format.h"
#include "wire/reader.h"

namespace waybill::envelope {
namespace {

using wire::ExtType;
using wire::NodeTag;
using wire::Reader;
using wire::Token;
using wire::TokenType;

class Walk {
 public:
  explicit Walk(const Envelope& envelope)
      : shared_(envelope.shared), reader_(envelope.payload.bytes) {
    positions_.reserve(shared_.size());
    for (std::uint64_t position : shared_) {
      positions_.push_back({position, positions_.size()});
    }
    std::ranges::sort(positions_, {}, &Position::at);
    is_found_.resize(shared_.size());
    uses_.resize(shared_.size());
  }

  std::vector<AttributeTarget> run() {
    stack_.push_back({1});
    while (!stack_.empty()) {
      if (stack_.back().left == 0) {
        if (stack_.back().number != kNone) uses_[stack_.back().number].end = end();
        stack_.pop_back();
      } else if (!value()) {
        return {};
      }
    }
    std::erase_if(found_, [&](const AttributeTarget& target) {
      return is_entangled(target.number);
    });
    std::ranges::sort(found_, {}, &AttributeTarget::number);
    return std::move(found_);
  }

 private:
  enum class Kind : std::uint8_t { kOther, kClass, kAttributes, kEntries };
  // The number of values before the attributes of a class that are left: those
  // themselves and, maybe, the word.
  static constexpr std::uint64_t kFieldsBefore = 5;
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

  struct Open {
    std::uint64_t left;
    Kind kind = Kind::kOther;
    std::uint64_t fields = 0;      // kClass: those that came.
    BytesView class_id{};          // Of the class around.
    std::string_view name{};       // kAttributes: at hand. kEntries: around.
    std::string_view key{};        // kEntries: at hand.
    bool is_key = true;            // Of maps: what comes next.
    bool is_key_text = false;      // The last key was text.
    std::uint64_t number = kNone;  // Of the references to it.
    bool is_function = false;
    bool is_closure = false;  // An array of cells: those of a function.
    bool is_code = false;
    std::uint32_t inside =
        0;  // How many classes and functions it is in, as Use has it.
  };

  bool value() {
    Open& around = stack_.back();
    --around.left;
    const std::size_t start = reader_.offset();
    Token token;
    if (!reader_.next(token)) return false;
    std::uint64_t number = kNone;
    if (is_reference(token, number)) {
      uses_[number].first = std::min<std::uint64_t>(uses_[number].first, start);
      uses_[number].last = std::max<std::uint64_t>(uses_[number].last, start);
      references_.push_back({start, number, around.inside});
    } else {
      number = number_at(start);
      if (number != kNone) uses_[number].end = end();
    }
    const bool is_map =
        around.kind == Kind::kAttributes || around.kind == Kind::kEntries;
    Kind inner = Kind::kOther;
    if (is_map && around.is_key) {
      around.is_key_text = token.type == TokenType::kText;
      std::string_view& text =
          around.kind == Kind::kAttributes ? around.name : around.key;
      if (around.is_key_text) text = token.text();
    } else if (is_map && around.is_key_text) {
      note(around, number);
      if (around.kind == Kind::kAttributes) inner = Kind::kEntries;
    } else if (around.kind == Kind::kClass) {
      const std::uint64_t field = around.fields++;
      if (field == 0 && token.type == TokenType::kBinary) around.class_id = token.bytes;
      if (field == kFieldsBefore) inner = Kind::kAttributes;
    }
    if (is_map) around.is_key = !around.is_key;
    if (token.type == TokenType::kArray) open_array(token, number);
    if (token.type == TokenType::kMap) open_map(token, number, inner);
    return true;
  }

  void open_array(const Token& token, std::uint64_t number) {
    Open frame{token.count};
    std::uint8_t number_of_tag = 0;
    NodeTag tag{};
    if (token.count != 0 && reader_.take_node_tag(number_of_tag)) {
      --frame.left;
      tag = static_cast<NodeTag>(number_of_tag);
    }
    if (tag == NodeTag::kClass) frame.kind = Kind::kClass;
    const Open& around = stack_.back();
    frame.is_function = tag == NodeTag::kFunction;
    frame.is_closure = tag == NodeTag{} && around.is_function;
    // A cell that is no function's is data.
    frame.is_code = tag == NodeTag::kClass || tag == NodeTag::kFunction ||
                    tag == NodeTag::kGlobal || tag == NodeTag::kNamespace ||
                    tag == NodeTag::kModule ||
                    (tag == NodeTag::kCell && around.is_closure);
    push(frame, number);
  }

  // `kind`: what the map is if it stands where attributes or an attribute's value do.
  void open_map(const Token& token, std::uint64_t number, Kind kind) {
    Open frame{2 * token.count};
    frame.kind = kind;
    frame.class_id = stack_.back().class_id;
    frame.name = stack_.back().name;
    push(frame, number);
  }

  void push(Open& frame, std::uint64_t number) {
    frame.inside = stack_.back().inside + (frame.is_code ? 1 : 0);
    frame.number = number;
    if (number != kNone) {
      uses_[number].is_code = frame.is_code;
      uses_[number].inside = frame.inside;
    }
    stack_.push_back(frame);
  }

  std::uint64_t end() const { return reader_.offset(); }

  bool is_reference(const Token& token, std::uint64_t& number) const {
    return token.type == TokenType::kExtension &&
           token.ext_type == static_cast<std::int8_t>(ExtType::kReference) &&
           wire::index_of(token.bytes, number) && number < shared_.size();
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

  void note(const Open& around, std::uint64_t number) {
    if (number == kNone || is_found_[number]) return;
    is_found_[number] = true;
    const bool is_entry = around.kind == Kind::kEntries;
    found_.push_back({number, around.class_id, around.name, is_entry, around.key});
  }

  const std::vector<std::uint64_t>& shared_;
  Reader reader_;
  Positions positions_;         // Of objects.
  Positions references_;        // To objects.
  std::size_t passed_ = 0;      // Of these.
  std::vector<bool> is_found_;  // By number.
  std::vector<Use> uses_;       // By number.
  std::size_t looks_left_ = 1 << 16;
  std::vector<Open> stack_;
  std::vector<AttributeTarget> found_;
};

}  // namespace

std::vector<AttributeTarget> find_attribute_targets(const VerifiedEnvelope& envelope) {
  return envelope->shared.empty() ? std::vector<AttributeTarget>()
                                  : Walk(envelope).run();
}

}  // namespace waybill::envelope
