// The tables of the page. A browser without scripts shows only these.
// Tested by tests/explain/explanation_html_test.cpp.

#include <algorithm>
#include <string>
#include <vector>

#include "explain/page_text.h"
#include "explain/part_queries.h"
#include "report/value_text.h"
#include "text/format_text.h"
#include "wire/utf8.h"

namespace waybill {
namespace {

constexpr std::size_t kShownParts = 50;
// Parts below a thousandth of the total are listed only up to this number of rows.
constexpr std::size_t kMinShownParts = 10;
// The most rows of each table. The chart and the JSON contain all.
constexpr std::size_t kShownRows = 1000;
// The most bytes of a path in a cell; longer ones are cut in the middle.
constexpr std::size_t kShownLength = 160;

// A long path without its middle.
std::string shortened_path(const std::string& path) {
  if (path.size() <= kShownLength) return path;
  constexpr std::size_t kHalf = kShownLength / 2;
  return path.substr(0, wire::prefix_size(path, kHalf)) + envelope::end_of(path, kHalf);
}

std::string code_html(const std::string& text) {
  return text.empty() ? "" : "<code>" + html_text(text) + "</code>";
}

std::string cell_html(const std::string& html, const char* kind = "") {
  return std::string("<td") + kind + ">" + html + "</td>";
}

std::string file_and_line(const std::string& file, std::uint32_t line) {
  if (file.empty()) return "";
  return html_text(line == 0 ? file : format_text("{}:{}", file, line));
}

std::string place_html(const CodePlace& place) {
  std::string out = file_and_line(place.file, place.line);
  if (!place.function.empty()) {
    out += (out.empty() ? "in " : " in ") + code_html(place.function);
  }
  if (!place.expression.empty()) {
    out += (out.empty() ? "as " : " as ") + code_html(place.expression);
  }
  return out;
}

// The place of a part, or of its nearest ancestor that has one: the code that captured
// the ancestor captured its contents too.
const CodePlace& captured_at(const Explanation& explanation, std::size_t part) {
  const auto is_unknown = [](const CodePlace& place) {
    return place.file.empty() && place.function.empty() && place.expression.empty();
  };
  while (part != 0 && is_unknown(explanation.parts[part].place)) {
    part = explanation.parts[part].parent;
  }
  return explanation.parts[part].place;
}

std::string share_text(std::uint64_t bytes, std::uint64_t total) {
  if (total == 0) return "";
  if (bytes < total / 1000) return "under 0.1 %";
  return format_text("{:.1f} %",
                     100 * static_cast<double>(bytes) / static_cast<double>(total));
}

// A table under a heading. `heads`: the titles of its columns, as HTML.
std::string table_html(const char* id, const std::string& title,
                       const std::string& heads, const std::string& rows) {
  return format_text(
      "<section aria-labelledby=\"{0}\"><h2 id=\"{0}\">{1}</h2>\n"
      "<div class=\"scroll\"><table "
      "aria-labelledby=\"{0}\"><thead><tr>{2}</tr></thead>\n"
      "<tbody>\n{3}</tbody></table></div></section>\n",
      id, title, heads, rows);
}

std::string omission_text(std::size_t count) {
  if (count <= kShownRows) return "";
  return format_text("<p class=\"note\">And {} more.</p>\n", count - kShownRows);
}

std::string head_html(const char* title, const char* kind = "") {
  return std::string("<th scope=\"col\"") + kind + ">" + title + "</th>";
}

constexpr const char* kNumber = " class=\"number\"";

std::string blocker_row(const Blocker& blocker) {
  std::string path = code_html(shortened_path(blocker.path));
  if (blocker.path_count > 1) {
    path += format_text("<br><span class=\"faint\">and {} more path{}</span>",
                        blocker.path_count - 1, blocker.path_count == 2 ? "" : "s");
  }
  const std::string place = place_html(blocker.place);
  if (!place.empty()) path += "<br><span class=\"faint\">" + place + "</span>";
  const std::string why = code_html(blocker.type) + "<span class=\"reason\">" +
                          html_text(blocker.reason) + "</span>";
  const std::string remedy =
      blocker.remedy.empty() ? "" : "<pre>" + html_text(blocker.remedy) + "</pre>";
  return "<tr>" + cell_html(path) + cell_html(why) + cell_html(remedy) + "</tr>\n";
}

std::string blockers_html(const Explanation& explanation) {
  const std::vector<Blocker>& blockers = explanation.blockers;
  if (blockers.empty()) return "";
  std::string rows;
  for (std::size_t i = 0; i < std::min(kShownRows, blockers.size()); ++i) {
    rows += blocker_row(blockers[i]);
  }
  return table_html("blockers", "What cannot travel",
                    head_html("Path") + head_html("Why") + head_html("What to do"),
                    rows) +
         omission_text(blockers.size());
}

std::string part_row(const Explanation& explanation, std::size_t number) {
  const ExplainedPart& part = explanation.parts[number];
  const std::string type = part.type + (part.detail.empty() ? "" : " " + part.detail);
  return "<tr>" +
         cell_html(code_html(shortened_path(path_of(explanation, number).full)),
                   format_text(" data-part=\"{}\"", number).c_str()) +
         cell_html(code_html(type), " class=\"type\"") +
         cell_html(size_text(part.bytes), kNumber) +
         cell_html(share_text(part.bytes, explanation.total), kNumber) +
         cell_html(place_html(captured_at(explanation, number)), " class=\"faint\"") +
         "</tr>\n";
}

std::string parts_html(const Explanation& explanation) {
  std::string rows;
  std::size_t shown = 0;
  for (const std::size_t part : largest_parts(explanation, kShownParts)) {
    const bool is_small = explanation.parts[part].bytes < explanation.total / 1000;
    if (is_small && shown >= kMinShownParts) break;
    rows += part_row(explanation, part);
    ++shown;
  }
  if (rows.empty()) return "";
  return table_html("largest", "Largest parts",
                    head_html("Path") + head_html("Type") + head_html("Size", kNumber) +
                        head_html("Share", kNumber) + head_html("Captured at"),
                    rows);
}

std::string import_row(const ExplainedImport& import) {
  const ImportRecord& record = import.record;
  CodePlace place;
  place.expression = record.chain;
  place.function = record.function;
  place.file = record.file;
  place.line = record.line;
  return "<tr>" + cell_html(code_html(record.module)) +
         cell_html(std::string(name_of(record.time))) +
         (import.is_missing ? cell_html("missing", " class=\"missing\"")
                            : cell_html("")) +
         cell_html(place_html(place), " class=\"faint\"") + "</tr>\n";
}

std::string imports_html(const Explanation& explanation) {
  std::vector<const ExplainedImport*> imports;
  for (const ExplainedImport& import : explanation.imports) imports.push_back(&import);
  if (imports.empty()) return "";
  // Missing imports come first, since the reader must act on them.
  std::ranges::stable_sort(
      imports, std::ranges::greater(),
      [](const ExplainedImport* import) { return import->is_missing; });
  std::string rows;
  for (std::size_t i = 0; i < std::min(kShownRows, imports.size()); ++i) {
    rows += import_row(*imports[i]);
  }
  return table_html("imports", "Imports",
                    head_html("Module") + head_html("When") + head_html("There") +
                        head_html("Needed by"),
                    rows) +
         omission_text(imports.size());
}

std::string sources_html(const Explanation& explanation) {
  if (!explanation.source || explanation.source->without.empty()) return "";
  const std::vector<CodePlace>& without = explanation.source->without;
  std::string rows;
  for (std::size_t i = 0; i < std::min(kShownRows, without.size()); ++i) {
    rows +=
        "<tr>" + cell_html(code_html(without[i].function)) +
        cell_html(file_and_line(without[i].file, without[i].line), " class=\"faint\"") +
        "</tr>\n";
  }
  return table_html("sources", "Without source",
                    head_html("Function") + head_html("Written at"), rows) +
         omission_text(without.size());
}

// "100,014"
std::string grouped(std::size_t number) {
  std::string digits = std::to_string(number);
  for (std::size_t at = digits.size(); at > 3;) digits.insert(at -= 3, ",");
  return digits;
}

std::string property_html(const std::string& number, const char* noun,
                          const char* kind = "") {
  return format_text("<div{}><dt>{}</dt><dd>{}</dd></div>\n", kind, noun, number);
}

}  // namespace

std::string page_summary(const Explanation& explanation) {
  const auto missing = std::ranges::count_if(
      explanation.imports, [](const auto& import) { return import.is_missing; });
  const std::size_t parts = explanation.parts.size();
  const std::size_t blockers = explanation.blockers.size();
  const std::size_t imports = explanation.imports.size();
  std::string out =
      "<dl id=\"summary\">\n" + property_html(size_text(explanation.total), "in all");
  out += property_html(grouped(parts), parts == 1 ? "part" : "parts");
  if (blockers != 0) {
    out += property_html(grouped(blockers), "cannot travel", " class=\"bad\"");
  }
  out += property_html(grouped(imports), imports == 1 ? "import" : "imports");
  if (missing != 0) {
    out += property_html(grouped(static_cast<std::size_t>(missing)),
                         missing == 1 ? "import missing" : "imports missing",
                         " class=\"bad\"");
  }
  if (explanation.source) {
    out += property_html(size_text(explanation.source->bytes), "source");
  }
  return out + "</dl>";
}

std::string page_tables(const Explanation& explanation) {
  return blockers_html(explanation) + parts_html(explanation) +
         imports_html(explanation) + sources_html(explanation);
}

}  // namespace waybill
