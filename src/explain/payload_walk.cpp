// Tested by tests/explain/explain_payload_test.cpp.

#include "explain/payload_walk.h"

#include <algorithm>
#include <utility>

#include "format/value_view.h"
#include "report/paths.h"

namespace waybill::envelope {
namespace {

using Kind = ExplainedPart::Kind;
using wire::NodeTag;
using wire::Token;

// A leaf of at least this many bytes is a part of its own.
constexpr std::uint64_t kLargeLeaf = 64;
// In values, between two calls of `progress`.
constexpr std::uint64_t kProgressInterval = 1 << 16;
constexpr std::uint32_t kNoDefinition = TreePart::kNoDefinition;
// The cost of a reference to a value that is not complete yet, which has no bound.
constexpr std::uint64_t kUnbounded = UINT64_MAX / 2;

std::uint64_t sum(std::uint64_t a, std::uint64_t b) {
  // Neither argument exceeds kUnbounded, so the sum cannot overflow.
  return std::min(kUnbounded, a + b);
}

bool is_leaf_node(std::uint8_t tag) {
  const auto node = static_cast<NodeTag>(tag);
  return node == NodeTag::kStored || node == NodeTag::kByteArray ||
         node == NodeTag::kRange;
}

Kind kind_of(std::uint8_t tag) {
  switch (static_cast<NodeTag>(tag)) {
    case NodeTag::kGlobal:
    case NodeTag::kStreamReference:
      return Kind::kReference;
    case NodeTag::kLazyImport:
      return Kind::kModule;
    case NodeTag::kBuffer:
    case NodeTag::kPersistent:
      return Kind::kOutOfBand;
    default:
      return Kind::kValue;
  }
}

// Whether a value in a node is the callable that makes its object, or the metaclass.
// Its name becomes the type of the node.
bool is_type_of(const Part* part) {
  return part != nullptr && (part->is_called || part->name == "metaclass");
}

// The parts during the walk over a payload, and afterwards the parts to list. Memory is
// bounded: when there are too many parts, the smallest closed parts are merged into
// their holders, with all their descendants.
class PartTree {
 public:
  void open(TreePart part) {
    // Folding is linear. The next fold waits until the number of parts has doubled.
    if (parts_.size() >= next_fold_) {
      fold();
      next_fold_ = std::max(2 * kMaxExplainedParts, 2 * parts_.size());
    }
    part.parent = open_.empty() ? 0 : open_.back();
    open_.push_back(static_cast<std::uint32_t>(parts_.size()));
    parts_.push_back(part);
  }

  // Closes the innermost open part. Without `is_significant` the part is merged into
  // its holder, whatever its size.
  void close(std::uint64_t bytes, std::uint64_t cost, bool is_significant = true) {
    const std::uint32_t index = open_.back();
    open_.pop_back();
    TreePart& part = parts_[index];
    part.is_open = false;
    part.bytes = bytes;
    part.cost = cost;
    const bool is_listed = is_significant && bytes >= min_bytes_;
    // The descendants of a merged part are not larger and have been merged already, so
    // it is the last part.
    if (is_listed || open_.empty() || index + 1 != parts_.size()) return;
    parts_.pop_back();
    ++omitted_count_;
  }

  // The innermost open part.
  TreePart& innermost() { return parts_[open_.back()]; }
  bool is_empty() const { return open_.empty(); }

  // Counts a value that has no part of its own.
  void count_omitted() { ++omitted_count_; }
  std::uint64_t omitted_count() const { return omitted_count_; }

  // The listed parts, in the order of the payload. Call it when all parts are closed.
  std::vector<TreePart> take() {
    fold();
    return std::move(parts_);
  }

 private:
  // Keeps the largest closed parts, at most kMaxExplainedParts. A part is never larger
  // than its holder, so no part loses its holder.
  void fold() {
    std::vector<std::uint64_t> sizes;
    for (const TreePart& part : parts_) {
      if (!part.is_open) sizes.push_back(part.bytes);
    }
    if (sizes.size() <= kMaxExplainedParts) return;
    const auto cut = sizes.begin() + kMaxExplainedParts;
    std::ranges::nth_element(sizes, cut, std::ranges::greater());
    min_bytes_ = std::max(min_bytes_, *cut + 1);
    std::vector<std::uint32_t> moved(parts_.size());
    std::uint32_t listed = 0;
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      TreePart part = parts_[i];
      if (i != 0 && !part.is_open && part.bytes < min_bytes_) {
        ++omitted_count_;
        continue;
      }
      moved[i] = listed;
      part.parent = moved[part.parent];
      parts_[listed++] = part;
    }
    parts_.resize(listed);
    for (std::uint32_t& index : open_) index = moved[index];
  }

  std::vector<TreePart> parts_;
  std::vector<std::uint32_t> open_;
  std::uint64_t min_bytes_ = 0;  // The smallest size of a listed part.
  // The tree may hold twice as many parts as are listed, not counting open ones.
  std::size_t next_fold_ = 2 * kMaxExplainedParts;
  std::uint64_t omitted_count_ = 0;
};

// Moves definitions to the parts that need them. A payload stores definitions before
// its value. An explanation shows each definition, with its descendants, in place of
// the first reference to it, and the value in place of the root.
class DefinitionPlacer {
 public:
  // `is_shared` is indexed by the numbers of definitions.
  DefinitionPlacer(const std::vector<TreePart>& parts,
                   const std::vector<bool>& is_shared)
      : parts_(parts),
        is_shared_(is_shared),
        starts_(is_shared.size(), kNone),
        is_placed_(is_shared.size()),
        moved_(parts.size()) {
    for (std::uint32_t i = 0; i < parts.size(); ++i) {
      const std::uint32_t definition = parts[i].definition;
      if (definition == kNoDefinition) continue;
      if (parts[i].stands_for_definition) {
        is_placed_[definition] = true;
      } else {
        starts_[definition] = i;
      }
    }
  }

  // Holders precede their parts in the result too. Cost: linear in the number of parts.
  std::vector<TreePart> run() {
    ordered_.push_back(parts_[0]);
    // Ranges still to be copied: the rest of the payload, and of definitions.
    std::vector<Range> todo{{1, static_cast<std::uint32_t>(parts_.size())}};
    while (!todo.empty()) {
      Range& range = todo.back();
      if (range.next == range.end) {
        todo.pop_back();
        continue;
      }
      const std::uint32_t index = range.next++;
      const TreePart& part = parts_[index];
      const bool is_definition = part.definition != kNoDefinition;
      if (is_definition && part.stands_for_definition) {
        const std::uint32_t start = starts_[part.definition];
        if (start == kNone) continue;
        TreePart definition = parts_[start];
        definition.parent = part.parent;
        definition.link = part.link;
        definition.is_shared = is_shared_[part.definition];
        add(start, definition);
        todo.push_back({start + 1, end_of(start)});
      } else if (is_definition && is_placed_[part.definition]) {
        range.next = end_of(index);
      } else {
        add(index, part);
      }
    }
    return std::move(ordered_);
  }

 private:
  static constexpr std::uint32_t kNone = UINT32_MAX;
  struct Range {
    std::uint32_t next, end;
  };

  // The index after the last descendant of a part.
  std::uint32_t end_of(std::uint32_t index) const {
    std::uint32_t end = index + 1;
    while (end != parts_.size() && parts_[end].parent >= index) ++end;
    return end;
  }

  void add(std::uint32_t index, const TreePart& part) {
    // Only the value of the payload has no step.
    if (part.parent == 0 && part.link.style == steps::Style::kNone) {
      TreePart& root = ordered_[0];
      root.kind = part.kind;
      root.offset = part.offset;
      root.count = part.count;
      return;
    }
    moved_[index] = static_cast<std::uint32_t>(ordered_.size());
    ordered_.push_back(part);
    ordered_.back().parent = moved_[part.parent];
  }

  const std::vector<TreePart>& parts_;
  const std::vector<bool>& is_shared_;
  // The index of each definition in `parts_`, by its number.
  std::vector<std::uint32_t> starts_;
  std::vector<bool> is_placed_;       // Whether a reference stands for the definition.
  std::vector<std::uint32_t> moved_;  // Indices in `ordered_`, by index in `parts_`.
  std::vector<TreePart> ordered_;
};

struct PartAnnotation {
  bool is_part = false;
  std::uint32_t definition = kNoDefinition;  // The definition that the container is.
  std::uint64_t extra = 0;  // Bytes of the part in other places of the envelope.
  std::uint64_t cost = 1;   // See TreePart.
};
using PartCursor = PayloadCursor<PartAnnotation>;

class Walk {
 public:
  Walk(const Envelope& envelope, CodeBodies& code)
      : envelope_(envelope),
        code_(code),
        cursor_(reader_at(envelope, envelope.payload.offset)),
        shared_(shared_places(envelope)),
        costs_(envelope.shared.size(), kUnbounded),
        definitions_(envelope.shared.size(), kNoDefinition),
        is_stored_taken_(envelope.buffers.size()) {}

  WalkedPayload run(const std::function<void(std::uint64_t)>& progress) {
    while (cursor_.next()) {
      if (progress && walked_.values % kProgressInterval == 0) {
        progress(cursor_.token().offset - envelope_.payload.offset);
      }
      if (cursor_.event() == CursorEvent::kClose) {
        close();
        continue;
      }
      ++walked_.values;
      record_class_name();
      if (cursor_.event() == CursorEvent::kOpen) {
        open();
      } else {
        visit_leaf();
      }
    }
    std::ranges::sort(walked_.class_names);
    walked_.parts = tree_.take();
    if (envelope_.definitions.value != 0) {
      walked_.parts = DefinitionPlacer(walked_.parts, is_definition_shared_).run();
    }
    walked_.omitted_parts = tree_.omitted_count();
    return std::move(walked_);
  }

 private:
  void record_class_name() {
    const PartCursor::Container& around = cursor_.around();
    constexpr std::size_t kName = position_of(NodeTag::kClass, "name");
    const Token& token = cursor_.token();
    if (around.tag == static_cast<std::uint8_t>(NodeTag::kClass) &&
        around.index() == kName) {
      walked_.class_names.emplace_back(around.offset, token.offset);
    }
  }

  bool is_in_identified() {
    return cursor_.around().tag == static_cast<std::uint8_t>(NodeTag::kIdentified);
  }

  TreePart part_here(Kind kind) {
    TreePart part;
    part.link = link_at(cursor_.open(), cursor_.depth());
    part.kind = kind;
    part.offset = cursor_.token().offset;
    part.is_shared = !places_at(shared_, part.offset).empty();
    return part;
  }

  void open() {
    PartCursor::Container& own = cursor_.container();
    PartAnnotation& annotation = own.annotation;
    if (is_implicit_at(cursor_.open(), cursor_.depth())) return;
    const bool is_name = own.tag == static_cast<std::uint8_t>(NodeTag::kGlobal) &&
                         !tree_.is_empty() && is_type_of(cursor_.part());
    if (is_name) return;
    if (is_in_identified()) {
      TreePart& part = tree_.innermost();
      part.offset = own.offset;
      part.count = own.count;
      part.is_shared = part.is_shared || !places_at(shared_, own.offset).empty();
      return;
    }
    TreePart part = part_here(kind_of(own.tag));
    part.count = own.count;
    const std::size_t depth = cursor_.depth();
    if (depth != 0 &&
        role_at(cursor_.open(), depth - 1) == ContainerRole::kDefinitions) {
      part.definition = annotation.definition = add_definition();
    }
    tree_.open(part);
    annotation.is_part = true;
  }

  std::uint32_t add_definition() {
    definition_bytes_.push_back(0);
    is_definition_shared_.push_back(false);
    return static_cast<std::uint32_t>(definition_bytes_.size() - 1);
  }

  // A definition is complete: from here on references can refer to it.
  void end_definition(std::uint32_t definition, std::size_t offset,
                      std::uint64_t bytes) {
    definition_bytes_[definition] = bytes;
    for (const auto& [_, number] : places_at(shared_, offset)) {
      definitions_[number] = definition;
    }
  }

  // The first reference to a definition is charged with its bytes.
  void refer_to(std::uint32_t definition, std::uint64_t cost) {
    const std::uint64_t bytes = std::exchange(definition_bytes_[definition], 0);
    if (bytes == 0) {
      is_definition_shared_[definition] = true;
      return;
    }
    cursor_.around().annotation.extra += bytes;
    referred_to_ += bytes;
    TreePart part = part_here(Kind::kValue);
    part.definition = definition;
    part.stands_for_definition = true;
    tree_.open(part);
    tree_.close(bytes, cost);
  }

  void close() {
    const PartCursor::Container& own = cursor_.container();
    PartAnnotation& around = cursor_.around().annotation;
    std::uint64_t bytes = cursor_.reader().offset() - own.offset + own.annotation.extra;
    // The parts that refer to definitions are charged with their bytes.
    if (own.tag == static_cast<std::uint8_t>(NodeTag::kDefinitions))
      bytes -= referred_to_;
    if (own.annotation.definition != kNoDefinition) {
      end_definition(own.annotation.definition, own.offset, bytes);
    }
    around.extra += own.annotation.extra;
    around.cost = sum(around.cost, own.annotation.cost);
    set_cost(own.offset, own.annotation.cost);
    if (!own.annotation.is_part) return;
    tree_.close(bytes, own.annotation.cost,
                !is_leaf_node(own.tag) || bytes >= kLargeLeaf);
  }

  void set_cost(std::size_t offset, std::uint64_t cost) {
    for (const auto& [_, number] : places_at(shared_, offset)) costs_[number] = cost;
  }

  // Charges the enclosing container with the bytes to which a leaf refers in other
  // sections of the envelope.
  void add_target(const LeafTarget& target) {
    PartAnnotation& around = cursor_.around().annotation;
    if (target.kind == LeafTarget::Kind::kCode)
      around.extra += code_.take(target.number);
    if (target.kind != LeafTarget::Kind::kBuffer || is_stored_taken_[target.number])
      return;
    is_stored_taken_[target.number] = true;
    around.extra += envelope_.buffers[target.number].stored_length;
  }

  void visit_leaf() {
    const Token& token = cursor_.token();
    PartAnnotation& around = cursor_.around().annotation;
    const LeafTarget target =
        target_of(envelope_, token, cursor_.rule(), cursor_.around().tag);
    const bool is_reference = target.kind == LeafTarget::Kind::kValue;
    const std::uint64_t cost = sum(1, is_reference ? costs_[target.number] : 0);
    add_target(target);
    around.cost = sum(around.cost, cost);
    set_cost(token.offset, cost);
    const std::uint64_t bytes = cursor_.reader().offset() - token.offset;
    const bool is_module = target.kind == LeafTarget::Kind::kModule;
    if (tree_.is_empty()) return add_leaf_part(is_module, bytes);
    if (is_reference && definitions_[target.number] != kNoDefinition &&
        !is_in_identified()) {
      return refer_to(definitions_[target.number], cost);
    }
    if (!is_object(cursor_.rule()) || token.is(wire::ExtType::kReference)) return;
    const bool is_key = cursor_.around().is_key();
    if (is_key && role_at(cursor_.open(), cursor_.depth() - 1) != ContainerRole::kPairs)
      return;
    if (is_in_identified()) {
      tree_.innermost().offset = token.offset;
    } else if (is_module || bytes >= kLargeLeaf) {
      add_leaf_part(is_module, bytes);
    } else if (!is_key) {
      tree_.count_omitted();
    }
  }

  void add_leaf_part(bool is_module, std::uint64_t bytes) {
    tree_.open(part_here(is_module ? Kind::kModule : Kind::kValue));
    tree_.close(bytes, 1);
  }

  const Envelope& envelope_;
  CodeBodies& code_;
  PartCursor cursor_;
  PartTree tree_;
  WalkedPayload walked_;
  std::vector<SharedPlace> shared_;
  std::vector<std::uint64_t> costs_;
  std::vector<std::uint32_t> definitions_;       // Indexed by shared position.
  std::vector<std::uint64_t> definition_bytes_;  // 0 once it is counted.
  std::vector<bool> is_definition_shared_;
  std::uint64_t referred_to_ = 0;  // Bytes of definitions that have references.
  std::vector<bool> is_stored_taken_;
};

}  // namespace

WalkedPayload walk_payload(const Envelope& envelope, CodeBodies& code,
                           const std::function<void(std::uint64_t)>& progress) {
  return Walk(envelope, code).run(progress);
}

}  // namespace waybill::envelope
