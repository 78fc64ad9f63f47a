// Rules, their text, and what they say to envelopes.

#include "waybill/policy.h"

#include <gtest/gtest.h>

#include "base/fails.h"
#include "format/samples.h"
#include "format/shapes.h"

namespace waybill {
namespace {

using namespace samples;

Policy parsed_policy(std::string_view text) {
  auto policy = Policy::from_text(text);
  EXPECT_TRUE(policy) << text;
  return policy.value_or(Policy());
}

bool allows(const Policy& policy, Request request, std::string_view module,
            std::string_view name = {}) {
  return policy.ask(request, module, name).allows;
}

std::string told(const Policy& policy, const Bytes& bytes) {
  const auto opened = open(bytes);
  const auto envelope = opened.and_then([](auto& each) { return verify(each); });
  if (!envelope) return "unsound";
  const auto allowed = check_policy(*envelope, policy);
  return allowed ? "allowed" : to_string(allowed.error());
}

// [collections:OrderedDict, a call of it, and a call of what the first one means]
void fill_with_calls(Draft& draft) {
  draft.manifest.imports = {
      {"collections", ImportTime::kLoad, "collections.OrderedDict", "", "", 0}};
  put(draft.payload, {array(2), node(NodeTag::kObject, 5), draft.here(),
                      global("OrderedDict", 0), array(0), object_end(),
                      node(NodeTag::kObject, 5), reference(0), array(0), object_end()});
}

TEST(Policy, WithoutRulesAllowsNothing) {
  const Policy policy;
  for (const Request request :
       {Request::kImport, Request::kLookup, Request::kCall, Request::kCode}) {
    EXPECT_FALSE(allows(policy, request, "json", "dumps"));
    EXPECT_EQ(policy.ask(request, "json", "dumps").rule, nullptr);
  }
  EXPECT_TRUE(policy.is_data_only());
}

TEST(Policy, RuleThatAllowsACallAllowsWhatThatTakes) {
  const Policy policy = parsed_policy("allow call json:dumps");
  EXPECT_TRUE(allows(policy, Request::kCall, "json", "dumps"));
  EXPECT_TRUE(allows(policy, Request::kLookup, "json", "dumps"));
  EXPECT_TRUE(allows(policy, Request::kImport, "json"));
  EXPECT_FALSE(allows(policy, Request::kCall, "json", "loads"));
  EXPECT_FALSE(allows(policy, Request::kCall, "json", "dumps.x"));
  EXPECT_FALSE(allows(policy, Request::kImport, "json.decoder"));
  EXPECT_FALSE(allows(policy, Request::kCode, "", ""));
}

TEST(Policy, RuleThatAllowsALookupAllowsNoCall) {
  const Policy policy = parsed_policy("allow lookup json");
  EXPECT_TRUE(allows(policy, Request::kLookup, "json", "any"));
  EXPECT_FALSE(allows(policy, Request::kCall, "json", "any"));
}

TEST(Policy, RuleThatDeniesAnImportDeniesAllThatFollows) {
  const Policy policy = parsed_policy("deny import os.*\nallow call *");
  EXPECT_FALSE(allows(policy, Request::kImport, "os"));
  EXPECT_FALSE(allows(policy, Request::kCall, "os", "system"));
  EXPECT_FALSE(allows(policy, Request::kLookup, "os.path", "join"));
  EXPECT_TRUE(allows(policy, Request::kCall, "ossuary", "system"));
}

TEST(Policy, RuleThatDeniesACallDeniesNoLookup) {
  const Policy policy = parsed_policy("deny call builtins:eval\nallow call *");
  EXPECT_TRUE(allows(policy, Request::kLookup, "builtins", "eval"));
  EXPECT_FALSE(allows(policy, Request::kCall, "builtins", "eval"));
}

TEST(Policy, FirstRuleWithAnAnswerDecides) {
  const Policy policy =
      parsed_policy("allow import a.b\ndeny import a.*\nallow import *");
  EXPECT_TRUE(allows(policy, Request::kImport, "a.b"));
  EXPECT_FALSE(allows(policy, Request::kImport, "a.c"));
  EXPECT_EQ(policy.ask(Request::kImport, "a.c", "").rule, &policy.rules()[1]);
  EXPECT_TRUE(allows(policy, Request::kImport, "d"));
}

TEST(Policy, CodeIsDecidedByRulesAboutCodeAlone) {
  EXPECT_FALSE(allows(parsed_policy("allow call *"), Request::kCode, ""));
  EXPECT_TRUE(allows(parsed_policy("deny import *\nallow code"), Request::kCode, ""));
}

TEST(Policy, WhatHasNoNameIsMatchedByAStarAlone) {
  EXPECT_TRUE(allows(parsed_policy("allow call *"), Request::kCall, "", ""));
  EXPECT_FALSE(allows(parsed_policy("allow call json.*"), Request::kCall, "", ""));
  EXPECT_FALSE(allows(parsed_policy("allow call *:dumps"), Request::kCall, "", ""));
}

TEST(Policy, TextOfRulesReadsAsTheSameRules) {
  constexpr std::string_view kRules[] = {"allow import numpy.*",
                                         "deny import *",
                                         "allow lookup json:*",
                                         "allow call *:dumps.*",
                                         "allow call collections:Counter",
                                         "allow code",
                                         "deny code"};
  for (const std::string_view text : kRules) {
    const Policy policy = parsed_policy(text);
    ASSERT_EQ(policy.rules().size(), 1u);
    const Policy again = parsed_policy(policy.rules()[0].text());
    EXPECT_EQ(again.rules()[0].text(), policy.rules()[0].text());
    EXPECT_EQ(again.rules()[0].module, policy.rules()[0].module);
    EXPECT_EQ(again.rules()[0].name, policy.rules()[0].name);
  }
}

TEST(Policy, CommentsAndBlankLinesAreNoRules) {
  const Policy policy = parsed_policy("\n  # nothing\n\tallow code # all\r\n\n");
  ASSERT_EQ(policy.rules().size(), 1u);
  EXPECT_EQ(policy.rules()[0].text(), "allow code");
}

TEST(Policy, TextThatIsNoRuleIsRefusedWithItsByte) {
  constexpr std::string_view kWrong[] = {"permit code",      "allow",
                                         "allow code json",  "allow import",
                                         "allow import a:b", "allow call a:",
                                         "allow call :b",    "allow call a*",
                                         "allow call a.*.b", "allow call a b",
                                         "allow eat json",   "allow call a:b:c",
                                         "allow import .*",  "Allow import json"};
  for (const std::string_view text : kWrong) {
    EXPECT_THAT(Policy::from_text("allow code\n" + std::string(text)),
                Fails(ErrorCode::kMalformed, 11u, testing::HasSubstr(text)))
        << text;
  }
}

TEST(Policy, SecretsGivenByMistakeAreNotQuoted) {
  const std::string secret(43, 'S');
  const std::string short_key = "waybill-mac:short";
  for (const std::string& text :
       {"waybill-ed25519-private:" + secret, short_key, "key " + secret, secret}) {
    const auto policy = Policy::from_text(text);

    ASSERT_FALSE(policy) << text;
    EXPECT_EQ(policy.error().detail.find(secret), std::string::npos) << text;
    EXPECT_EQ(policy.error().detail.find("short"), std::string::npos) << text;
  }
}

TEST(Policy, DataPassesWithoutARule) {
  EXPECT_EQ(told(Policy(), buffers_envelope()), "allowed");
  EXPECT_EQ(told(Policy(), data_envelope()), "allowed");
}

TEST(Policy, EveryNodeThatIsNotDataAsksForSomething) {
  for (const envelope::Shape& shape : envelope::kShapes) {
    const bool is_data = shape.tag <= NodeTag::kRange || shape.tag == NodeTag::kStored;
    const bool is_handed_out = shape.tag == NodeTag::kPersistent ||
                               shape.tag == NodeTag::kBuffer ||
                               shape.tag == NodeTag::kStreamReference;
    if (shape.tag == NodeTag::kDefinitions) continue;  // What is in it asks.
    EXPECT_EQ(shape.request.has_value(), !is_data && !is_handed_out) << shape.name;
  }
}

TEST(Policy, RefusalNamesWhatWasAskedAndTheRule) {
  const Policy policy = parsed_policy("deny call os");

  const Verdict verdict = policy.ask(Request::kCall, "os", "system");

  EXPECT_EQ(refusal(Request::kCall, "os", "system", verdict),
            "call of os:system, which the policy denies: deny call os");
}

TEST(Policy, ImportIsRefusedWithItsReason) {
  EXPECT_EQ(told(parsed_policy("deny import json\nallow call *\nallow code"),
                 function_envelope()),
            "refused at byte 0: import of json, which the policy denies: deny import "
            "json (for json.dumps in f)");
}

TEST(Policy, ImportOfABodyIsAskedAboutToo) {
  EXPECT_EQ(told(parsed_policy("deny import xml.*\nallow call *\nallow code"),
                 function_envelope())
                .substr(0, 40),
            "refused at byte 0: import of xml.dom, wh");
}

TEST(Policy, CodeIsRefusedWhereItStands) {
  const std::string text = told(parsed_policy("allow call *"), function_envelope());
  EXPECT_NE(text.find("code by value, which no rule"), std::string::npos);
}

TEST(Policy, CallIsAskedAboutByName) {
  Draft draft;
  fill_with_calls(draft);
  const Bytes bytes = draft.sealed();
  EXPECT_EQ(told(parsed_policy("allow call collections:OrderedDict"), bytes),
            "allowed");
  EXPECT_NE(told(parsed_policy("allow lookup collections"), bytes)
                .find("call of collections:OrderedDict, which no rule"),
            std::string::npos);
}

TEST(Policy, CallByReferenceIsAskedAboutByTheSameName) {
  Draft draft;
  fill_with_calls(draft);
  const Bytes bytes = draft.sealed();
  const auto envelope = verify(*open(bytes));
  // Only the second call is left to be denied: the first one is a lookup by now.
  const Policy policy =
      parsed_policy("allow lookup collections\ndeny call collections:OrderedDict");
  const auto verdict = check_policy(*envelope, policy);
  ASSERT_FALSE(verdict);
  EXPECT_NE(verdict.error().detail.find("OrderedDict"), std::string::npos);
}

TEST(Policy, CallOfWhatACallGaveHasNoName) {
  Draft draft;
  const auto write_call = [&](const auto& write_callable) {
    draft.payload.node(NodeTag::kObject, 5);
    write_callable();
    put(draft.payload, {array(0), object_end()});
  };
  write_call([&] { write_call([&] { put(draft.payload, {global("dict")}); }); });
  const Bytes bytes = draft.sealed();
  EXPECT_EQ(told(parsed_policy("allow call *"), bytes), "allowed");
  EXPECT_NE(told(parsed_policy("allow call builtins:dict"), bytes)
                .find("call of an unnamed object"),
            std::string::npos);
}

TEST(Policy, SetterOfAStateIsACallToo) {
  Draft draft({node(NodeTag::kObject, 6), global("dict"), array(0), map(0), array(0),
               map(0), global("setattr")});
  const Bytes bytes = draft.sealed();
  EXPECT_EQ(told(parsed_policy("allow call builtins"), bytes), "allowed");
  EXPECT_NE(
      told(parsed_policy("allow call builtins:dict\nallow lookup builtins"), bytes)
          .find("call of builtins:setattr"),
      std::string::npos);
}

TEST(Policy, LazyImportOfANameIsALookup) {
  const auto lazy = [](bool has_name) {
    Draft draft({node(NodeTag::kLazyImport, 2), "os"});
    if (has_name) {
      draft.payload.text("system");
    } else {
      draft.payload.nil();
    }
    return draft.sealed();
  };
  EXPECT_EQ(told(parsed_policy("allow import os"), lazy(false)), "allowed");
  EXPECT_EQ(told(parsed_policy("allow lookup os:system"), lazy(true)), "allowed");
  EXPECT_NE(
      told(parsed_policy("allow import os"), lazy(true)).find("lookup of os:system"),
      std::string::npos);
}

TEST(Policy, DenialByNameBesideALaterWildcardIsInDoubt) {
  const std::vector<std::string> warnings =
      parsed_policy("deny call os:getpid\nallow call *").warnings();
  ASSERT_EQ(warnings.size(), 1U);
  EXPECT_NE(warnings[0].find("`deny call os:getpid`"), std::string::npos);
  EXPECT_NE(warnings[0].find("`allow call *`"), std::string::npos);
  EXPECT_TRUE(parsed_policy("allow call *\ndeny call os").warnings().empty());
  EXPECT_TRUE(parsed_policy("deny call os\nallow call json.*").warnings().empty());
  EXPECT_TRUE(parsed_policy("deny import a.b\nallow import a.*").warnings().empty());
}

TEST(Policy, StandardTypesIsAPolicy) {
  const Policy policy = parsed_policy(standard_types_policy());
  EXPECT_TRUE(allows(policy, Request::kCall, "datetime", "datetime"));
  EXPECT_TRUE(allows(policy, Request::kCall, "pathlib._local", "PosixPath"));
  EXPECT_FALSE(allows(policy, Request::kCall, "builtins", "int"));
  EXPECT_FALSE(allows(policy, Request::kCode, ""));
  EXPECT_FALSE(policy.is_data_only());
}

}  // namespace
}  // namespace waybill
