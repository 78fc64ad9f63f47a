// Checks an envelope that verify() has accepted against a policy. The grammar gives the
// request of each node, and says which of its values are called.
// Tested by tests/trust/policy_test.cpp.

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "format/definitions.h"
#include "format/manifest_codec.h"
#include "format/payload_cursor.h"
#include "waybill/policy.h"
#include "wire/reader.h"

namespace waybill {
namespace {

using envelope::CursorEvent;
using envelope::Part;
using wire::Reader;
using wire::Token;
using wire::TokenType;

// A request, with the names that the policy judges.
struct NamedRequest {
  Request request = Request::kCall;
  std::string_view module, name;
};

class PolicyCheck {
 public:
  PolicyCheck(const Envelope& envelope, const Policy& policy)
      : envelope_(envelope),
        policy_(policy),
        cursor_(Reader(envelope.payload.bytes, kUnlimited, envelope.payload.offset)) {}

  Result<void> run() {
    if (check_manifest() && check_code() && check_payload()) return {};
    return tl::unexpected(cursor_.reader().error());
  }

 private:
  // The reader of the envelope has enforced its limits.
  static constexpr Limits kUnlimited = {.max_values = Limits::kNone,
                                        .max_depth = Limits::kNone};

  // A node with a request to the policy, by its position in the payload. A reference to
  // it makes the same request.
  struct NamedNode {
    std::uint64_t position;
    NamedRequest asked;
  };

  bool ask(const NamedRequest& asked, std::size_t offset, const std::string& why = {}) {
    const Verdict verdict = policy_.ask(asked.request, asked.module, asked.name);
    return verdict.allows ||
           cursor_.reader().fail(
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
    while (cursor_.next()) {
      if (cursor_.event() == CursorEvent::kClose) continue;
      const Part* part = cursor_.part();
      if (part != nullptr && part->is_called && !check_callable()) return false;
      if (cursor_.event() == CursorEvent::kOpen && !check_node()) return false;
    }
    return true;
  }

  // The request of the current node; nothing if it has none.
  std::optional<NamedRequest> request_of_node() {
    const envelope::Shape* shape = cursor_.container().shape;
    if (shape == nullptr || !shape->request) return {};
    Reader ahead = cursor_.reader();
    if (shape->request == Request::kLookup) return global_at(ahead);
    if (shape->request == Request::kImport) return lazy_import_at(ahead);
    return NamedRequest{*shape->request, {}, {}};
  }

  // Checks the request of the current node. Calls are checked at their callable.
  bool check_node() {
    const auto asked = request_of_node();
    if (!asked || asked->request == Request::kCall) return true;
    const std::size_t offset = cursor_.token().offset;
    if (!envelope_.shared.empty()) {
      named_nodes_.push_back({offset - envelope_.payload.offset, *asked});
    }
    return ask(*asked, offset);
  }

  bool check_callable() {
    NamedRequest callable = cursor_.event() == CursorEvent::kOpen
                                ? request_of_node().value_or(NamedRequest())
                                : request_of_reference();
    if (callable.request != Request::kCode) callable.request = Request::kCall;
    return ask(callable, cursor_.token().offset);
  }

  // The request of the node to which the current reference refers; empty names if there
  // is none.
  NamedRequest request_of_reference() const {
    const Token& token = cursor_.token();
    std::uint64_t number = 0;
    if (!envelope::is_reference(envelope_, token, number)) return {};
    const std::uint64_t position = envelope_.shared[number];
    const auto found =
        std::ranges::lower_bound(named_nodes_, position, {}, &NamedNode::position);
    return found == named_nodes_.end() || found->position != position ? NamedRequest()
                                                                      : found->asked;
  }

  // Reads the values of a lazy import node: module, and nil or the name that is taken
  // from it on first use.
  static NamedRequest lazy_import_at(Reader& ahead) {
    NamedRequest asked{Request::kImport, {}, {}};
    Token token;
    if (ahead.next(token)) asked.module = token.text();
    if (ahead.next(token) && token.type != TokenType::kNil) {
      asked.request = Request::kLookup;
      asked.name = token.text();
    }
    return asked;
  }

  // Reads the values of a global node: module or nil, and name.
  NamedRequest global_at(const Reader& ahead) const {
    const auto global = envelope::global_name(ahead, &envelope_.manifest);
    if (!global) return {Request::kLookup, "builtins", {}};
    return {Request::kLookup, global->module, global->name};
  }

  const Envelope& envelope_;
  const Policy& policy_;
  envelope::PayloadCursor<> cursor_;
  std::vector<NamedNode> named_nodes_;  // Sorted by position.
};

}  // namespace

Result<void> check_policy(const VerifiedEnvelope& envelope, const Policy& policy) {
  return PolicyCheck(envelope, policy).run();
}

}  // namespace waybill
