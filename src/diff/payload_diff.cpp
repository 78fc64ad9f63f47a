// Walks both trees at once, with a stack of pairs that differ; subtrees with equal
// hashes are never looked into. Tested by tests/diff/diff_test.cpp and
// tests/cli/test_diff.py.

#include "diff/payload_diff.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "diff/payload_tree.h"
#include "format/leaf_kind.h"
#include "format/shapes.h"
#include "format/value_view.h"
#include "text/format_text.h"
#include "wire/utf8.h"

namespace waybill::envelope {
namespace {

using Change = ValueDifference::Kind;
using Index = std::uint32_t;
using wire::NodeTag;
using wire::TokenType;

// Texts and bytes that begin alike, told by where they differ: cut from the start, they
// would look the same.
struct LeafDifference {
  std::size_t index;   // The first character, or byte, that differs.
  std::string before;  // What stands around it: '…xxxa' (201 characters)
  std::string after;
};

struct Leaf {
  enum class Kind : std::uint8_t { kOther, kText, kBytes, kByteArray };
  Kind kind = Kind::kOther;
  std::string_view content;
};

// How a kind is written, and what it is counted in.
struct Spelling {
  const char* open;
  const char* close;
  const char* unit;
};
constexpr Spelling kSpellings[] = {
    {}, {"'", "'", "character"}, {"b'", "'", "byte"}, {"bytearray(b'", "')", "byte"}};

Leaf leaf_of(const ValueView& value) {
  const LeafKind kind = leaf_kind(value.token());
  if (kind == LeafKind::kText) return {Leaf::Kind::kText, value.token().text()};
  if (kind == LeafKind::kBytes) return {Leaf::Kind::kBytes, value.token().text()};
  if (!value.is(wire::NodeTag::kByteArray)) return {};
  const ValueView bytes = value.part(0);
  if (leaf_kind(bytes.token()) != LeafKind::kBytes) return {};
  return {Leaf::Kind::kByteArray, bytes.token().text()};
}

std::size_t size_of(const Leaf& leaf) {
  return leaf.kind == Leaf::Kind::kText ? wire::count_characters(leaf.content)
                                        : leaf.content.size();
}

// The leaf from `start` on.
std::string around(const Leaf& leaf, std::size_t start, std::size_t max_text) {
  const bool is_binary = leaf.kind != Leaf::Kind::kText;
  const std::string_view rest = leaf.content.substr(start);
  const std::size_t shown =
      is_binary ? std::min(rest.size(), max_text) : wire::size_of_start(rest, max_text);
  const Spelling& spelling = kSpellings[static_cast<std::size_t>(leaf.kind)];
  const std::size_t size = size_of(leaf);
  return format_text("{}{}{}{}{} ({} {}{})", spelling.open, start == 0 ? "" : "…",
                     escaped(rest.substr(0, shown), is_binary),
                     shown == rest.size() ? "" : "…", spelling.close, size,
                     spelling.unit, size == 1 ? "" : "s");
}

// Of two texts, or two bytes or bytearrays; nothing if they are other values, or equal.
// About `max_text` bytes of each are shown.
// Cost: linear in the shorter one.
std::optional<LeafDifference> leaf_difference(const ValueView& before,
                                              const ValueView& after,
                                              std::size_t max_text) {
  const Leaf one = leaf_of(before);
  const Leaf other = leaf_of(after);
  if (one.kind == Leaf::Kind::kOther || one.kind != other.kind) return {};
  if (one.content == other.content) return {};
  const bool is_text = one.kind == Leaf::Kind::kText;
  const auto whole = [&](std::size_t at) {
    const auto is_inside = [&](const Leaf& leaf) {
      return at < leaf.content.size() && wire::continues_character(leaf.content[at]);
    };
    while (is_text && at != 0 && (is_inside(one) || is_inside(other))) --at;
    return at;
  };
  const auto [end, _] = std::ranges::mismatch(one.content, other.content);
  const std::size_t first = whole(static_cast<std::size_t>(end - one.content.begin()));
  const std::size_t start = whole(first - std::min(first, max_text / 2));
  const std::string_view same = one.content.substr(0, first);
  return LeafDifference{is_text ? wire::count_characters(same) : first,
                        around(one, start, max_text), around(other, start, max_text)};
}

class Walk {
 public:
  Walk(const Envelope& old_one, const Envelope& new_one, const CodeDiff& code,
       const ValueNames& old_names, const ValueNames& new_names,
       const DiffOptions& options)
      : old_(old_one, old_names, options.max_text),
        new_(new_one, new_names, options.max_text),
        code_(code),
        options_(options) {}

  PayloadDiff run() {
    if (old_.empty() || new_.empty()) {
      compare_bytes();
      return std::move(result_);
    }
    if (old_[0].hash == new_[0].hash) return std::move(result_);
    compare_definitions();
    push(old_.value(), new_.value());
    stack_.push_back({std::exchange(children_, {}), 0});
    while (!stack_.empty()) {
      Level& level = stack_.back();
      if (level.next == level.pairs.size()) {
        stack_.pop_back();
        continue;
      }
      const Pair pair = level.pairs[level.next++];
      visit(pair);
      if (!children_.empty()) stack_.push_back({std::exchange(children_, {}), 0});
    }
    set_paths(old_);
    set_paths(new_);
    return std::move(result_);
  }

 private:
  struct Pair {
    Index before;
    Index after;
  };
  // What one container has that differs, and how much of it was visited.
  struct Level {
    std::vector<Pair> pairs;
    std::size_t next;
  };
  // Where something that is shown stands.
  struct Place {
    const PayloadTree* side;
    Index node;
  };

  void compare_bytes() {
    if (std::ranges::equal(old_.bytes(), new_.bytes())) return;
    ++result_.count;
    result_.shown.push_back({Change::kChanged, "obj", "<unreadable>", "<unreadable>"});
  }

  // Those of one name are compared, in their order.
  void compare_definitions() {
    std::map<std::string, std::vector<Index>> left;  // The last one first.
    for (const Index before : old_.definitions()) {
      left[old_.name(before)].push_back(before);
      old_definitions_.emplace(old_[before].offset, before);
    }
    for (auto& [name, indices] : left) std::ranges::reverse(indices);
    for (const Index after : new_.definitions()) {
      const auto same = left.find(new_.name(after));
      if (same == left.end() || same->second.empty()) {
        added(after);
        continue;
      }
      const Index before = same->second.back();
      same->second.pop_back();
      counterparts_.emplace(before, new_[after].offset);
      push(before, after);
    }
    for (const auto& [name, indices] : left) {
      for (const Index before : indices) removed(before);
    }
  }
  // Whether both refer to definitions that are compared with each other.
  bool are_counterparts(const Pair& pair) const {
    const ValueView before(old_.envelope(), old_[pair.before].offset);
    const ValueView after(new_.envelope(), new_[pair.after].offset);
    const auto definition = old_definitions_.find(before.offset());
    if (definition == old_definitions_.end()) return false;
    const auto counterpart = counterparts_.find(definition->second);
    return counterpart != counterparts_.end() && counterpart->second == after.offset();
  }

  // Asks for a pair to be visited if it differs.
  void push(Index before, Index after) {
    if (old_[before].hash == new_[after].hash) return;
    children_.push_back({before, after});
  }

  // Paths cost a walk over the payload, so all are told in one.
  void set_paths(const PayloadTree& side) {
    std::vector<std::size_t> shown;
    for (std::size_t i = 0; i < places_.size(); ++i) {
      if (places_[i].side == &side) shown.push_back(i);
    }
    std::ranges::stable_sort(shown, {}, [&](std::size_t i) { return places_[i].node; });
    std::vector<std::size_t> offsets;
    for (const std::size_t i : shown) offsets.push_back(side[places_[i].node].offset);
    std::vector<std::string> paths = side.paths(offsets);
    for (std::size_t i = 0; i < shown.size(); ++i) {
      result_.shown[shown[i]].path = std::move(paths[i]);
    }
  }

  void add(const PayloadTree& side, Index node, ValueDifference difference) {
    ++result_.count;
    if (result_.shown.size() == options_.max_items) return;
    result_.shown.push_back(std::move(difference));
    places_.push_back({&side, node});
  }
  void changed(const Pair& pair) {
    if (is_full()) return;
    ValueDifference told{Change::kChanged, "", old_.text(pair.before),
                         new_.text(pair.after)};
    const auto leaf =
        leaf_difference(old_.at(pair.before), new_.at(pair.after), options_.max_text);
    if (leaf && (leaf->index >= options_.max_text || told.before == told.after)) {
      told.index = leaf->index;
      told.before = leaf->before;
      told.after = leaf->after;
    } else if (told.before == told.after) {
      told.after += " (differs beyond what is shown)";
    }
    add(old_, pair.before, std::move(told));
  }
  void added(Index after) {
    if (!is_full()) add(new_, after, {Change::kAdded, "", "", new_.text(after)});
  }
  void removed(Index before) {
    if (!is_full()) add(old_, before, {Change::kRemoved, "", old_.text(before), ""});
  }
  // Counts what nobody will see, without its words.
  bool is_full() {
    if (result_.shown.size() < options_.max_items) return false;
    ++result_.count;
    return true;
  }

  void visit(const Pair& pair) {
    const PayloadTree::Row& before = old_[pair.before];
    const PayloadTree::Row& after = new_[pair.after];
    if (before.type != after.type || before.tag != after.tag) return changed(pair);
    if (before.type == TokenType::kMap) return visit_map(pair);
    if (before.type == TokenType::kExtension && are_counterparts(pair)) return;
    if (before.type != TokenType::kArray) return changed(pair);
    switch (static_cast<NodeTag>(before.tag)) {
      case NodeTag::kSet:
      case NodeTag::kFrozenSet:
        return visit_set(pair);
      case NodeTag::kFunction:
        return visit_function(pair);
      case NodeTag::kCode:
        return visit_code(pair.before, pair.after, pair);
      case NodeTag::kObject:
      case NodeTag::kNewObject:
      case NodeTag::kClass:
      case NodeTag::kIdentified:
        return visit_identified(pair);
      case NodeTag::kModule:
      case NodeTag::kCell:
        return visit_parts(pair);
      case NodeTag::kTuple:
        return visit_sequence(pair);
      default:
        // A list, or a node that is told as a whole.
        return before.tag == 0 ? visit_sequence(pair) : changed(pair);
    }
  }

  void visit_parts(const Pair& pair) {
    const auto before = old_.children(pair.before);
    const auto after = new_.children(pair.after);
    if (before.size() != after.size()) return changed(pair);
    for (std::size_t i = 0; i < before.size(); ++i) {
      push(before[i], after[i]);
    }
  }

  // The id follows from content, so it is told only where nothing else differs.
  void visit_identified(const Pair& pair) {
    visit_parts(pair);
    if (children_.size() > 1 && children_.front().before == pair.before + 1) {
      children_.erase(children_.begin());
    }
  }

  void visit_function(const Pair& pair) {
    const auto before = old_.children(pair.before);
    const auto after = new_.children(pair.after);
    const Shape& shape = shape_of(NodeTag::kFunction);
    if (before.size() != shape.least || after.size() != shape.least) {
      return changed(pair);
    }
    visit_code(pair.before, pair.after, pair);
    constexpr std::size_t kCode = position_of(NodeTag::kFunction, "code");
    for (std::size_t i = kCode + 1; i < shape.least; ++i) push(before[i], after[i]);
  }

  // Code that changed is told with the code. What both have may have traded places,
  // under the same name too.
  void visit_code(Index before, Index after, const Pair& pair) {
    const CodeBody* old_code = old_.code(before);
    const CodeBody* new_code = new_.code(after);
    if (old_code == nullptr && new_code == nullptr) return;
    if (old_code != nullptr && new_code != nullptr &&
        old_code->hash == new_code->hash) {
      return;
    }
    const bool is_told = code_.changed.contains(
        {old_.at(before).code_index(), new_.at(after).code_index()});
    if (is_told || is_full()) return;
    const std::string_view old_name = old_.code_name(before);
    const std::string_view new_name = new_.code_name(after);
    const char* remark = old_name == new_name ? " (other code of the same name)" : "";
    const auto told = [&](std::string_view name) {
      return format_text("<function {}>", start_of(name, options_.max_text));
    };
    add(old_, pair.before,
        {Change::kChanged, "", told(old_name), told(new_name) + remark});
  }

  void visit_sequence(const Pair& pair) {
    const auto before = old_.children(pair.before);
    const auto after = new_.children(pair.after);
    // What was put in or taken out in the middle should not move all behind it.
    const std::size_t shorter = std::min(before.size(), after.size());
    std::size_t tail = 0;
    if (before.size() != after.size()) {
      while (tail < shorter && old_[before[before.size() - 1 - tail]].hash ==
                                   new_[after[after.size() - 1 - tail]].hash) {
        ++tail;
      }
    }
    std::size_t head = 0;
    while (head < shorter - tail && old_[before[head]].hash == new_[after[head]].hash) {
      ++head;
    }
    const std::size_t both = shorter - tail;
    for (std::size_t i = head; i < both; ++i) {
      push(before[i], after[i]);
    }
    for (std::size_t i = both; i + tail < before.size(); ++i) {
      removed(before[i]);
    }
    for (std::size_t i = both; i + tail < after.size(); ++i) {
      added(after[i]);
    }
  }

  void visit_set(const Pair& pair) {
    const auto before = old_.children(pair.before);
    const auto after = new_.children(pair.after);
    std::map<std::uint64_t, std::size_t> left;
    for (const Index item : after) ++left[new_[item].hash];
    for (const Index item : before) {
      const auto found = left.find(old_[item].hash);
      if (found != left.end() && found->second != 0) {
        --found->second;
      } else {
        removed(item);
      }
    }
    for (const Index item : after) {
      std::size_t& count = left[new_[item].hash];
      if (count == 0) continue;
      --count;
      added(item);
    }
  }

  void visit_map(const Pair& pair) {
    const auto before = old_.children(pair.before);
    const auto after = new_.children(pair.after);
    std::map<std::uint64_t, std::size_t> place;
    for (std::size_t i = 0; i + 1 < after.size(); i += 2) {
      place.emplace(new_[after[i]].hash, i);
    }
    std::vector<bool> is_paired(after.size());
    bool is_ordered = true;
    std::size_t last = 0;
    for (std::size_t i = 0; i + 1 < before.size(); i += 2) {
      const auto found = place.find(old_[before[i]].hash);
      if (found == place.end() || is_paired[found->second]) {
        removed(before[i + 1]);
        continue;
      }
      const std::size_t at = found->second;
      is_paired[at] = true;
      is_ordered = is_ordered && at >= last;
      last = at;
      if (old_[before[i + 1]].hash == new_[after[at + 1]].hash) continue;
      push(before[i + 1], after[at + 1]);
    }
    for (std::size_t i = 0; i + 1 < after.size(); i += 2) {
      if (!is_paired[i]) added(after[i + 1]);
    }
    if (!is_ordered && !is_full()) {
      add(old_, pair.before, {Change::kOrder, "", "", ""});
    }
  }

  PayloadTree old_;
  PayloadTree new_;
  const CodeDiff& code_;
  const DiffOptions& options_;
  std::map<std::size_t, Index> old_definitions_;  // By offset.
  std::map<Index, std::size_t> counterparts_;     // Offsets of new ones, by old ones.
  std::vector<Level> stack_;
  std::vector<Pair> children_;
  std::vector<Place> places_;  // Of what is shown.
  PayloadDiff result_;
};

}  // namespace

PayloadDiff diff_payloads(const Envelope& old_one, const Envelope& new_one,
                          const CodeDiff& code, const ValueNames& old_names,
                          const ValueNames& new_names, const DiffOptions& options) {
  return Walk(old_one, new_one, code, old_names, new_names, options).run();
}

}  // namespace waybill::envelope
