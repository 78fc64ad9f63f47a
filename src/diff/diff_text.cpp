// Summarizes a diff in one line, and lays it out as lines.
// Tested by tests/diff/diff_test.cpp and tests/cli/test_diff.py.

#include <vector>

#include "diff/diff_model.h"
#include "report/report_lines.h"
#include "text/format_text.h"
#include "waybill/report.h"

namespace waybill::envelope {
namespace {

// The summary names this many entries of a kind, and counts the rest.
constexpr std::size_t kMaxNamed = 2;

std::string joined(Json texts) {
  std::string out;
  for (const Json text : texts) {
    if (!out.empty()) out += ", ";
    out += printable(text.text());
  }
  return out;
}

bool is_nested_only(Json row) {
  return row.contains("parts") && row["parts"].size() == 1 &&
         row["parts"][0].text() == "nested code";
}

std::string phrase_of_code(Json row) {
  const std::string name = text_of(row, "name");
  const std::string change = text_of(row, "change");
  if (change == "added") return "new code " + name;
  if (change == "removed") return "code " + name + " (removed)";
  return format_text("code of {}: {}", name, joined(row["parts"]));
}

std::string phrase_of_value(Json row) {
  const std::string path = text_of(row, "path");
  const std::string change = text_of(row, "change");
  if (change == "order") return "the order of keys at " + path;
  if (change == "changed") return "the value at " + path;
  return format_text("what was {} at {}", change, path);
}

// Names the first entries of a section and counts the others.
template <typename Phrase>
void add_phrases(Json section, std::string_view noun, Phrase phrase,
                 std::vector<std::string>& out) {
  std::size_t named = 0;
  for (const Json row : section["items"]) {
    if (named == kMaxNamed) break;
    // The nested code that changed has an entry of its own.
    if (is_nested_only(row)) continue;
    out.push_back(phrase(row));
    ++named;
  }
  std::size_t left_out = 0;
  for (const Json row : section["items"]) left_out += is_nested_only(row);
  const std::uint64_t count = number_of(section, "count") - left_out;
  // If there are no other entries, names one of these.
  if (count == 0 && left_out != 0) out.push_back(phrase(section["items"][0]));
  if (count > named) {
    const std::uint64_t left = count - named;
    out.push_back(format_text("{}{} {}{}", left, named == 0 ? "" : " more", noun,
                              left == 1 ? "" : "s"));
  }
}

std::string margin(Json row) {
  const std::string change = text_of(row, "change");
  return change == "added" ? "  + " : change == "removed" ? "  - " : "  ~ ";
}

// Adds the rows of a section; `add_row` writes one of them.
template <typename AddRow>
void add_section(Json model, const char* key, const Paint& paint, AddRow add_row,
                 std::string& out) {
  const Json section = model[key];
  const std::uint64_t count = number_of(section, "count");
  if (count == 0) return;
  out += "\n" + paint.title(format_text("{} ({})", key, count)) + "\n";
  for (const Json row : section["items"]) add_row(row);
  const std::size_t shown = section["items"].size();
  if (count > shown)
    out += paint.faint(format_text("  … and {} more", count - shown)) + "\n";
}

// The place at which values with a common start differ.
std::string place_of_difference(Json row) {
  if (!row.contains("index")) return "";
  return format_text("  from index {} on", number_of(row, "index"));
}

class DiffLayout {
 public:
  DiffLayout(Json model, const Paint& paint) : model_(model), paint_(paint) {}

  std::string lay_out() {
    out_ = paint_.title(text_of(model_, "summary")) + "\n";
    if (!model_["header"].empty()) out_ += "\n" + paint_.title("header") + "\n";
    for (const Json row : model_["header"]) {
      out_ += "  ~ " + text_of(row, "field") + place_of_difference(row) + "\n";
      add_sides(text_of(row, "old"), text_of(row, "new"));
    }
    add_section(model_, "imports", paint_, [&](Json row) { add_import(row); }, out_);
    add_section(model_, "code", paint_, [&](Json row) { add_code(row); }, out_);
    add_section(model_, "payload", paint_, [&](Json row) { add_value(row); }, out_);
    add_section(
        model_, "locations", paint_, [&](Json row) { add_location(row); }, out_);
    if (model_.contains("signatures")) add_signatures(model_["signatures"]);
    return std::move(out_);
  }

 private:
  void add_signatures(Json row) {
    out_ += "\n" + paint_.title("signature") + "\n";
    const std::string before = text_of(row, "old");
    const std::string after = text_of(row, "new");
    if (before == after) {
      out_ += "  ~ both: " + before + "\n";
    } else {
      add_sides(before, after);
    }
  }

  void add_sides(const std::string& before, const std::string& after) {
    if (!before.empty()) out_ += paint_.bad("      - " + before) + "\n";
    if (!after.empty()) out_ += paint_.good("      + " + after) + "\n";
  }

  void add_import(Json row) {
    out_ += format_text("{}{} {}", margin(row), paint_.name(text_of(row, "module")),
                        text_of(row, "time"));
    if (row.contains("chain")) out_ += "  " + text_of(row, "chain");
    if (row.contains("function")) out_ += "  in " + text_of(row, "function");
    const std::string change = text_of(row, "change");
    if (change != "added" && change != "removed") out_ += paint_.faint("  " + change);
    out_ += "\n";
  }

  void add_code(Json row) {
    out_ += margin(row) + paint_.name(text_of(row, "name"));
    if (row.contains("parts")) out_ += "  " + joined(row["parts"]);
    out_ += "\n";
    if (row.contains("details")) {
      for (const Json detail : row["details"]) {
        out_ += "      " + printable(detail.text()) + "\n";
      }
    }
    if (!row.contains("old_instruction")) return;
    add_sides(instruction_text(row["old_instruction"]),
              instruction_text(row["new_instruction"]));
  }

  static std::string instruction_text(Json side) {
    const std::string text = text_of(side, "text");
    return format_text("{:>4}  {}", number_of(side, "offset"),
                       text.empty() ? "(the end)" : text);
  }

  void add_value(Json row) {
    out_ += margin(row) + paint_.name(text_of(row, "path"));
    if (text_of(row, "change") == "order") out_ += "  the keys have another order";
    out_ += place_of_difference(row) + "\n";
    add_sides(text_of(row, "old"), text_of(row, "new"));
  }

  void add_location(Json row) {
    out_ += "  ~ " + paint_.name(text_of(row, "name"));
    const auto line = [&](const char* key) { return row[key].integer(); };
    if (row.contains("old_file")) {
      out_ += "\n";
      add_sides(format_text("{}:{}", text_of(row, "old_file"), line("old_line")),
                format_text("{}:{}", text_of(row, "new_file"), line("new_line")));
      return;
    }
    out_ += line("old_line") != line("new_line")
                ? format_text("  line {} -> {}", line("old_line"), line("new_line"))
                : "  the lines inside";
    out_ += "\n";
  }

  Json model_;
  const Paint& paint_;
  std::string out_;
};

}  // namespace

std::string summary_of(Json model, bool files_differ, bool lines_differ) {
  std::vector<std::string> phrases;
  for (const Json row : model["header"]) {
    phrases.push_back(row["field"].text() == "python"
                          ? format_text("the Python that sealed it: {} and {}",
                                        text_of(row, "old"), text_of(row, "new"))
                          : "the application field");
  }
  add_phrases(
      model["imports"], "import",
      [](Json row) {
        return format_text("import {} ({})", text_of(row, "module"),
                           text_of(row, "change"));
      },
      phrases);
  add_phrases(model["code"], "code object", phrase_of_code, phrases);
  add_phrases(model["payload"], "value", phrase_of_value, phrases);
  if (files_differ) phrases.push_back("file names");
  if (lines_differ) phrases.push_back("line numbers");
  if (model["signature"].boolean()) phrases.push_back("the signature");
  const bool is_location_only =
      number_of(model["code"], "count") == 0 &&
      number_of(model["payload"], "count") == 0 &&
      phrases.size() == static_cast<std::size_t>(files_differ + lines_differ);
  if (phrases.empty()) {
    return "differ in: the encoding of equal values, or the targets of references";
  }
  std::string out = "differ in: " + phrases[0];
  for (std::size_t i = 1; i < phrases.size(); ++i) {
    out += (is_location_only ? " and " : "; ") + phrases[i];
  }
  return is_location_only ? out + " only" : out;
}

std::string diff_text(Json model, bool colours) {
  const Paint paint(colours);
  return DiffLayout(model, paint).lay_out();
}

}  // namespace waybill::envelope
