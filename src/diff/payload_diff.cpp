// Walks both trees at once, with a stack of pairs of values that differ. Subtrees with
// equal hashes are skipped. Tested by tests/diff/diff_test.cpp and
// tests/cli/test_diff.py.

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "diff/diff_model.h"
#include "diff/payload_tree.h"
#include "format/leaf_kind.h"
#include "format/shapes.h"
#include "format/value_view.h"
#include "text/format_text.h"
#include "wire/utf8.h"

namespace waybill::envelope {
namespace {

using Index = std::uint32_t;
using wire::NodeTag;
using wire::TokenType;

// A difference between two texts, or bytes, with a long common start, which are shown
// around the difference: '…xxxa' (201 characters).
struct LeafDifference {
  std::size_t index;  // The first character, or byte, that differs.
  std::string before;
  std::string after;
};

struct Leaf {
  enum class Kind : std::uint8_t { kOther, kText, kBytes, kByteArray };
  Kind kind = Kind::kOther;
  std::string_view content;
};

// How a kind is spelled, and the unit of its size. Indexed by Leaf::Kind.
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

// The text of the leaf from `start` on.
std::string text_from(const Leaf& leaf, std::size_t start, std::size_t max_text) {
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

// The difference between two texts, bytes or bytearrays; nothing for equal values and
// for other kinds. Shows about `max_text` bytes of each. Cost: linear in the shorter
// one.
std::optional<LeafDifference> compare_leaves(const ValueView& before,
                                             const ValueView& after,
                                             std::size_t max_text) {
  const Leaf one = leaf_of(before);
  const Leaf other = leaf_of(after);
  if (one.kind == Leaf::Kind::kOther || one.kind != other.kind) return {};
  if (one.content == other.content) return {};
  const bool is_text = one.kind == Leaf::Kind::kText;
  const auto character_start = [&](std::size_t at) {
    const auto is_inside = [&](const Leaf& leaf) {
      return at < leaf.content.size() && wire::continues_character(leaf.content[at]);
    };
    while (is_text && at != 0 && (is_inside(one) || is_inside(other))) --at;
    return at;
  };
  const auto [end, _] = std::ranges::mismatch(one.content, other.content);
  const std::size_t first =
      character_start(static_cast<std::size_t>(end - one.content.begin()));
  const std::size_t start = character_start(first - std::min(first, max_text / 2));
  const std::string_view same = one.content.substr(0, first);
  return LeafDifference{is_text ? wire::count_characters(same) : first,
                        text_from(one, start, max_text),
                        text_from(other, start, max_text)};
}

class PayloadComparison {
 public:
  PayloadComparison(const Side& old_one, const Side& new_one, const CodeChanges& code,
                    std::size_t max_text, DifferenceList& payload)
      : old_(old_one, max_text),
        new_(new_one, max_text),
        code_(code),
        max_text_(max_text),
        payload_(payload) {}

  void run() {
    if (old_.empty() || new_.empty()) return compare_bytes();
    if (old_[0].hash == new_[0].hash) return;
    compare_definitions();
    push(old_.value(), new_.value());
    for (;;) {
      // Keeps the order of the payload: children before the values after their
      // container.
      stack_.insert(stack_.end(), found_.rbegin(), found_.rend());
      found_.clear();
      if (stack_.empty()) break;
      const Pair pair = stack_.back();
      stack_.pop_back();
      visit(pair);
    }
    set_paths(old_);
    set_paths(new_);
  }

 private:
  struct Pair {
    Index before;
    Index after;
  };
  using Indices = std::vector<Index>;
  // The value that a shown difference is about.
  struct Place {
    const PayloadTree* side;
    Index node;
  };

  void compare_bytes() {
    if (std::ranges::equal(old_.bytes(), new_.bytes())) return;
    const std::optional<Json> row = payload_.add(5);
    if (!row) return;
    (*row)["change"] = "changed";
    (*row)["path"] = "obj";
    (*row)["old"] = "<unreadable>";
    (*row)["new"] = "<unreadable>";
  }

  // Compares definitions of equal names, in their order.
  void compare_definitions() {
    std::map<std::string, Indices> left;  // In reverse order.
    for (const Index before : old_.definitions()) {
      left[old_.name(before)].push_back(before);
      old_definitions_.emplace(old_[before].offset, before);
    }
    for (auto& [name, indices] : left) std::ranges::reverse(indices);
    for (const Index after : new_.definitions()) {
      const auto same = left.find(new_.name(after));
      if (same == left.end() || same->second.empty()) {
        add_added(after);
        continue;
      }
      const Index before = same->second.back();
      same->second.pop_back();
      counterparts_.emplace(before, new_[after].offset);
      push(before, after);
    }
    for (const auto& [name, indices] : left) {
      for (const Index before : indices) add_removed(before);
    }
  }

  // Whether both refer to definitions that are compared with each other.
  bool are_counterparts(const Pair& pair) const {
    const auto definition = old_definitions_.find(old_.follow(pair.before).offset());
    if (definition == old_definitions_.end()) return false;
    const auto counterpart = counterparts_.find(definition->second);
    return counterpart != counterparts_.end() &&
           counterpart->second == new_.follow(pair.after).offset();
  }

  // Schedules a visit to a pair that differs.
  void push(Index before, Index after) {
    if (old_[before].hash == new_[after].hash) return;
    found_.push_back({before, after});
  }

  // Finds all paths in one walk, since each walk goes over the payload.
  void set_paths(const PayloadTree& side) {
    std::vector<std::size_t> shown;
    for (std::size_t i = 0; i < places_.size(); ++i) {
      if (places_[i].side == &side) shown.push_back(i);
    }
    std::ranges::stable_sort(shown, {}, [&](std::size_t i) { return places_[i].node; });
    std::vector<std::size_t> offsets;
    for (const std::size_t i : shown) offsets.push_back(side[places_[i].node].offset);
    const std::vector<std::string> paths = side.paths(offsets);
    for (std::size_t i = 0; i < shown.size(); ++i) {
      payload_.entry(shown[i])["path"] = paths[i];
    }
  }

  // Counts a difference. Returns its entry if it is shown.
  std::optional<Json> add(const char* change, const PayloadTree& side, Index node) {
    const std::optional<Json> row = payload_.add(5);
    if (!row) return row;
    (*row)["change"] = change;
    (*row)["path"] = "";  // Keeps the place; see set_paths().
    places_.push_back({&side, node});
    return row;
  }

  void add_changed(const Pair& pair) {
    const std::optional<Json> row = add("changed", old_, pair.before);
    if (!row) return;
    std::string before = old_.text(pair.before);
    std::string after = new_.text(pair.after);
    const auto leaf =
        compare_leaves(old_.at(pair.before), new_.at(pair.after), max_text_);
    if (leaf && (leaf->index >= max_text_ || before == after)) {
      (*row)["index"] = leaf->index;
      before = leaf->before;
      after = leaf->after;
    } else if (before == after) {
      after += " (differs beyond what is shown)";
    }
    (*row)["old"] = before;
    (*row)["new"] = after;
  }

  void add_added(Index after) {
    if (const auto row = add("added", new_, after)) (*row)["new"] = new_.text(after);
  }

  void add_removed(Index before) {
    if (const auto row = add("removed", old_, before)) {
      (*row)["old"] = old_.text(before);
    }
  }

  void visit(const Pair& pair) {
    const PayloadTree::Row& row = old_[pair.before];
    if (row.type != new_[pair.after].type || row.tag != new_[pair.after].tag) {
      return add_changed(pair);
    }
    const Indices before = old_.children(pair.before);
    const Indices after = new_.children(pair.after);
    if (row.type == TokenType::kMap) return visit_map(pair, before, after);
    if (row.type == TokenType::kExtension && are_counterparts(pair)) return;
    if (row.type != TokenType::kArray) return add_changed(pair);
    switch (static_cast<NodeTag>(row.tag)) {
      case NodeTag::kSet:
      case NodeTag::kFrozenSet:
        return visit_set(before, after);
      case NodeTag::kFunction:
        return visit_function(pair, before, after);
      case NodeTag::kCode:
        return visit_code(pair);
      case NodeTag::kObject:
      case NodeTag::kNewObject:
      case NodeTag::kClass:
      case NodeTag::kIdentified:
        return visit_identified(pair, before, after);
      case NodeTag::kModule:
      case NodeTag::kCell:
        return visit_parts(pair, before, after);
      case NodeTag::kTuple:
        return visit_sequence(before, after);
      default:
        // Compares lists item by item, and shows other nodes as a whole.
        return row.tag == 0 ? visit_sequence(before, after) : add_changed(pair);
    }
  }

  void visit_parts(const Pair& pair, const Indices& before, const Indices& after) {
    if (before.size() != after.size()) return add_changed(pair);
    for (std::size_t i = 0; i < before.size(); ++i) push(before[i], after[i]);
  }

  // The id follows from the content, so it is shown only if nothing else differs.
  void visit_identified(const Pair& pair, const Indices& before, const Indices& after) {
    visit_parts(pair, before, after);
    if (found_.size() > 1 && found_.front().before == pair.before + 1) {
      found_.erase(found_.begin());
    }
  }

  void visit_function(const Pair& pair, const Indices& before, const Indices& after) {
    const Shape& shape = shape_of(NodeTag::kFunction);
    if (before.size() != shape.least || after.size() != shape.least) {
      return add_changed(pair);
    }
    visit_code(pair);
    constexpr std::size_t kCode = position_of(NodeTag::kFunction, "code");
    for (std::size_t i = kCode + 1; i < shape.least; ++i) push(before[i], after[i]);
  }

  // Skips code that is reported as changed. Code that both envelopes have may have been
  // exchanged, even between functions of one name.
  void visit_code(const Pair& pair) {
    const PayloadTree::Code before = old_.code(pair.before);
    const PayloadTree::Code after = new_.code(pair.after);
    if (std::ranges::equal(before.hash, after.hash)) return;
    if (code_.changed.contains({before.index, after.index})) return;
    const std::optional<Json> row = add("changed", old_, pair.before);
    if (!row) return;
    const auto shown = [&](std::string_view name) {
      return format_text("<function {}>", start_of(name, max_text_));
    };
    const bool has_same_name = before.name == after.name;
    (*row)["old"] = shown(before.name);
    (*row)["new"] =
        shown(after.name) + (has_same_name ? " (different code of the same name)" : "");
  }

  void visit_sequence(const Indices& before, const Indices& after) {
    // Matches a common tail, so that an insertion does not shift all items after it.
    const std::size_t shorter = std::min(before.size(), after.size());
    std::size_t tail = 0;
    if (before.size() != after.size()) {
      while (tail < shorter && old_[before[before.size() - 1 - tail]].hash ==
                                   new_[after[after.size() - 1 - tail]].hash) {
        ++tail;
      }
    }
    const std::size_t head = shorter - tail;
    for (std::size_t i = 0; i < head; ++i) push(before[i], after[i]);
    for (std::size_t i = head; i + tail < before.size(); ++i) add_removed(before[i]);
    for (std::size_t i = head; i + tail < after.size(); ++i) add_added(after[i]);
  }

  void visit_set(const Indices& before, const Indices& after) {
    std::map<std::uint64_t, std::size_t> left;
    for (const Index item : after) ++left[new_[item].hash];
    for (const Index item : before) {
      const auto found = left.find(old_[item].hash);
      if (found != left.end() && found->second != 0) {
        --found->second;
      } else {
        add_removed(item);
      }
    }
    for (const Index item : after) {
      std::size_t& count = left[new_[item].hash];
      if (count == 0) continue;
      --count;
      add_added(item);
    }
  }

  void visit_map(const Pair& pair, const Indices& before, const Indices& after) {
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
        add_removed(before[i + 1]);
        continue;
      }
      const std::size_t at = found->second;
      is_paired[at] = true;
      is_ordered = is_ordered && at >= last;
      last = at;
      push(before[i + 1], after[at + 1]);
    }
    for (std::size_t i = 0; i + 1 < after.size(); i += 2) {
      if (!is_paired[i]) add_added(after[i + 1]);
    }
    // The keys are in another order, whatever their values are.
    if (!is_ordered) add("order", old_, pair.before);
  }

  PayloadTree old_;
  PayloadTree new_;
  const CodeChanges& code_;
  const std::size_t max_text_;
  DifferenceList& payload_;
  std::map<std::size_t, Index> old_definitions_;  // By offset.
  std::map<Index, std::size_t> counterparts_;  // Offset of the new one, by the old one.
  std::vector<Pair> stack_;                    // Pairs to visit; the next one last.
  std::vector<Pair> found_;    // By the current visit, in the order of the payload.
  std::vector<Place> places_;  // Of the shown differences.
};

}  // namespace

void diff_payloads(const Side& old_one, const Side& new_one, const CodeChanges& code,
                   const DiffOptions& options, DifferenceList& payload) {
  PayloadComparison(old_one, new_one, code, options.max_text, payload).run();
}

}  // namespace waybill::envelope
