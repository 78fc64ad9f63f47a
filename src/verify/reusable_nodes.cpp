// One walk notes where nodes, references and uses of code stand; then nodes are dropped
// until none of those that are left has to do with anything but the others. Where a
// function is dropped, the classes inside of it are looked at by themselves.
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
    case NodeTag::kStored:
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
// python/cache/recipe.h.
bool is_of_functions(NodeTag tag) {
  switch (tag) {
    case NodeTag::kTuple:
    case NodeTag::kGlobal:
    case NodeTag::kNamespace:
    case NodeTag::kCell:
    case NodeTag::kFunction:
    case NodeTag::kClass:  // Which is there.
      return true;
    default:
      return false;
  }
}

// What is the same for a function that is made anew and a class that keeps it: a name
// that is looked up, and globals, which hold the same.
bool is_shareable(NodeTag tag) {
  return tag == NodeTag::kNamespace || tag == NodeTag::kGlobal;
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
    for (std::size_t pass = 0; pass < kMost; ++pass) {
      choose_outermost();
      if (chosen_.size() > kMost) break;
      if (!drop_handed_out() && !drop_entangled()) return nodes();
    }
    return {};
  }

 private:
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);
  // Nodes, and passes that drop some.
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
    if (envelope::is_shareable(tag)) shareable_.push_back(start);
    if (!is_of_functions(tag)) spoil_functions();
    bool is_fit = !means_more(tag);
    if (is_class) {
      Reader ahead = cursor_.reader();
      BytesView id;
      // A class without an id is another each time.
      is_fit = ahead.read_binary(id, {});
      classes_.push_back({start, {id.begin(), id.end()}, 0});
    }
    // What a call makes may differ each time, and a function that a class has keeps it.
    if (!is_fit || (is_call(*shape) && is_in_function())) spoil_around();
    if (is_class || note.is_function) {
      note.candidate = candidates_.size();
      candidates_.push_back({tag, start});
      candidates_.back().is_fit = is_class ? is_fit : !note.is_in_call;
    }
    note.is_in_call = note.is_in_call || is_call(*shape);
  }

  // Takes the nodes around the one that was opened last for none that can be reused.
  void spoil_around() {
    for (const auto& around : cursor_.open()) {
      if (around.note.candidate == kNone) continue;
      candidates_[around.note.candidate].is_fit = false;
    }
  }

  // The same of the functions around it, up to a class: what that holds is not made.
  void spoil_functions() {
    const auto around = cursor_.open();
    for (auto open = around.rbegin(); open != around.rend(); ++open) {
      if (open->note.candidate == kNone) continue;
      if (!open->note.is_function) return;
      candidates_[open->note.candidate].is_fit = false;
    }
  }

  void close() {
    const std::size_t candidate = cursor_.container().note.candidate;
    if (candidate != kNone) candidates_[candidate].end = cursor_.reader().offset();
  }

  void choose_outermost() {
    chosen_.clear();
    std::size_t covered = 0;
    for (Candidate& candidate : candidates_) {
      if (!candidate.is_fit || candidate.start < covered) continue;
      covered = candidate.end;
      chosen_.push_back(&candidate);
    }
  }

  // Which of those that were chosen holds that position; kNone if none does.
  std::size_t chosen_at(std::size_t position) const {
    const auto next =
        std::ranges::upper_bound(chosen_, position, {}, &Candidate::start);
    if (next == chosen_.begin() || !(*std::prev(next))->holds(position)) return kNone;
    return static_cast<std::size_t>(next - chosen_.begin()) - 1;
  }

  bool is_function(std::size_t chosen) const {
    return chosen_[chosen]->tag == NodeTag::kFunction;
  }

  // Drops functions if others may get at them by reference, or share their code.
  bool drop_handed_out() {
    const bool is_any_handed_out =
        std::ranges::any_of(references_, [&](const Reference& reference) {
          const std::size_t target = envelope_.shared[reference.number];
          const std::size_t to = chosen_at(target);
          return reference.is_in_call && chosen_at(reference.position) == kNone &&
                 !is_class(target) && (to == kNone || is_function(to));
        });
    const std::vector<bool> used_elsewhere = codes_used_elsewhere();
    bool is_any = false;
    for (Candidate* candidate : chosen_) {
      if (candidate->tag != NodeTag::kFunction) continue;
      if (!is_any_handed_out && !uses_one_of(*candidate, used_elsewhere)) continue;
      candidate->is_fit = false;
      is_any = true;
    }
    return is_any;
  }

  // Of each code object: whether something outside of all that was chosen uses it.
  std::vector<bool> codes_used_elsewhere() const {
    std::vector<bool> used(envelope_.code.size());
    for (const Use& use : uses_) {
      if (chosen_at(use.position) == kNone) used[use.code] = true;
    }
    return used;
  }

  bool uses_one_of(const Candidate& candidate, const std::vector<bool>& codes) const {
    return std::ranges::any_of(uses_, [&](const Use& use) {
      return candidate.holds(use.position) && codes[use.code];
    });
  }

  // Drops those that refer to what is outside, and those that others refer into: parts
  // of a function are made anew each time, while those of a class are kept.
  bool drop_entangled() {
    bool is_any = false;
    const auto drop = [&](std::size_t chosen) {
      chosen_[chosen]->is_fit = false;
      is_any = true;
    };
    for (const Reference& reference : references_) {
      const std::size_t target = envelope_.shared[reference.number];
      const std::size_t from = chosen_at(reference.position);
      const std::size_t to = chosen_at(target);
      const bool is_inside =
          to != kNone && chosen_[to]->start != target && !is_class(target);
      if (from != kNone && to == kNone) {
        drop(from);
      } else if (from == kNone && is_inside) {
        drop(to);
      } else if (from != to && is_inside && !is_shareable(target)) {
        if (is_function(to)) {
          drop(to);
        } else if (is_function(from)) {
          drop(from);
        }
      }
    }
    return is_any;
  }

  // Whether a class that has an id starts there.
  bool is_class(std::size_t position) const {
    const auto found =
        std::ranges::lower_bound(classes_, position, {}, &ReusableNode::Class::offset);
    return found != classes_.end() && found->offset == position && !found->id.empty();
  }

  bool is_shareable(std::size_t position) const {
    return std::ranges::binary_search(shareable_, position);
  }

  std::vector<ReusableNode> nodes() const {
    // Of what references mean: whether one in a node does.
    std::vector<bool> is_meant_by_nodes(envelope_.shared.size());
    for (const Reference& reference : references_) {
      if (chosen_at(reference.position) == kNone) continue;
      is_meant_by_nodes[reference.number] = true;
    }
    std::vector<ReusableNode> nodes;
    std::size_t objects = chosen_.size();
    for (const Candidate* candidate : chosen_) {
      ReusableNode& node = nodes.emplace_back(node_of(*candidate));
      for (ReusableNode::Class& found : node.classes) {
        found.object = found.offset == 0 ? nodes.size() - 1 : objects++;
      }
      for (std::uint64_t i = 0; i < envelope_.shared.size(); ++i) {
        const std::size_t target = envelope_.shared[i];
        if (is_meant_by_nodes[i] && target > node.start && candidate->holds(target)) {
          node.targets.push_back({i, target - node.start});
        }
      }
      std::ranges::sort(node.targets, {}, &ReusableNode::Target::offset);
    }
    return nodes;
  }

  // But for its targets.
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
      node.classes.push_back({found.offset - candidate.start, found.id, 0});
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
      const std::size_t to = chosen_at(target);
      if (chosen_[to]->start == target) {
        node.to_starts.push_back({reference.number, to});
      }
    }
    return node;
  }

  const Envelope& envelope_;
  PayloadCursor<Note> cursor_;
  std::vector<Candidate> candidates_;         // By start.
  std::vector<Candidate*> chosen_;            // None of them inside another.
  std::vector<ReusableNode::Class> classes_;  // Counted from the start of the payload.
  std::vector<Reference> references_;
  std::vector<Use> uses_;
  std::vector<std::size_t> shareable_;  // Where such nodes start.
};

}  // namespace

const ReusableNode::Class* ReusableNode::class_at(std::size_t offset) const {
  const auto found = std::ranges::lower_bound(classes, offset, {}, &Class::offset);
  return found != classes.end() && found->offset == offset ? &*found : nullptr;
}

std::size_t object_count(std::span<const ReusableNode> nodes) {
  std::size_t count = nodes.size();
  for (const ReusableNode& node : nodes) {
    count += std::ranges::count_if(node.classes,
                                   [](const auto& found) { return found.offset != 0; });
  }
  return count;
}

bool TargetCheck::meet(std::size_t offset, std::uint64_t number) {
  type_ = node_.class_at(offset);
  if (met_ == node_.targets.size() || node_.targets[met_].offset != offset) {
    return type_ != nullptr;
  }
  return node_.targets[met_++].number == number;
}

std::vector<ReusableNode> find_reusable_nodes(const VerifiedEnvelope& envelope) {
  Walk walk(envelope);
  if (!walk.run()) return {};
  return walk.known();
}

}  // namespace waybill::envelope
