// Asks a policy about an envelope. verify() has passed, so the grammar tells what each
// node would do, and which of its values are called.
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

struct Asked {
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
  // It is known by now to be within what the reader of the envelope allows.
  static constexpr Limits kUnlimited = {.max_values = Limits::kNone,
                                        .max_depth = Limits::kNone};

  // What stands at a position, counted from the start of the payload, that a reference
  // may mean: only what has a name or comes along.
  struct Known {
    std::uint64_t position;
    Asked asked;
  };

  bool ask(const Asked& asked, std::size_t offset, const std::string& why = {}) {
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

  // What the node at hand asks for; nothing if it asks for nothing.
  std::optional<Asked> asked_by_node() {
    const envelope::Shape* shape = cursor_.container().shape;
    if (shape == nullptr || !shape->request) return {};
    Reader look = cursor_.reader();
    if (shape->request == Request::kLookup) return global_at(look);
    if (shape->request == Request::kImport) return lazy_import_at(look);
    return Asked{*shape->request, {}, {}};
  }

  // What is called is asked about where it stands.
  bool check_node() {
    const auto asked = asked_by_node();
    if (!asked || asked->request == Request::kCall) return true;
    const std::size_t offset = cursor_.token().offset;
    if (!envelope_.shared.empty()) {
      known_.push_back({offset - envelope_.payload.offset, *asked});
    }
    return ask(*asked, offset);
  }

  bool check_callable() {
    Asked callable = cursor_.event() == CursorEvent::kOpen
                         ? asked_by_node().value_or(Asked())
                         : asked_by_reference();
    if (callable.request != Request::kCode) callable.request = Request::kCall;
    return ask(callable, cursor_.token().offset);
  }

  // What the object asked for that the reference at hand means; without names where
  // nobody knows them.
  Asked asked_by_reference() const {
    const Token& token = cursor_.token();
    std::uint64_t number = 0;
    if (!envelope::is_reference(envelope_, token, number)) return {};
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
  Asked global_at(const Reader& look) const {
    const auto global = envelope::global_name(look, &envelope_.manifest);
    if (!global) return {Request::kLookup, "builtins", {}};
    return {Request::kLookup, global->module, global->name};
  }

  const Envelope& envelope_;
  const Policy& policy_;
  envelope::PayloadCursor<> cursor_;
  std::vector<Known> known_;  // In the order of the payload: by position.
};

}  // namespace

Result<void> check_policy(const VerifiedEnvelope& envelope, const Policy& policy) {
  return PolicyCheck(envelope, policy).run();
}

}  // namespace waybill
