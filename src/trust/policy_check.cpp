// Asks a policy about an envelope. verify() has passed, so the walk needs no rules:
// each node says by its tag what it would do, and where callables stand is known.
// Tested by tests/trust/policy_test.cpp.

#include <algorithm>
#include <string>
#include <vector>

#include "format/shapes.h"
#include "waybill/policy.h"
#include "wire/reader.h"

namespace waybill {
namespace {

using wire::ExtType;
using wire::NodeTag;
using wire::Reader;
using wire::Token;
using wire::TokenType;

struct Asked {
  Request request = Request::kCall;
  std::string_view module, name;
};

class PolicyCheck {
 public:
  PolicyCheck(const Envelope& envelope, const Policy& policy)
      : envelope_(envelope),
        policy_(policy),
        reader_(envelope.payload.bytes, kUnlimited, envelope.payload.offset) {}

  Result<void> run() {
    if (check_manifest() && check_code() && check_payload()) return {};
    return tl::unexpected(reader_.error());
  }

 private:
  // It is known by now to be within what the reader of the envelope allows.
  static constexpr Limits kUnlimited = {.max_values = Limits::kNone,
                                        .max_depth = Limits::kNone};

  // An open container.
  struct Frame {
    std::uint64_t left;
    std::uint64_t count;
    NodeTag tag;  // 0: none.

    // Whether the value that comes next is called.
    bool is_callable_next() const {
      constexpr std::uint64_t kWithSetter = 6;
      if (tag != NodeTag::kObject && tag != NodeTag::kNewObject) return false;
      return left == count ||
             (tag == NodeTag::kObject && count == kWithSetter && left == 1);
    }
  };

  // What stands at a position, counted from the start of the payload, that a reference
  // may mean: only what has a name or comes along.
  struct Known {
    std::uint64_t position;
    Asked asked;
  };

  bool ask(const Asked& asked, std::size_t offset, const std::string& why = {}) {
    const Verdict verdict = policy_.ask(asked.request, asked.module, asked.name);
    return verdict.allows ||
           reader_.fail(
               ErrorCode::kRefused, offset,
               refusal(asked.request, asked.module, asked.name, verdict) + why);
  }

  bool check_manifest() {
    return std::ranges::all_of(
        envelope_.manifest.imports, [&](const ImportRecord& record) {
          std::string why = " (for " + record.chain;
          if (!record.function.empty()) why += " in " + record.function;
          return ask({Request::kImport, record.module, {}}, 0, why + ")");
        });
  }

  bool check_code() {
    return envelope_.code.empty() ||
           ask({Request::kCode, {}, {}}, envelope_.code.front().offset);
  }

  bool check_payload() {
    stack_.push_back({1, 1, NodeTag{}});
    while (!stack_.empty()) {
      if (stack_.back().left == 0) {
        stack_.pop_back();
        continue;
      }
      if (stack_.back().is_callable_next() && !check_callable()) return false;
      --stack_.back().left;
      if (!check_value()) return false;
    }
    return true;
  }

  bool check_value() {
    Token token;
    if (!reader_.next(token)) return false;
    if (token.type == TokenType::kMap) {
      stack_.push_back({token.count * 2, token.count * 2, NodeTag{}});
    } else if (token.type == TokenType::kArray) {
      std::uint8_t tag = 0;
      if (token.count == 0 || !reader_.take_node_tag(tag)) {
        stack_.push_back({token.count, token.count, NodeTag{}});
      } else {
        stack_.push_back({token.count - 1, token.count - 1, static_cast<NodeTag>(tag)});
        return check_node(static_cast<NodeTag>(tag), token.offset);
      }
    }
    return true;
  }

  // What is called is asked about where it stands.
  bool check_node(NodeTag tag, std::size_t offset) {
    const auto request = envelope::request_of(tag);
    if (!request || *request == Request::kCall) return true;
    Reader look = reader_;
    const Asked asked = *request == Request::kLookup   ? global_at(look)
                        : *request == Request::kImport ? lazy_import_at(look)
                                                       : Asked{*request, {}, {}};
    if (!envelope_.shared.empty()) {
      known_.push_back({offset - envelope_.payload.offset, asked});
    }
    return ask(asked, offset);
  }

  bool check_callable() {
    Asked callable = callable_here();
    if (callable.request != Request::kCode) callable.request = Request::kCall;
    return ask(callable, reader_.offset());
  }

  // What stands there; without names where nobody knows them.
  Asked callable_here() {
    Reader look = reader_;
    Token token;
    if (!look.next(token)) return {};
    std::uint8_t tag = 0;
    if (token.type == TokenType::kArray && token.count != 0 &&
        look.take_node_tag(tag)) {
      const auto request = envelope::request_of(static_cast<NodeTag>(tag));
      if (request == Request::kLookup) return global_at(look);
      return request == Request::kCode ? Asked{Request::kCode, {}, {}} : Asked();
    }
    std::uint64_t number = 0;
    if (token.type != TokenType::kExtension ||
        token.ext_type != static_cast<std::int8_t>(ExtType::kReference) ||
        !wire::index_of(token.bytes, number) || number >= envelope_.shared.size()) {
      return {};
    }
    const std::uint64_t position = envelope_.shared[number];
    const auto found = std::ranges::lower_bound(known_, position, {}, &Known::position);
    return found == known_.end() || found->position != position ? Asked()
                                                                : found->asked;
  }

  // What follows the tag of a lazy import: module, and nil or the name that is taken
  // from it once it is used.
  static Asked lazy_import_at(Reader& look) {
    Asked asked{Request::kImport, {}, {}};
    Token token;
    if (look.next(token)) asked.module = token.text();
    if (look.next(token) && token.type != TokenType::kNil) {
      asked.request = Request::kLookup;
      asked.name = token.text();
    }
    return asked;
  }

  // What follows the tag of a global: module or nil, and name.
  Asked global_at(Reader& look) const {
    Asked global{Request::kLookup, "builtins", {}};
    Token token;
    std::uint64_t index = 0;
    if (look.next(token) && token.type == TokenType::kExtension &&
        wire::index_of(token.bytes, index) &&
        index < envelope_.manifest.imports.size()) {
      global.module = envelope_.manifest.imports[index].module;
    }
    // Text with lone surrogates is an extension; either way, its bytes are the name.
    if (look.next(token)) global.name = token.text();
    return global;
  }

  const Envelope& envelope_;
  const Policy& policy_;
  Reader reader_;
  std::vector<Frame> stack_;
  std::vector<Known> known_;  // In the order of the payload: by position.
};

}  // namespace

Result<void> check_policy(const VerifiedEnvelope& envelope, const Policy& policy) {
  return PolicyCheck(envelope, policy).run();
}

}  // namespace waybill
