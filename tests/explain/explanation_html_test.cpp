#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "base/parsed_json.h"
#include "explain/page_text.h"
#include "explain/sample_explanations.h"
#include "waybill/explanation.h"

namespace waybill {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kHostile = "</script><script>alert(1)</script><img src=x>&'\"";

std::size_t count_of(std::string_view text, std::string_view word) {
  std::size_t count = 0;
  for (std::size_t at = text.find(word); at != std::string_view::npos;
       at = text.find(word, at + 1)) {
    ++count;
  }
  return count;
}

// The text after `start`, up to `end`.
std::string between(const std::string& text, std::string_view start,
                    std::string_view end) {
  const std::size_t from = text.find(start);
  if (from == std::string::npos) return "";
  const std::size_t begin = from + start.size();
  return text.substr(begin, text.find(end, begin) - begin);
}

ParsedJson data_of(const std::string& page) {
  return ParsedJson(between(page, "id=\"data\">", "</script>"));
}

// Hostile wherever a payload or a person brings a text.
Explanation hostile() {
  Explanation made = testing::service();
  for (ExplainedPart& part : made.parts) {
    part.step += kHostile;
    part.variable = part.type = part.detail = kHostile;
    part.place = {kHostile, kHostile, kHostile, 1};
  }
  testing::add_blocker(made, kHostile);
  Blocker& blocker = made.blockers[0];
  blocker.type = blocker.reason = blocker.remedy = kHostile;
  blocker.place = made.parts[0].place;
  ExplainedImport& import = made.imports.emplace_back();
  import.record.module = import.record.chain = kHostile;
  import.record.function = import.record.file = kHostile;
  return made;
}

TEST(ExplanationHtml, NamesOfAHostilePayloadAddNoElement) {
  const std::string tame = explanation_html(testing::service(), "title");

  const std::string page = explanation_html(hostile(), kHostile);

  EXPECT_EQ(count_of(page, "<script"), count_of(tame, "<script"));
  EXPECT_EQ(count_of(page, "</script"), count_of(tame, "</script"));
  EXPECT_EQ(count_of(page, "<img"), 0U);
}

TEST(ExplanationHtml, DataHasNoCharacterThatHtmlKnows) {
  Explanation explanation = hostile();
  explanation.parts[0].step += "\u2028\u2029";

  const std::string data =
      between(explanation_html(explanation, ""), "id=\"data\">", "</script>");

  EXPECT_EQ(data.find_first_of("<>&"), std::string::npos);
  EXPECT_THAT(data, AllOf(Not(HasSubstr("\u2028")), Not(HasSubstr("\u2029"))));
  EXPECT_THAT(ParsedJson(data)["step"][0].text(), HasSubstr(kHostile));
}

TEST(ExplanationHtml, EscapesItsTitle) {
  const std::string page = explanation_html(Explanation(), "<b>&\"@@data@@");

  EXPECT_THAT(page, HasSubstr("<title>&lt;b&gt;&amp;&quot;@@data@@</title>"));
  EXPECT_THAT(page, HasSubstr("<h1>&lt;b&gt;&amp;&quot;@@data@@</h1>"));
}

TEST(ExplanationHtml, ShowsCharactersThatWouldNotBeSeen) {
  EXPECT_EQ(html_text("a\u202e\x1b\nb"), "a\\u202e\\x1b\nb");
  const envelope::JsonTree tree;
  tree.root() = visible("a\u202e\nb");
  EXPECT_EQ(ParsedJson(script_json(tree.root())), "a\\u202e\nb");
}

TEST(ExplanationHtml, NamesNothingOutside) {
  const std::string page = explanation_html(testing::service(), "title");

  for (const char* word : {"http:", "https:", "//www", "src=", "url(", "@import",
                           "fetch(", "XMLHttpRequest"}) {
    EXPECT_THAT(page, Not(HasSubstr(word)));
  }
  EXPECT_EQ(count_of(page, "href="), 1U);
  EXPECT_THAT(page, HasSubstr("href=\"data:,\""));
}

TEST(ExplanationHtml, ItsPolicyLetsOnlyItsOwnScriptRun) {
  const std::string page = explanation_html(testing::service(), "title");

  const std::string policy =
      between(page, "Content-Security-Policy\" content=\"", "\"");

  EXPECT_THAT(policy,
              AllOf(HasSubstr("default-src 'none'"), HasSubstr("script-src 'sha256-"),
                    Not(HasSubstr("unsafe"))));
}

TEST(ExplanationHtml, DataHasAColumnForEachField) {
  Explanation explanation = testing::service();
  explanation.parts[1].is_shared = true;
  explanation.parts[2].evaluates = false;

  const ParsedJson data = data_of(explanation_html(explanation, ""));

  EXPECT_EQ(data["parent"], ParsedJson("[0, 0, 1, 2]"));
  EXPECT_EQ(data["bytes"], ParsedJson("[1100, 1000, 900, 600]"));
  EXPECT_EQ(data["flags"], ParsedJson("[0, 1, 2, 0]"));
  EXPECT_EQ(data["texts"][data["variable"][1].number()], "svc");
}

TEST(ExplanationHtml, SaysWhereTheBlockersAre) {
  Explanation explanation = testing::service();
  testing::add_blocker(explanation, "task.__globals__['svc'].clients['prod']");

  const std::string page = explanation_html(explanation, "");

  EXPECT_EQ(data_of(page)["blockers"][0]["part"], 3);
  EXPECT_EQ(data_of(page)["blockers"][0]["isPart"], true);
}

TEST(ExplanationHtml, TablesTellOfBlockersPartsAndImports) {
  Explanation explanation = testing::service();
  testing::add_blocker(explanation, "task.__globals__['svc'].lock");
  explanation.blockers[0].remedy = "del state['lock']\nreturn state";
  explanation.imports.emplace_back().record.module = "shop";
  explanation.imports[0].is_missing = true;

  const std::string tables = page_tables(explanation);

  EXPECT_THAT(tables, HasSubstr("<pre>del state[&#39;lock&#39;]\nreturn state</pre>"));
  EXPECT_THAT(tables, HasSubstr("cannot pickle &#39;_thread.lock&#39; object"));
  EXPECT_THAT(tables, HasSubstr("svc&#39;].clients[&#39;prod&#39;]</code>"));
  EXPECT_THAT(tables, HasSubstr("<code>shop</code>"));
  EXPECT_THAT(tables, HasSubstr(">missing<"));
}

TEST(ExplanationHtml, WhatAPartHoldsWasCapturedWhereThatWas) {
  Explanation explanation = testing::service();
  explanation.parts[1].place = {"svc", "task", "job.py", 7};

  EXPECT_EQ(count_of(page_tables(explanation), "job.py:7"), 2U);
}

TEST(ExplanationHtml, OfNothingHasNoTables) {
  EXPECT_EQ(page_tables(Explanation()), "");
  EXPECT_EQ(data_of(explanation_html(Explanation(), ""))["step"], ParsedJson("[]"));
}

TEST(ExplanationHtml, OfADeepChainIsNotLong) {
  constexpr std::size_t kDepth = 100'000;

  const std::string page = explanation_html(testing::chain(kDepth), "");

  EXPECT_LT(page.size(), kDepth * 60);
}

}  // namespace
}  // namespace waybill
