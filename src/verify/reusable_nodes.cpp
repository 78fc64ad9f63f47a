// One walk notes where nodes, references and uses of code stand; then nodes are dropped
// until none of those that are left has to do with anything but the others.
// Tested by tests/verify/verified_prefix_test.cpp.

#include "verify/reusable_nodes.h"

#include <algorithm>

#include "wire/reader.h"

namespace waybill::envelope {
namespace {

using wire::ExtType;
using wire::NodeTag;
using wire::Reader;
using wire::Token;
using wire::TokenType;

// Whether making it runs code of others, who get what is in it.
bool is_call(NodeTag tag) {
  return tag == NodeTag::kObject || tag == NodeTag::kNewObject;
}

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
      : envelope_(envelope), reader_(envelope.payload.bytes) {}

  bool run() {
    stack_.push_back({1});
    while (!stack_.empty()) {
      if (stack_.back().left == 0) {
        close();
      } else if (!value()) {
        return false;
      }
    }
    return true;
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
  struct Open {
    std::uint64_t left;
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

  bool value() {
    const Open around = stack_.back();
    --stack_.back().left;
    Token token;
    if (!reader_.next(token)) return false;
    switch (token.type) {
      case TokenType::kInteger:
        // The first value of a function or code node.
        if (is_code_index_) {
          uses_.push_back({token.offset, static_cast<std::uint32_t>(token.integer)});
        }
        break;
      case TokenType::kExtension: {
        Reference reference{token.offset, 0, around.is_in_call};
        if (token.ext_type == static_cast<std::int8_t>(ExtType::kReference) &&
            wire::index_of(token.bytes, reference.number)) {
          references_.push_back(reference);
        }
        break;
      }
      case TokenType::kArray:
      case TokenType::kMap:
        open(token);
        return true;
      default:
        break;
    }
    is_code_index_ = false;
    return true;
  }

  // Whether what is next is a function's, and not that of a class inside of it.
  bool is_in_function() const {
    const auto around = std::find_if(stack_.rbegin(), stack_.rend(), [](const Open& o) {
      return o.candidate != kNone;
    });
    return around != stack_.rend() && around->is_function;
  }

  void open(const Token& token) {
    const bool is_map = token.type == TokenType::kMap;
    std::uint8_t number = 0;
    is_code_index_ = false;
    Open frame{is_map ? 2 * token.count : token.count};
    frame.is_in_call = stack_.back().is_in_call;
    if (is_map || token.count == 0 || !reader_.take_node_tag(number)) {
      stack_.push_back(frame);
      return;
    }
    const auto tag = static_cast<NodeTag>(number);
    if (tag == NodeTag::kNamespace) namespaces_.push_back(token.offset);
    --frame.left;
    frame.is_function = tag == NodeTag::kFunction;
    if (!is_of_functions(tag)) {
      for (const Open& around : stack_) {
        if (around.is_function) candidates_[around.candidate].is_fit = false;
      }
    }
    if (tag == NodeTag::kFunction || tag == NodeTag::kClass) {
      frame.candidate = candidates_.size();
      candidates_.push_back({tag, token.offset});
      candidates_.back().is_fit = tag == NodeTag::kClass || !frame.is_in_call;
    }
    frame.is_in_call = frame.is_in_call || is_call(tag);
    bool is_fit = !means_more(tag);
    if (tag == NodeTag::kClass) {
      Reader ahead = reader_;
      BytesView id;
      // A class without an id is another each time.
      is_fit = ahead.read_binary(id, {});
      classes_.push_back({token.offset, {id.begin(), id.end()}});
      candidates_.back().is_fit = is_fit;
    }
    // What a call makes may differ each time, and a function that a class has keeps it.
    is_fit = is_fit && !(is_call(tag) && is_in_function());
    if (!is_fit) {
      for (const Open& around : stack_) {
        if (around.candidate != kNone) candidates_[around.candidate].is_fit = false;
      }
    }
    is_code_index_ = tag == NodeTag::kFunction || tag == NodeTag::kCode;
    stack_.push_back(frame);
  }

  void close() {
    const std::size_t candidate = stack_.back().candidate;
    if (candidate != kNone) candidates_[candidate].end = reader_.offset();
    stack_.pop_back();
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
  Reader reader_;
  std::vector<Open> stack_;
  bool is_code_index_ = false;  // Of the value that is next.
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
