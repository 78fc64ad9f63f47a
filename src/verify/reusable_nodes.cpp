// One walk notes where nodes, references and uses of code stand; then nodes are dropped
// until none of those that are left has to do with anything but the others.
// Tested by tests/verify/verified_prefix_test.cpp.

#include "verify/reusable_nodes.h"

#include <algorithm>

#include "format/payload_cursor.h"

namespace waybill::envelope {
namespace {

using wire::ExtType;
using wire::NodeTag;
using wire::Reader;
using wire::Token;
using wire::TokenType;

// Whether making it calls code of others, who get what is in it.
bool is_call(const Shape& shape) { return shape.parts[0].is_called; }

// What a node means beyond its bytes, manifest and code: what the program gives, other
// payloads, what is counted or kept aside.
bool means_more(NodeTag tag) {
  switch (tag) {
    case NodeTag::kLazyImport:
    case NodeTag::kPersistent:
    case NodeTag::kBuffer:
    case NodeTag::kIdentified:
    case NodeTag::kModule:
    case NodeTag::kStreamReference:
    case NodeTag::kReplacement:
      return true;
    default:
      return false;
  }
}

// What a function may hold to be made again by steps that run no code of others; see
// python/cache/function_recipe.h.
bool is_of_functions(NodeTag tag) {
  switch (tag) {
    case NodeTag::kTuple:
    case NodeTag::kGlobal:
    case NodeTag::kNamespace:
    case NodeTag::kCell:
    case NodeTag::kFunction:
      return true;
    default:
      return false;
  }
}

class Walk {
 public:
  explicit Walk(const Envelope& envelope)
      : envelope_(envelope), cursor_(wire::Reader(envelope.payload.bytes)) {}

  bool run() {
    while (cursor_.next()) {
      switch (cursor_.event()) {
        case CursorEvent::kLeaf:
          leaf();
          break;
        case CursorEvent::kOpen:
          open();
          break;
        case CursorEvent::kClose:
          close();
          break;
      }
    }
    return !cursor_.reader().failed();
  }

  std::vector<ReusableNode> known() {
    drop_inner();
    if (candidates_.size() > kMost) return {};
    drop_handed_out();
    while (drop_entangled()) {
    }
    std::vector<ReusableNode> nodes;
    for (const Candidate& candidate : candidates_) nodes.push_back(node_of(candidate));
    return nodes;
  }

 private:
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);
  // Each reference looks at all of them.
  static constexpr std::size_t kMost = 64;

  struct Candidate {
    NodeTag tag;
    std::size_t start;
    std::size_t end = 0;
    bool is_fit = true;

    bool holds(std::size_t position) const {
      return start <= position && position < end;
    }
  };
  struct Note {
    std::size_t candidate = kNone;  // Into candidates_.
    bool is_function = false;
    bool is_in_call = false;
  };
  struct Reference {
    std::size_t position;
    std::uint64_t number;
    bool is_in_call;
  };
  struct Use {
    std::size_t position;
    std::uint32_t code;
  };

  void leaf() {
    const Token& token = cursor_.token();
    if (cursor_.rule() == Rule::kCodeIndex) {
      uses_.push_back({token.offset, static_cast<std::uint32_t>(token.integer)});
    }
    Reference reference{token.offset, 0, cursor_.around().note.is_in_call};
    if (wire::is_reference(token, reference.number)) {
      references_.push_back(reference);
    }
  }

  // Whether what is around the node that was opened last is a function's, and not that
  // of a class inside of it.
  bool is_in_function() const {
    const auto around = cursor_.open().first(cursor_.open().size() - 1);
    const auto found = std::find_if(around.rbegin(), around.rend(), [](const auto& o) {
      return o.note.candidate != kNone;
    });
    return found != around.rend() && found->note.is_function;
  }

  void open() {
    Note& note = cursor_.container().note;
    note.is_in_call = cursor_.around().note.is_in_call;
    const Shape* shape = cursor_.container().shape;
    if (shape == nullptr) return;
    const std::size_t start = cursor_.container().offset;
    const NodeTag tag = shape->tag;
    const bool is_class = tag == NodeTag::kClass;
    note.is_function = tag == NodeTag::kFunction;
    if (tag == NodeTag::kNamespace) namespaces_.push_back(start);
    if (!is_of_functions(tag)) spoil_around(true);
    bool is_fit = !means_more(tag);
    if (is_class) {
      Reader ahead = cursor_.reader();
      BytesView id;
      // A class without an id is another each time.
      is_fit = ahead.read_binary(id, {});
      classes_.push_back({start, {id.begin(), id.end()}});
    }
    // What a call makes may differ each time, and a function that a class has keeps it.
    if (!is_fit || (is_call(*shape) && is_in_function())) spoil_around(false);
    if (is_class || note.is_function) {
      note.candidate = candidates_.size();
      candidates_.push_back({tag, start});
      candidates_.back().is_fit = is_class ? is_fit : !note.is_in_call;
    }
    note.is_in_call = note.is_in_call || is_call(*shape);
  }

  // Takes the nodes around the one that was opened last for none that can be reused.
  void spoil_around(bool functions_only) {
    for (const auto& around : cursor_.open()) {
      if (around.note.candidate == kNone) continue;
      if (functions_only && !around.note.is_function) continue;
      candidates_[around.note.candidate].is_fit = false;
    }
  }

  void close() {
    const std::size_t candidate = cursor_.container().note.candidate;
    if (candidate != kNone) candidates_[candidate].end = cursor_.reader().offset();
  }

  void drop_inner() {
    std::size_t covered = 0;
    std::erase_if(candidates_, [&](const Candidate& candidate) {
      if (!candidate.is_fit || candidate.start < covered) return true;
      covered = candidate.end;
      return false;
    });
  }

  std::size_t candidate_at(std::size_t position) const {
    for (std::size_t i = 0; i < candidates_.size(); ++i) {
      if (candidates_[i].holds(position)) return i;
    }
    return kNone;
  }

  // Drops functions if others may get at them by reference, or share their code.
  void drop_handed_out() {
    const bool is_any_handed_out =
        std::ranges::any_of(references_, [&](const Reference& reference) {
          const std::size_t target = envelope_.shared[reference.number];
          const std::size_t to = candidate_at(target);
          return reference.is_in_call && candidate_at(reference.position) == kNone &&
                 (to == kNone || candidates_[to].tag == NodeTag::kFunction);
        });
    std::erase_if(candidates_, [&](const Candidate& candidate) {
      return candidate.tag == NodeTag::kFunction &&
             (is_any_handed_out || is_code_used_elsewhere(candidate));
    });
  }

  bool is_code_used_elsewhere(const Candidate& candidate) const {
    return std::ranges::any_of(uses_, [&](const Use& own) {
      return candidate.holds(own.position) &&
             std::ranges::any_of(uses_, [&](const Use& use) {
               return use.code == own.code && candidate_at(use.position) == kNone;
             });
    });
  }

  // Drops those that refer to what is outside, and those that others refer into. Of a
  // function only the namespace may be shared: its other parts are made anew each time,
  // while a class keeps its own.
  bool drop_entangled() {
    bool is_any = false;
    for (const Reference& reference : references_) {
      const std::size_t target = envelope_.shared[reference.number];
      const std::size_t from = candidate_at(reference.position);
      const std::size_t to = candidate_at(target);
      const bool is_inside = to != kNone && candidates_[to].start != target;
      if (from != kNone && to == kNone) {
        candidates_[from].is_fit = false;
        is_any = true;
      } else if (from == kNone && is_inside) {
        candidates_[to].is_fit = false;
        is_any = true;
      } else if (from != to && is_inside && !is_namespace(target)) {
        const bool is_function = candidates_[to].tag == NodeTag::kFunction;
        if (!is_function && candidates_[from].tag != NodeTag::kFunction) continue;
        candidates_[is_function ? to : from].is_fit = false;
        is_any = true;
      }
    }
    std::erase_if(candidates_, [](const Candidate& c) { return !c.is_fit; });
    return is_any;
  }

  bool is_namespace(std::size_t position) const {
    return std::ranges::binary_search(namespaces_, position);
  }

  ReusableNode node_of(const Candidate& candidate) const {
    ReusableNode node;
    node.tag = candidate.tag;
    node.start = candidate.start;
    const BytesView bytes = envelope_.payload.bytes.subspan(
        candidate.start, candidate.end - candidate.start);
    node.bytes.assign(bytes.begin(), bytes.end());
    for (const Use& use : uses_) {
      if (use.position < candidate.start) ++node.uses_before;
      if (candidate.holds(use.position)) node.code_uses.push_back(use.code);
    }
    for (const ReusableNode::Class& found : classes_) {
      if (!candidate.holds(found.offset)) continue;
      node.classes.push_back({found.offset - candidate.start, found.id});
    }
    for (const Reference& reference : references_) {
      const std::uint64_t after = reference.number + 1;
      if (reference.position < candidate.start) {
        node.references_before = std::max(node.references_before, after);
      }
      if (reference.position >= candidate.end) break;
      node.references_after = std::max(node.references_after, after);
      if (!candidate.holds(reference.position)) continue;
      const std::size_t target = envelope_.shared[reference.number];
      const std::size_t to = candidate_at(target);
      if (candidates_[to].start == target) {
        node.to_starts.push_back({reference.number, to});
      }
    }
    for (std::uint64_t i = 0; i < envelope_.shared.size(); ++i) {
      const std::size_t target = envelope_.shared[i];
      if (target > candidate.start && candidate.holds(target)) {
        node.targets.push_back({i, target - candidate.start});
      }
    }
    std::ranges::sort(node.targets, {}, &ReusableNode::Target::offset);
    return node;
  }

  const Envelope& envelope_;
  PayloadCursor<Note> cursor_;
  std::vector<Candidate> candidates_;
  std::vector<ReusableNode::Class> classes_;  // Counted from the start of the payload.
  std::vector<Reference> references_;
  std::vector<Use> uses_;
  std::vector<std::size_t> namespaces_;  // Where they stand.
};

}  // namespace

std::vector<ReusableNode> find_reusable_nodes(const VerifiedEnvelope& envelope) {
  Walk walk(envelope);
  if (!walk.run()) return {};
  return walk.known();
}

}  // namespace waybill::envelope
