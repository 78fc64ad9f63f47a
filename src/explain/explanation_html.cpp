// An explanation as a self-contained HTML page; its source is in page/.
// Tested by tests/explain/explanation_html_test.cpp and
// tests/browser/test_explanation_page.py.

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "explain/page_text.h"
#include "explain/part_queries.h"
#include "text/control_characters.h"

namespace waybill {
namespace {

using envelope::Json;
using envelope::JsonTree;

// Replaces each character for which `replacement` returns a text.
template <typename Replacement>
std::string replaced(std::string_view text, Replacement replacement) {
  std::string out;
  out.reserve(text.size());
  for (const char character : text) {
    const std::string_view other = replacement(character);
    if (other.empty()) {
      out += character;
    } else {
      out += other;
    }
  }
  return out;
}

std::string_view entity(char character) {
  switch (character) {
    case '&':
      return "&amp;";
    case '<':
      return "&lt;";
    case '>':
      return "&gt;";
    case '"':
      return "&quot;";
    case '\'':
      return "&#39;";
    default:
      return "";
  }
}

std::string_view json_escape_of(char character) {
  switch (character) {
    case '&':
      return "\\u0026";
    case '<':
      return "\\u003c";
    case '>':
      return "\\u003e";
    default:
      return "";
  }
}

// The parts and blockers for the script: one column for each field; equal texts are
// written once.
class PageData {
 public:
  explicit PageData(const Explanation& explanation)
      : parts_(explanation.parts), data_(tree_.root().make_object(kFields)) {
    using Part = ExplainedPart;
    texts_.root().make_array();
    data_["total"] = explanation.total;
    add_column("parent", &Part::parent);
    add_column("step", [](const Part& part) { return visible(part.step); });
    add_column("bytes", &Part::bytes);
    add_column("own", &Part::own);
    add_column("kind",
               [](const Part& part) { return static_cast<unsigned>(part.kind); });
    add_column("flags", [](const Part& part) {
      return (part.is_shared ? 1 : 0) | (part.evaluates ? 0 : 2);
    });
    add_column("line", [](const Part& part) { return part.place.line; });
    add_text_column("variable", [](const Part& part) { return &part.variable; });
    add_text_column("type", [](const Part& part) { return &part.type; });
    add_text_column("detail", [](const Part& part) { return &part.detail; });
    add_text_column("file", [](const Part& part) { return &part.place.file; });
    add_text_column("function", [](const Part& part) { return &part.place.function; });
    add_text_column("expression",
                    [](const Part& part) { return &part.place.expression; });
    add_blockers(explanation);
    data_["texts"].take(texts_.root());
  }

  std::string json() const { return script_json(data_); }

 private:
  static constexpr std::size_t kFields = 16;

  template <typename Field>
  void add_column(const char* name, Field field) {
    const Json values = data_[name].make_array(parts_.size());
    for (const ExplainedPart& part : parts_) {
      values.append() = std::invoke(field, part);
    }
  }

  // Writes each distinct text once, and its number for each part.
  template <typename Field>
  void add_text_column(const char* name, Field field) {
    add_column(name, [&](const ExplainedPart& part) {
      const std::string& text = *field(part);
      const auto [found, is_new] = numbers_.try_emplace(text, numbers_.size());
      if (is_new) texts_.root().append() = visible(text);
      return found->second;
    });
  }

  void add_blockers(const Explanation& explanation) {
    const Holders holders(explanation);
    const Json blockers = data_["blockers"].make_array(explanation.blockers.size());
    for (const Blocker& blocker : explanation.blockers) {
      const Holders::Match found = holders.find(blocker.path);
      const Json row = blockers.append().make_object(11);
      row["part"] = found.part;
      row["isPart"] = found.is_part;
      row["path"] = visible(blocker.path);
      row["short"] = visible(blocker.short_path);
      row["type"] = visible(blocker.type);
      row["reason"] = visible(blocker.reason);
      row["remedy"] = visible(blocker.remedy);
      row["file"] = visible(blocker.place.file);
      row["function"] = visible(blocker.place.function);
      row["expression"] = visible(blocker.place.expression);
      row["line"] = blocker.place.line;
    }
  }

  const std::vector<ExplainedPart>& parts_;
  JsonTree tree_, texts_;
  Json data_;
  std::map<std::string_view, std::size_t> numbers_;
};

constexpr std::string_view kMark = "@@";

// The template with each @@name@@ replaced. Replacements are not scanned: a payload may
// contain such names.
template <typename Replacement>
std::string filled(std::string_view text, Replacement replacement) {
  std::string out;
  for (;;) {
    const std::size_t start = text.find(kMark);
    out += text.substr(0, start);
    if (start == std::string_view::npos) return out;
    text.remove_prefix(start + kMark.size());
    const std::size_t end = text.find(kMark);
    out += replacement(text.substr(0, end));
    text.remove_prefix(end + kMark.size());
  }
}

}  // namespace

std::string visible(std::string_view text) {
  std::string out;
  for (;;) {
    const std::size_t end = text.find('\n');
    out += envelope::printable_text(text.substr(0, end));
    if (end == std::string_view::npos) return out;
    out += '\n';
    text.remove_prefix(end + 1);
  }
}

std::string html_text(std::string_view text) { return replaced(visible(text), entity); }

std::string script_json(Json json) {
  return replaced(json.dump_ascii(), json_escape_of);
}

std::string explanation_html(const Explanation& explanation, std::string_view title) {
  return filled(page_template(), [&](std::string_view name) -> std::string {
    if (name == "title") return html_text(title);
    if (name == "summary") return page_summary(explanation);
    if (name == "tables") return page_tables(explanation);
    return PageData(explanation).json();
  });
}

}  // namespace waybill
