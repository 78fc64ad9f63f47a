#include "waybill/report.h"

#include <gtest/gtest.h>

#include "base/parsed_json.h"
#include "format/samples.h"
#include "format/shapes.h"

namespace waybill {
namespace {

using namespace samples;

ParsedJson report_on(const Bytes& bytes, const ReportOptions& options = {}) {
  return ParsedJson(report_json(*open(bytes), options));
}

ParsedJson report_on_payload(const Draft& draft, const ReportOptions& options = {}) {
  const Bytes bytes = draft.sealed();
  return report_on(bytes, options)["payload"];
}

TEST(Report, TellsHeaderAndSections) {
  const Bytes bytes = data_envelope();

  const ParsedJson report = report_on(bytes);

  EXPECT_EQ(report["format_version"], 1);
  EXPECT_EQ(report["python"],
            ParsedJson(R"({"major": 3, "minor": 11, "magic": 3495})"));
  EXPECT_EQ(report["size"], bytes.size());
  EXPECT_EQ(report["signed"], false);
  EXPECT_EQ(report["digest"].text().size(), 16u);
  std::size_t size = 1;  // The head of the array.
  for (const ParsedJson& section : report["sections"].items())
    size += section["size"].number();
  EXPECT_EQ(size, bytes.size());
}

TEST(Report, TellsThatAPayloadIsNotOneValue) {
  for (const Bytes& payload : {Bytes{0x01, 0x02}, Bytes{0x92, 0x01}, Bytes{}}) {
    Draft draft;
    draft.payload.append(payload);
    const Bytes bytes = draft.sealed();

    const ParsedJson report = report_on(bytes);

    EXPECT_TRUE(report["payload"].contains("error")) << payload.size();
    const ParsedJson sections = report["sections"];
    EXPECT_EQ(sections["payload"]["size"], payload.size());
    EXPECT_EQ(sections["signature"]["offset"], bytes.size() - 1);
  }
}

TEST(Report, TellsWhatAPayloadWasMadeWith) {
  Draft draft;
  draft.payload.integer(1);
  draft.manifest.environment = {
      "3.11.7", "cpython", "linux-x86_64", {{"scikit-learn", "1.7.2", {"sklearn"}}}};
  const Bytes bytes = draft.sealed();

  const ParsedJson report = report_on(bytes);
  const std::string text = report_text(*open(bytes));

  EXPECT_EQ(report["environment"],
            ParsedJson(R"({"python": "3.11.7", "implementation": "cpython",
                           "platform": "linux-x86_64", "distributions": [
                               {"name": "scikit-learn", "version": "1.7.2",
                                "modules": ["sklearn"]}]})"));
  EXPECT_NE(text.find("made with Python 3.11.7 (cpython), linux-x86_64"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("scikit-learn 1.7.2  sklearn"), std::string::npos) << text;
  EXPECT_FALSE(report_on(data_envelope()).contains("environment"));
}

TEST(Report, TellsBuffersThatAreStoredBehindTheHead) {
  const Bytes bytes = buffers_envelope();
  const std::size_t start = open(bytes)->buffers_offset;
  const std::string starts[] = {std::to_string(start), std::to_string(start + 64)};

  const ParsedJson report = report_on(bytes);

  EXPECT_EQ(report["size"], bytes.size());
  EXPECT_EQ(report["buffers"],
            ParsedJson(R"([{"kind": "bytes", "offset": )" + starts[0] +
                       R"(, "length": 10, "format": null, "shape": null, "order": "C"},
                       {"kind": "writable", "offset": )" +
                       starts[1] +
                       R"(, "length": 100, "format": "B", "shape": [5, 20],
                       "order": "F"}])"));
  EXPECT_EQ(report["payload"]["outline"]["items"][0]["kind"], "stored");
  std::size_t size = 1;  // The head of the array.
  for (const ParsedJson& section : report["sections"].items()) {
    size += section["size"].number();
  }
  EXPECT_EQ(size, open(bytes)->bytes.size());
  EXPECT_FALSE(report_on(data_envelope()).contains("buffers"));
}

TEST(Report, LaysBuffersOutAsText) {
  const Bytes bytes = buffers_envelope();

  const std::string text = report_text(*open(bytes));

  EXPECT_NE(text.find("buffers (2)"), std::string::npos) << text;
  EXPECT_NE(text.find("5 x 20 x 'B'"), std::string::npos) << text;
  EXPECT_EQ(report_text(*open_head(bytes)), text);
}

TEST(Report, TellsImportsWithTheirReasons) {
  const ParsedJson imports = report_on(function_envelope())["imports"];

  EXPECT_EQ(imports[0], ParsedJson(R"({"module": "json", "time": "load",
                                       "chain": "json.dumps", "function": "f",
                                       "file": "/home/ada/task.py", "line": 3})"));
  EXPECT_EQ(imports[2]["file"], nullptr);
}

TEST(Report, TellsCodeBodies) {
  const ParsedJson code = report_on(function_envelope())["code"];

  EXPECT_EQ(code[0]["qualified_name"], "f.<locals>.inner");
  EXPECT_EQ(code[1]["argument_count"], 1);
  EXPECT_EQ(code[1]["names"], ParsedJson(R"(["json"])"));
  EXPECT_EQ(code[1]["nested"], ParsedJson("[" + code[0]["hash"].dump() + "]"));
}

TEST(Report, OutlinesThePayload) {
  const ParsedJson payload = report_on(function_envelope())["payload"];

  EXPECT_EQ(payload["outline"]["kind"], "list");
  EXPECT_EQ(payload["outline"]["count"], 2);
  const ParsedJson function = payload["outline"]["items"][0];
  EXPECT_EQ(function["kind"], "function");
  EXPECT_EQ(function["name"], "f");
  EXPECT_EQ(function["shared"], 0);
  EXPECT_EQ(payload["outline"]["items"][1],
            ParsedJson(R"({"step": "[1]", "kind": "reference", "index": 0})"));
  EXPECT_EQ(payload["statistics"]["nodes"],
            ParsedJson(R"({"cell": 1, "function": 1, "namespace": 1})"));
  EXPECT_EQ(payload["statistics"]["references"], 1);
  EXPECT_EQ(payload["statistics"]["modules"], 2);
}

TEST(PartName, IsKnownOfEachPartInTheGrammar) {
  for (const envelope::Shape& shape : envelope::kShapes) {
    const bool has_parts = shape.max_count != envelope::kMany;
    const std::size_t count = has_parts ? shape.max_count : 0;
    const auto tag = static_cast<std::uint8_t>(shape.tag);

    for (std::size_t i = 0; i < count; ++i) {
      EXPECT_FALSE(envelope::part_name(tag, i).empty()) << shape.name << i;
    }
    EXPECT_TRUE(envelope::part_name(tag, count).empty()) << shape.name;
  }
}

TEST(FunctionFieldName, IsKnownOfEachFieldInTheGrammar) {
  std::uint64_t field = 0;

  for (; envelope::function_part(field) != nullptr; ++field) {
    EXPECT_FALSE(envelope::function_field_name(field).empty()) << field;
  }

  EXPECT_TRUE(envelope::function_field_name(field).empty());
}

TEST(Report, NamesThePartsOfNodes) {
  const ParsedJson function =
      report_on(function_envelope())["payload"]["outline"]["items"][0];

  EXPECT_EQ(function["items"][1]["field"], "namespace");
  EXPECT_EQ(function["items"][3]["field"], "fields");
  EXPECT_FALSE(function.contains("field"));
}

TEST(Report, TellsSharedValuesWhateverTheOrderOfTheirNumbers) {
  Draft draft;
  draft.payload.array(4);
  const std::size_t first = draft.payload.size();
  draft.payload.array(0);
  draft.shared = {draft.payload.size(), first};
  put(draft.payload, {"twice", reference(0), reference(1)});

  const ParsedJson items = report_on_payload(draft)["outline"]["items"];

  EXPECT_EQ(items[0]["shared"], 1);
  EXPECT_EQ(items[1]["shared"], 0);
  EXPECT_FALSE(items[2].contains("shared"));
}

TEST(Report, ShowsDictsAsPairs) {
  const ParsedJson outline = report_on(data_envelope())["payload"]["outline"];

  EXPECT_EQ(outline["items"], ParsedJson(R"([[{"kind": "str", "value": "answer"},
                             {"step": "['answer']", "kind": "int", "value": 42}]])"));
}

TEST(Report, CountsWhatItDoesNotShow) {
  Draft draft;
  draft.payload.array(100);
  for (int i = 0; i < 100; ++i) draft.payload.array(0);
  ReportOptions options = {.max_items = 3};

  const ParsedJson payload = report_on_payload(draft, options);

  EXPECT_EQ(payload["outline"]["items"].size(), 3u);
  EXPECT_EQ(payload["outline"]["more"], 97);
  EXPECT_EQ(payload["statistics"]["values"], 101);
}

TEST(Report, SurvivesAMillionNestedLists) {
  Draft draft({times(1000000, array(1)), kNil});
  ReportOptions options = {.max_depth = 1000000};

  const ParsedJson payload = report_on_payload(draft, options);

  EXPECT_EQ(payload["statistics"]["depth"], 1000000);
}

TEST(Report, CutsLongTextBetweenCharacters) {
  Draft draft;
  draft.payload.text("ab\xc3\xa4");
  ReportOptions options = {.max_text = 3};

  const ParsedJson outline = report_on_payload(draft, options)["outline"];

  EXPECT_EQ(outline["value"], "ab");
  EXPECT_EQ(outline["size"], 4);
}

constexpr std::size_t kUses = 300;

// One name of a module, of code, of a file and in code, each with many uses.
Bytes repetitive_envelope(const std::string& name) {
  Draft draft;
  draft.manifest.imports = {{name, ImportTime::kLoad, "", "", "", 0}};
  draft.payload.array(kUses);
  draft.source_locations.array(2 * kUses);
  for (std::size_t i = 0; i < kUses; ++i) {
    BodyDraft body;
    body.name = i == 0 ? name : "f" + std::to_string(i);
    if (i == 0) {
      body.names = {name};
      body.instructions.clear();
      for (std::size_t n = 0; n < kUses; ++n) {
        body.instructions.insert(body.instructions.end(), {101, 0});  // LOAD_NAME
      }
    }
    draft.code.push_back(body.body());
    put(draft.payload, {array(3), module_of(0)});
    for (const std::size_t code : {std::size_t{0}, i}) {
      put(draft.payload, {code_node(code)});
    }
    for (const bool is_first : {i == 0, false}) {
      draft.source_locations.array(4);
      is_first ? draft.source_locations.text(name)
               : draft.source_locations.unsigned_integer(0);
      put(draft.source_locations, {1, binary({}), array(0)});
    }
  }
  return draft.sealed();
}

TEST(Report, HasTheStatedBound) {
  ReportOptions options = {.max_items = kUses, .instructions = true};
  for (const char* letter : {"x", "\x1b", "\xe2\x80\xae", "\\"}) {
    std::string name;
    while (name.size() < 20000) name += letter;
    const Bytes bytes = repetitive_envelope(name);
    const std::size_t manifest = open(bytes)->manifest.imports[0].module.size() + 64;
    const std::size_t of_envelope =
        (1 << 16) + 512 * manifest + 128 * (bytes.size() - manifest);
    for (const std::size_t max_text : {80, 1000}) {
      options.max_text = max_text;

      const std::string text = report_json(*open(bytes), options);

      const std::size_t shown = 1 + 6 * kUses + 3 * kUses;
      const std::size_t each = 1024 + 64 * options.max_depth + 16 * max_text;
      EXPECT_LE(text.size(), of_envelope + shown * each);
      EXPECT_LE(report_text(*open(bytes), options).size(), text.size());
    }
  }
}

TEST(Report, CutsWhatIsToldAtEachUse) {
  const Bytes bytes = repetitive_envelope(std::string(50000, 'x') + "/end.py");
  ReportOptions options = {.instructions = true};

  const ParsedJson report = report_on(bytes, options);

  const ParsedJson outline = report["payload"]["outline"]["items"][0]["items"];
  EXPECT_EQ(outline[0]["name"], std::string(80, 'x') + "…");
  EXPECT_EQ(outline[1]["name"], std::string(80, 'x') + "…");
  EXPECT_EQ(report["code"][1]["file"], "…" + std::string(73, 'x') + "/end.py");
}

TEST(Report, ReportsOnWhatVerifyRefuses) {
  Draft draft({node(wire::NodeTag{99}, 1), "\xff"});
  draft.code.push_back(Bytes{0xc0});
  const Bytes bytes = draft.sealed();

  const ParsedJson report = report_on(bytes);

  EXPECT_EQ(report["code"][0]["error"]["code"], "malformed");
  EXPECT_EQ(report["payload"]["outline"]["kind"], "unknown_99");
}

TEST(Report, IsTheSameEachTime) {
  const Bytes bytes = function_envelope();
  EXPECT_EQ(report_json(*open(bytes)), report_json(*open(bytes)));
}

TEST(Report, AsTextNamesImportsCodeAndNodes) {
  const Bytes bytes = function_envelope();

  const std::string text = report_text(*open(bytes));

  for (const char* part :
       {"waybill format 1, Python 3.11", "imports (3)", "json.dumps",
        "/home/ada/task.py:3", "code (2)", "function f", "sections"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  }
}

TEST(Report, HasColoursOnlyWhenAsked) {
  const Bytes bytes = function_envelope();
  ReportOptions options;
  EXPECT_EQ(report_text(*open(bytes), options).find('\x1b'), std::string::npos);
  options.colours = true;
  EXPECT_NE(report_text(*open(bytes), options).find("\x1b[36m"), std::string::npos);
}

TEST(Report, LetsNoNameWriteToTheTerminal) {
  Draft draft;
  draft.manifest.imports = {{"a\x1b[2Jb", ImportTime::kLoad, "c\rd", "", "", 0}};
  draft.payload.text("\x1b]0;title\x07");
  const Bytes bytes = draft.sealed();

  const std::string text = report_text(*open(bytes));

  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  EXPECT_EQ(text.find('\r'), std::string::npos);
  EXPECT_NE(text.find("a\\x1b[2Jb"), std::string::npos);
}

TEST(Printable, KeepsLettersAndEscapesControls) {
  EXPECT_EQ(printable("na\xc3\xafve \xe2\x82\xac"), "na\xc3\xafve \xe2\x82\xac");
  EXPECT_EQ(printable("\x7f\xc2\x9b"), "\\x7f\\x9b");
  EXPECT_EQ(printable("\xe2\x80\xae"), "\\u202e");
  EXPECT_EQ(printable("\xff"), "\\xff");
  EXPECT_EQ(printable("a\xe2\x80\x8b"), "a\\u200b");
  EXPECT_EQ(printable("\xf3\xa0\x80\x81z"), "\\U000e0001z");
}

TEST(Report, WritesErrorsAsJson) {
  const ParsedJson error(error_json({ErrorCode::kTruncated, 3, "cut"}));

  EXPECT_EQ(error, ParsedJson(R"({"ok": false, "error": {"code": "truncated",
                                   "offset": 3, "detail": "cut"}})"));
}

}  // namespace
}  // namespace waybill
