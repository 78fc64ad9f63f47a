// Walks both trees at once, with a stack of pairs of values that differ. Subtrees with
// equal hashes are skipped. Tested by tests/diff/diff_test.cpp and
// tests/cli/test_diff.py.

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/hash.h"
#include "diff/diff_model.h"
#include "format/compression.h"
#include "format/leaf_kind.h"
#include "format/payload_cursor.h"
#include "format/shapes.h"
#include "format/value_view.h"
#include "report/paths.h"
#include "text/format_text.h"
#include "wire/utf8.h"

namespace waybill::envelope {
namespace {

using Index = std::uint32_t;
using Indices = std::vector<Index>;
using wire::NodeTag;
using wire::Token;
using wire::TokenType;

// Keeps equal hashes of different kinds apart.
enum class Salt : std::uint64_t {
  kModule = 1,
  kReference,
  kOpenReference,
  kCode,
  kStored,
};

std::uint64_t mixed(std::uint64_t hash, std::uint64_t more) {
  const std::uint64_t both[] = {hash, more};
  return base::hash_of({reinterpret_cast<const std::uint8_t*>(both), sizeof both});
}

std::uint64_t salted(Salt salt, std::uint64_t hash) {
  return mixed(static_cast<std::uint64_t>(salt), hash);
}

std::uint64_t number_of(BytesView digest) {
  return wire::read_big_endian(digest.data(), digest.size());
}

// The digest of the decompressed bytes; nothing if they do not match the row.
std::optional<std::uint64_t> hash_of_decompressed(const StoredBuffer& row) {
  CompressedBlocks blocks(row, row.bytes, row.offset);
  std::vector<std::uint8_t> block;
  base::DigestStream hash;
  for (std::uint64_t left = row.length; left != 0; left -= block.size()) {
    block.resize(std::min<std::uint64_t>(left, wire::kCompressedBlock));
    if (!blocks.next(block)) return {};
    hash.add(block);
  }
  return number_of(hash.digest());
}

std::uint64_t content_hash(const StoredBuffer& row) {
  if (row.compression && !row.bytes.empty()) {
    if (const auto hash = hash_of_decompressed(row)) return *hash;
  }
  if (row.digest.size() == sizeof(std::uint64_t)) return number_of(row.digest);
  return base::hash_of(row.bytes.empty() ? row.digest : row.bytes);
}

// Hashes the content and type of a stored buffer, whatever its number, digest and
// compression.
std::uint64_t stored_hash(const StoredBuffer& row) {
  std::uint64_t hash = salted(Salt::kStored, content_hash(row));
  for (const std::uint64_t extent : row.shape) hash = mixed(hash, extent);
  const auto* format = reinterpret_cast<const std::uint8_t*>(row.format.data());
  hash = mixed(hash, base::hash_of({format, row.format.size()}));
  hash = mixed(hash, static_cast<std::uint64_t>(row.kind) << 1 | row.is_fortran);
  return mixed(hash, row.length);
}

// One of the two payloads as a flat tree, in which a subtree is compared by its hash
// and skipped in one step.
class PayloadTree {
 public:
  struct Row {
    // Covers code by content, modules by name, references by their targets. So equal
    // values have equal hashes, whatever the tables of their envelopes.
    std::uint64_t hash = 0;
    std::size_t offset = 0;  // In the envelope.
    Index end = 0;           // The index of the first row after the subtree.
    TokenType type = TokenType::kNil;
    std::uint8_t tag = 0;  // The tag of a node; 0 for other values.
  };

  // The code of a function or code node; by default, none.
  struct Code {
    std::size_t index = SIZE_MAX;
    BytesView hash = {};
    std::string_view name = {};
  };

  // `side` must outlive this. Texts have about `max_text` bytes. The tree of an
  // unreadable payload, or of one with 2^32 values, is empty.
  PayloadTree(const Side& side, std::size_t max_text)
      : envelope_(side.envelope), names_(side.names), max_text_(max_text) {
    if (!build()) rows_.clear();
  }

  bool empty() const { return rows_.empty(); }
  const Row& operator[](Index index) const { return rows_[index]; }
  BytesView bytes() const { return envelope_.payload.bytes; }

  // The values directly in a container, without a node's tag; those of a map alternate
  // keys and values.
  Indices children(Index index) const {
    Indices found;
    for (Index at = index + 1; at < rows_[index].end; at = rows_[at].end) {
      found.push_back(at);
    }
    return found;
  }

  // The value of the payload, after its definitions; and the definitions.
  Index value() const {
    return has_definitions() ? children(0)[position_of(NodeTag::kDefinitions, "value")]
                             : 0;
  }
  Indices definitions() const {
    if (!has_definitions()) return {};
    return children(children(0)[position_of(NodeTag::kDefinitions, "definitions")]);
  }
  // The name of a function or class; else "obj".
  std::string name(Index index) const {
    return StepFormatter(envelope_, names_).name_at(rows_[index].offset).text;
  }

  // The value itself, even if it is a reference; and the target if it is one.
  ValueView at(Index index) const {
    return ValueView::at(envelope_, rows_[index].offset);
  }
  ValueView follow(Index index) const { return {envelope_, rows_[index].offset}; }
  // The value as one line of text.
  std::string text(Index index) const {
    return value_text(reader_at(envelope_, rows_[index].offset), names_, max_text_);
  }
  Code code(Index index) const {
    const std::size_t code = at(index).code_index();
    if (code == SIZE_MAX) return {};
    return {code, envelope_.code[code].hash, names_.code[code]};
  }
  // The paths of the values at these sorted offsets. Cost: one walk over the payload.
  std::vector<std::string> paths(const std::vector<std::size_t>& offsets) const {
    return paths_at(envelope_, names_, offsets);
  }

 private:
  using Cursor = PayloadCursor<Index>;  // The annotation: an index of rows_.

  bool has_definitions() const {
    return rows_[0].tag == static_cast<std::uint8_t>(NodeTag::kDefinitions);
  }

  bool build() {
    Cursor cursor(reader_at(envelope_, envelope_.payload.offset));
    while (cursor.next()) {
      Index index = 0;
      if (cursor.event() == CursorEvent::kClose) {
        index = cursor.container().annotation;
        rows_[index].end = static_cast<Index>(rows_.size());
      } else {
        if (rows_.size() == UINT32_MAX) return false;
        index = static_cast<Index>(rows_.size());
        const Token& token = cursor.token();
        Row& row = rows_.emplace_back();
        row.offset = token.offset;
        row.type = token.type;
        if (cursor.event() == CursorEvent::kOpen) {
          Cursor::Container& container = cursor.container();
          container.annotation = index;
          row.tag = container.tag;
          const auto type = static_cast<std::uint64_t>(row.type);
          row.hash = mixed(type << 8 | row.tag, container.count);
          continue;
        }
        row.end = index + 1;
        row.hash = leaf_hash(cursor);
      }
      if (index == 0) continue;
      Row& around = rows_[cursor.around().annotation];
      around.hash = mixed(around.hash, rows_[index].hash);
    }
    return !cursor.reader().failed();
  }

  std::uint64_t leaf_hash(Cursor& cursor) const {
    const Token& token = cursor.token();
    const auto [kind, number] =
        target_of(envelope_, token, cursor.rule(), cursor.around().tag);
    switch (kind) {
      case LeafTarget::Kind::kValue:
        return reference_hash(cursor, number);
      case LeafTarget::Kind::kModule: {
        const std::string& module = envelope_.manifest.imports[number].module;
        const auto* start = reinterpret_cast<const std::uint8_t*>(module.data());
        return salted(Salt::kModule, base::hash_of({start, module.size()}));
      }
      case LeafTarget::Kind::kCode:
        return salted(Salt::kCode, base::hash_of(envelope_.code[number].hash));
      case LeafTarget::Kind::kBuffer:
        return stored_hash(envelope_.buffers[number]);
      default:
        break;
    }
    const std::size_t start = token.offset - envelope_.payload.offset;
    return base::hash_of(envelope_.payload.bytes.subspan(
        start, cursor.reader().offset() - token.offset));
  }

  std::uint64_t reference_hash(const Cursor& cursor, std::size_t number) const {
    const std::size_t offset = envelope_.payload.offset + envelope_.shared[number];
    const auto target = std::lower_bound(
        rows_.begin(), rows_.end(), offset,
        [](const Row& row, std::size_t value) { return row.offset < value; });
    if (target == rows_.end() || target->offset != offset) {
      return salted(Salt::kReference, number);
    }
    if (target->end != 0) return salted(Salt::kReference, target->hash);
    // An open container has no hash yet: this is a cycle. Hashes the number of levels
    // up to it, since the number of the reference depends on other shared values.
    const auto node = static_cast<Index>(target - rows_.begin());
    const auto open = cursor.open();
    const auto frame =
        std::ranges::lower_bound(open, node, {}, &Cursor::Container::annotation);
    return salted(Salt::kOpenReference, static_cast<std::uint64_t>(open.end() - frame));
  }

  const Envelope& envelope_;
  const ValueNames& names_;
  std::size_t max_text_;
  std::vector<Row> rows_;
};

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
      is_binary ? std::min(rest.size(), max_text) : wire::prefix_size(rest, max_text);
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
  const Leaf old_leaf = leaf_of(before);
  const Leaf new_leaf = leaf_of(after);
  if (old_leaf.kind == Leaf::Kind::kOther || old_leaf.kind != new_leaf.kind) return {};
  if (old_leaf.content == new_leaf.content) return {};
  const bool is_text = old_leaf.kind == Leaf::Kind::kText;
  const auto character_start = [&](std::size_t at) {
    const auto is_inside = [&](const Leaf& leaf) {
      return at < leaf.content.size() && wire::continues_character(leaf.content[at]);
    };
    while (is_text && at != 0 && (is_inside(old_leaf) || is_inside(new_leaf))) --at;
    return at;
  };
  const auto [end, _] = std::ranges::mismatch(old_leaf.content, new_leaf.content);
  const std::size_t first =
      character_start(static_cast<std::size_t>(end - old_leaf.content.begin()));
  const std::size_t start = character_start(first - std::min(first, max_text / 2));
  const std::string_view same = old_leaf.content.substr(0, first);
  return LeafDifference{is_text ? wire::count_characters(same) : first,
                        text_from(old_leaf, start, max_text),
                        text_from(new_leaf, start, max_text)};
}

class PayloadComparison {
 public:
  PayloadComparison(const Side& old_side, const Side& new_side, const CodeChanges& code,
                    std::size_t max_text, DifferenceList& payload)
      : old_(old_side, max_text),
        new_(new_side, max_text),
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
    set_paths(old_, old_places_);
    set_paths(new_, new_places_);
  }

 private:
  struct Pair {
    Index before;
    Index after;
  };
  // Maps offsets of values in a payload to the indices of their shown differences.
  using Places = std::multimap<std::size_t, std::size_t>;

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
        report_added(after);
        continue;
      }
      const Index before = same->second.back();
      same->second.pop_back();
      counterparts_.emplace(before, new_[after].offset);
      push(before, after);
    }
    for (const auto& [name, indices] : left) {
      for (const Index before : indices) report_removed(before);
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

  // Finds all paths of a payload in one walk.
  void set_paths(const PayloadTree& side, const Places& places) {
    std::vector<std::size_t> offsets;
    for (const auto& [offset, _] : places) offsets.push_back(offset);
    const std::vector<std::string> paths = side.paths(offsets);
    std::size_t at = 0;
    for (const auto& [_, shown] : places) {
      payload_.entry(shown)["path"] = paths[at++];
    }
  }

  // Counts a difference. Returns its entry if it is shown.
  std::optional<Json> add(const char* change, const PayloadTree& side, Index node) {
    const std::optional<Json> row = payload_.add(5);
    if (!row) return row;
    (*row)["change"] = change;
    (*row)["path"] = "";  // Comes first; see set_paths().
    (&side == &old_ ? old_places_ : new_places_).emplace(side[node].offset, shown_++);
    return row;
  }

  void report_changed(const Pair& pair) {
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

  void report_added(Index after) {
    if (const auto row = add("added", new_, after)) (*row)["new"] = new_.text(after);
  }

  void report_removed(Index before) {
    if (const auto row = add("removed", old_, before)) {
      (*row)["old"] = old_.text(before);
    }
  }

  void visit(const Pair& pair) {
    const PayloadTree::Row& row = old_[pair.before];
    if (row.type != new_[pair.after].type || row.tag != new_[pair.after].tag) {
      return report_changed(pair);
    }
    const Indices before = old_.children(pair.before);
    const Indices after = new_.children(pair.after);
    if (row.type == TokenType::kMap) return visit_map(pair, before, after);
    if (row.type == TokenType::kExtension && are_counterparts(pair)) return;
    if (row.type != TokenType::kArray) return report_changed(pair);
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
        return row.tag == 0 ? visit_sequence(before, after) : report_changed(pair);
    }
  }

  void visit_parts(const Pair& pair, const Indices& before, const Indices& after) {
    if (before.size() != after.size()) return report_changed(pair);
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
    if (before.size() != shape.min_count || after.size() != shape.min_count) {
      return report_changed(pair);
    }
    visit_code(pair);
    constexpr std::size_t kCode = position_of(NodeTag::kFunction, "code");
    for (std::size_t i = kCode + 1; i < shape.min_count; ++i) push(before[i], after[i]);
  }

  // Skips code that is reported as changed. Functions, even of one name, may have
  // exchanged code that both envelopes have.
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
    for (std::size_t i = head; i + tail < before.size(); ++i) report_removed(before[i]);
    for (std::size_t i = head; i + tail < after.size(); ++i) report_added(after[i]);
  }

  void visit_set(const Indices& before, const Indices& after) {
    std::map<std::uint64_t, std::size_t> left;
    for (const Index item : after) ++left[new_[item].hash];
    for (const Index item : before) {
      const auto found = left.find(old_[item].hash);
      if (found != left.end() && found->second != 0) {
        --found->second;
      } else {
        report_removed(item);
      }
    }
    for (const Index item : after) {
      std::size_t& count = left[new_[item].hash];
      if (count == 0) continue;
      --count;
      report_added(item);
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
        report_removed(before[i + 1]);
        continue;
      }
      const std::size_t at = found->second;
      is_paired[at] = true;
      is_ordered = is_ordered && at >= last;
      last = at;
      push(before[i + 1], after[at + 1]);
    }
    for (std::size_t i = 0; i + 1 < after.size(); i += 2) {
      if (!is_paired[i]) report_added(after[i + 1]);
    }
    // The keys are in another order, whatever their values are.
    if (!is_ordered) add("order", old_, pair.before);
  }

  PayloadTree old_;
  PayloadTree new_;
  const CodeChanges& code_;
  const std::size_t max_text_;
  DifferenceList& payload_;
  std::map<std::size_t, Index> old_definitions_;  // Indices by offset.
  // The offset of a new definition, by the index of its old counterpart.
  std::map<Index, std::size_t> counterparts_;
  std::vector<Pair> stack_;  // Pairs to visit; the next one last.
  std::vector<Pair> found_;  // Found by this visit, in the order of the payload.
  std::size_t shown_ = 0;    // The number of shown differences.
  Places old_places_, new_places_;
};

}  // namespace

void diff_payloads(const Side& old_side, const Side& new_side, const CodeChanges& code,
                   const DiffOptions& options, DifferenceList& payload) {
  PayloadComparison(old_side, new_side, code, options.max_text, payload).run();
}

}  // namespace waybill::envelope
