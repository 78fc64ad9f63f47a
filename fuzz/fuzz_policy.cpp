// Arbitrary text as a policy, and arbitrary bytes as an envelope for it. A policy that
// is written as text reads the same; a verdict agrees with its rule; a call that is
// allowed implies look-up and import; an added last rule allows no less, a first rule
// that denies allows no more; each policy accepts all that the policy without rules
// accepts.
//
// Input: the policy up to the first NUL, then the envelope.

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "require.h"
#include "waybill/policy.h"

namespace {

using waybill::BytesView;
using waybill::Policy;
using waybill::Request;
using waybill::Verdict;
using waybill::VerifiedEnvelope;
using waybill::fuzz::require;

constexpr Request kRequests[] = {Request::kImport, Request::kLookup, Request::kCall,
                                 Request::kCode};
constexpr std::string_view kModules[] = {"", "json", "json.decoder", "jsonx", "a.b"};
constexpr std::string_view kNames[] = {"", "loads", "JSONDecoder.decode", "b"};

template <typename Function>
void for_each_question(Function function) {
  for (const Request request : kRequests) {
    for (const std::string_view module : kModules) {
      for (const std::string_view name : kNames) function(request, module, name);
    }
  }
}

std::string text_of(const Policy& policy) {
  std::string text;
  for (const waybill::Rule& rule : policy.rules()) text += rule.text() + "\n";
  return text;
}

Policy policy_of(const std::string& text) {
  auto policy = Policy::from_text(text);
  require(policy.has_value());
  return *std::move(policy);
}

void check_verdicts(const Policy& policy) {
  const std::string text = text_of(policy);
  const Policy again = policy_of(text);
  require(text_of(again) == text);
  const Policy narrower = policy_of("deny import json\ndeny code\n" + text);
  const Policy wider = policy_of(text + "allow lookup a.*\nallow code\n");
  for_each_question(
      [&](Request request, std::string_view module, std::string_view name) {
        const Verdict verdict = policy.ask(request, module, name);
        require(verdict.rule == nullptr ? !verdict.allows
                                        : verdict.allows == verdict.rule->allows);
        require(verdict.allows == again.ask(request, module, name).allows);
        require(verdict.allows || !narrower.ask(request, module, name).allows);
        require(!verdict.allows || wider.ask(request, module, name).allows);
        require(!verdict.allows || !policy.is_data_only());
        require(!waybill::refusal(request, module, name, verdict).empty());
      });
  for (const waybill::Rule& rule : policy.rules()) {
    for_each_question(
        [&](Request request, std::string_view module, std::string_view name) {
          if (!rule.allows || !rule.applies_to(Request::kCall, module, name)) return;
          require(request == Request::kCode || rule.applies_to(request, module, name));
        });
  }
}

void check_envelope(const VerifiedEnvelope& envelope, const Policy& policy) {
  const std::string text = text_of(policy);
  const auto verdict = waybill::check_policy(envelope, policy);
  require(verdict || verdict.error().code == waybill::ErrorCode::kRefused);
  require(verdict || verdict.error().offset < envelope->size);
  const bool is_data = waybill::check_policy(envelope, Policy()).has_value();
  require(!is_data || verdict);
  require(is_data || !policy.is_data_only() || !verdict);
  const Policy all = policy_of("allow call *\nallow code\n");
  const auto allowed = waybill::check_policy(envelope, all);
  // A wildcard allows no special attributes, such as `tuple.__new__`.
  require(allowed || allowed.error().detail.find("__") != std::string::npos);
  const Policy narrower = policy_of("deny import json\ndeny code\n" + text);
  require(verdict || !waybill::check_policy(envelope, narrower));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::uint8_t* end = std::find(data, data + size, std::uint8_t{0});
  const std::string_view text(reinterpret_cast<const char*>(data),
                              static_cast<std::size_t>(end - data));
  const auto policy = Policy::from_text(text);
  if (!policy) {
    require(policy.error().code == waybill::ErrorCode::kMalformed);
    require(policy.error().offset < std::max<std::size_t>(text.size(), 1));
  } else {
    check_verdicts(*policy);
  }
  if (end == data + size) return 0;
  const auto envelope = waybill::open(BytesView(end + 1, data + size));
  if (!envelope) return 0;
  const auto verified = waybill::verify(*envelope);
  if (verified) check_envelope(*verified, policy ? *policy : Policy());
  return 0;
}
