#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "explain/text_table.h"
#include "waybill/explanation.h"

namespace waybill {
namespace {

constexpr std::uint64_t kMega = 1'000'000;

ExplainedPart part(std::size_t parent, std::string step, std::string type,
                   std::uint64_t bytes, std::string detail = "") {
  ExplainedPart made;
  made.parent = parent;
  made.step = std::move(step);
  made.type = std::move(type);
  made.detail = std::move(detail);
  made.bytes = made.own = bytes;
  return made;
}

ExplainedPart global(std::size_t parent, std::string name, std::string type,
                     std::uint64_t bytes, std::string detail = "") {
  ExplainedPart made = part(parent, ".__globals__['" + name + "']", std::move(type),
                            bytes, std::move(detail));
  made.variable = std::move(name);
  return made;
}

Explanation of(std::vector<ExplainedPart> parts) {
  Explanation made;
  made.total = parts[0].bytes;
  made.parts = std::move(parts);
  return made;
}

// A task with a model, whose array is nearly all of it, a dict and a client.
Explanation task() {
  Explanation made = of({part(0, "task", "function", 65'100'000),
                         global(0, "model", "Model", 64 * kMega),
                         part(1, ".w", "numpy.ndarray", 63'900'000, "2000x4000"),
                         part(2, "<argument 0>", "memoryview", 63'899'000),
                         global(0, "LOOKUP", "dict", 1'100'000, "of 100000")});
  made.parts[2].place = {"model.w", "Job.run", "/home/ada/job.py", 28};
  made.parts[3].evaluates = false;
  made.parts[4].place = {"LOOKUP", "score", "/home/ada/job.py", 25};
  Blocker blocker;
  blocker.short_path = "svc.clients['prod'][0].conn";
  blocker.type = "sqlite3.Connection";
  blocker.place = {"svc", "helper", "/home/ada/job.py", 23};
  blocker.path_count = 3;
  blocker.remedy = "open it inside of the task";
  made.blockers = {blocker};
  made.imports = {{{"numpy", ImportTime::kLoad, "", "", "", 0}, false},
                  {{"pandas", ImportTime::kLoad, "", "", "", 0}, true},
                  {{"scipy", ImportTime::kCall, "", "", "", 0}, false}};
  return made;
}

TEST(ExplanationText, IsOnePage) {
  EXPECT_EQ(explanation_text(task()),
            "task   65.1 MB in 1 payload; 1 thing cannot travel\n"
            " 63.9 MB  98%  model.w (ndarray 2000x4000)  <- Job.run  job.py:28\n"
            "  1.1 MB   2%  LOOKUP (dict of 100000)      <- score    job.py:25\n"
            " x svc.clients['prod'][0].conn (sqlite3.Connection)  <- svc in helper  "
            "job.py:23\n"
            "      and by 2 other paths\n"
            "      open it inside of the task\n"
            "needs: numpy, pandas [missing] (load); scipy (call)\n");
}

TEST(ExplanationText, LastLineTellsOfSource) {
  Explanation explanation = of({part(0, "task", "function", 1000)});
  explanation.source = {1200, 3, {}};
  const std::string all = explanation_text(explanation);
  explanation.source->without = {{"", "C.f\x1b", "/home/ada/job.py", 7},
                                 {"", "g", "", 0}};

  EXPECT_TRUE(all.ends_with("source: 3 functions, 1.2 kB\n")) << all;
  EXPECT_TRUE(explanation_text(explanation)
                  .ends_with("source: 3 functions, 1.2 kB; 2 without load on this "
                             "version of Python alone:\n       C.f\\x1b (job.py:7), "
                             "g\n"))
      << explanation_text(explanation);
  EXPECT_TRUE(explanation_text(explanation, {.top = 1}).ends_with(" and 1 more\n"));
}

TEST(ExplanationText, CodeOfABlockerStandsBelowWhereItDoesNotFit) {
  Explanation explanation = task();
  explanation.blockers[0].place.function = "a_helper_with_a_long_name";

  const std::string text = explanation_text(explanation);

  EXPECT_NE(text.find(" x svc.clients['prod'][0].conn (sqlite3.Connection)\n"
                      "      <- svc in a_helper_with_a_long_name  job.py:23\n"),
            std::string::npos)
      << text;
}

TEST(ExplanationText, RemedyThatIsLongGoesOnBelow) {
  Explanation explanation = task();
  explanation.blockers[0].remedy =
      "replace={types.CoroutineType: \"drop\"}, or make it inside of the task, where "
      "it is awaited";

  const std::string text = explanation_text(explanation);

  EXPECT_NE(
      text.find("      replace={types.CoroutineType: \"drop\"}, or make it inside "
                "of the task,\n"
                "      where it is awaited\n"),
      std::string::npos)
      << text;
}

TEST(ExplanationText, PathsAreCutBeforeWhatTheyLeadTo) {
  Explanation explanation = task();
  explanation.parts[2].step = "." + std::string(100, 'w');

  const std::string text = explanation_text(explanation);

  EXPECT_NE(text.find("  model.w…w"), std::string::npos) << text;
  EXPECT_NE(text.find("w (ndarray 2000x4000)"), std::string::npos) << text;
}

TEST(ExplanationText, NamesTheVariableBehindWhatHasNoExpression) {
  Explanation explanation =
      of({part(0, "obj", "dict", 1000), part(0, "['step']", "dask.Task", 990),
          part(1, "<argument 0>", "function", 980),
          part(2, ".__globals__['table']", "ndarray", 970)});
  explanation.parts[2].evaluates = false;
  explanation.parts[3].variable = "table";

  EXPECT_NE(explanation_text(explanation).find("  table (ndarray)"), std::string::npos);
  explanation.parts[3].variable.clear();
  EXPECT_NE(explanation_text(explanation).find("  obj['step'] (Task)"),
            std::string::npos);
}

TEST(ExplanationText, OfASmallPayloadIsOneLineOfParts) {
  EXPECT_EQ(explanation_text(of({part(0, "f", "function", 300)})),
            "f   300 B in 1 payload; all of it travels\n"
            "   300 B 100%  f (function)\n");
}

TEST(ExplanationText, OfNothingHasNoParts) {
  EXPECT_EQ(explanation_text(Explanation()),
            "   0 B in 1 payload; all of it travels\n");
}

TEST(ExplanationText, EscapesControlCharacters) {
  Explanation explanation = of({part(0, "f\x1b[2J", "ty\rpe", 300)});
  explanation.parts[0].place = {"x\ny", "\x07", "a\nb.py", 1};
  Blocker blocker;
  blocker.short_path = blocker.type = blocker.remedy = "\x1b\n";
  explanation.blockers = {blocker};
  explanation.imports = {{{"mo\ndule", ImportTime::kLoad, "", "", "", 0}, false}};

  const std::string text = explanation_text(explanation);

  EXPECT_EQ(std::ranges::count(text, '\n'), 5);
  for (const char control : {'\x1b', '\r', '\x07'}) {
    EXPECT_EQ(text.find(control), std::string::npos);
  }
}

TEST(ExplanationText, LinesEndWhereTheyShould) {
  Explanation explanation = task();
  for (ExplainedPart& each : explanation.parts) {
    each.step += "." + std::string(100, 'x');
    each.place.function = std::string(50, 'y');
  }
  for (int i = 0; i < 9; ++i) explanation.imports.push_back(explanation.imports[0]);
  explanation.blockers[0].remedy.clear();

  for (const std::size_t columns : {60u, 80u, 120u}) {
    const std::string text = explanation_text(explanation, {.columns = columns});
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = text.find('\n', at);
      EXPECT_LE(envelope::width_of(text.substr(at, end - at)), columns) << text;
      at = end + 1;
    }
  }
}

TEST(ExplanationText, ShowsTheTopOnly) {
  std::vector<ExplainedPart> parts{part(0, "f", "function", 1000)};
  for (int i = 0; i < 20; ++i)
    parts.push_back(global(0, "g" + std::to_string(i), "list", 50));

  const std::string text = explanation_text(of(parts), {.top = 3});

  EXPECT_EQ(std::ranges::count(text, '\n'), 4);
}

TEST(ExplanationText, DictOfManySmallPartsStaysADict) {
  std::vector<ExplainedPart> parts{part(0, "f", "function", 1000),
                                   global(0, "rows", "dict", 1000, "of 20")};
  for (int i = 0; i < 20; ++i)
    parts.push_back(part(1, "[" + std::to_string(i) + "]", "list", 50));

  const std::string text = explanation_text(of(parts));

  EXPECT_NE(text.find("rows (dict of 20)"), std::string::npos) << text;
  EXPECT_EQ(text.find("rows[0]"), std::string::npos) << text;
}

TEST(ExplanationText, HasColoursWhereTheyAreAskedFor) {
  EXPECT_EQ(explanation_text(task()).find('\x1b'), std::string::npos);
  EXPECT_NE(explanation_text(task(), {.colours = true}).find('\x1b'),
            std::string::npos);
}

TEST(ExplanationText, SizesHaveDecimalUnits) {
  EXPECT_EQ(size_text(0), "0 B");
  EXPECT_EQ(size_text(999), "999 B");
  EXPECT_EQ(size_text(1000), "1.0 kB");
  EXPECT_EQ(size_text(999'960), "1.0 MB");
  EXPECT_EQ(size_text(65'123'456), "65.1 MB");
  EXPECT_EQ(size_text(5'000'000'000'000), "5.0 TB");
  EXPECT_EQ(size_text(~0ULL), "18.4 EB");
}

}  // namespace
}  // namespace waybill
