// An explanation as a page that needs nothing from outside; its source is in page/.
// Tested by tests/explain/explanation_html_test.cpp and
// tests/browser/test_explanation_page.py.

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "explain/page_text.h"
#include "explain/part_queries.h"
#include "text/control_characters.h"
#include "text/json.h"

namespace waybill {
namespace {

using envelope::JsonTree;

// Control characters are escaped, but for ends of lines: a remedy may have several.
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

// Replaces the characters that `replacement` has a text for.
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

// Texts that many parts share stand once, and are known by their number.
class Texts {
 public:
  std::size_t number_of(std::string_view text) {
    const auto [found, is_new] = numbers_.try_emplace(text, numbers_.size());
    if (is_new) {
      json_ += json_.empty() ? "" : ",";
      json_ += json_text(text);
    }
    return found->second;
  }

  const std::string& json() const { return json_; }

 private:
  std::map<std::string_view, std::size_t> numbers_;
  std::string json_;
};

// The parts and blockers for the script: a column for each field, and texts once.
class PageData {
 public:
  explicit PageData(const Explanation& explanation)
      : explanation_(explanation), holders_(explanation) {}

  std::string run() {
    using Part = ExplainedPart;
    out_ = "{\"total\":" + std::to_string(explanation_.total);
    column("parent", [](const Part& part) { return std::to_string(part.parent); });
    column("step", [](const Part& part) { return json_text(part.step); });
    column("bytes", [](const Part& part) { return std::to_string(part.bytes); });
    column("own", [](const Part& part) { return std::to_string(part.own); });
    column("kind", [](const Part& part) {
      return std::to_string(static_cast<unsigned>(part.kind));
    });
    column("flags", [](const Part& part) {
      return std::to_string((part.is_shared ? 1 : 0) | (part.evaluates ? 0 : 2));
    });
    column("line", [](const Part& part) { return std::to_string(part.place.line); });
    texts("variable",
          [](const Part& part) -> const std::string& { return part.variable; });
    texts("type", [](const Part& part) -> const std::string& { return part.type; });
    texts("detail", [](const Part& part) -> const std::string& { return part.detail; });
    texts("file",
          [](const Part& part) -> const std::string& { return part.place.file; });
    texts("function",
          [](const Part& part) -> const std::string& { return part.place.function; });
    texts("expression",
          [](const Part& part) -> const std::string& { return part.place.expression; });
    add_blockers();
    out_ += ",\"texts\":[" + texts_.json() + "]}";
    return std::move(out_);
  }

 private:
  template <typename Field>
  void column(const char* name, Field field) {
    begin(name);
    out_ += '[';
    const char* separator = "";
    for (const ExplainedPart& part : explanation_.parts) {
      out_ += separator;
      out_ += field(part);
      separator = ",";
    }
    out_ += ']';
  }

  template <typename Field>
  void texts(const char* name, Field field) {
    column(name, [&](const ExplainedPart& part) {
      return std::to_string(texts_.number_of(field(part)));
    });
  }

  void add_blockers() {
    out_ += ",\"blockers\":[";
    const char* separator = "";
    for (const Blocker& blocker : explanation_.blockers) {
      const Holders::Found found = holders_.find(blocker.path);
      out_ += separator;
      out_ += "{\"part\":";
      out_ += std::to_string(found.part);
      out_ += ",\"isPart\":";
      out_ += found.is_part ? "true" : "false";
      field("path", blocker.path);
      field("short", blocker.short_path);
      field("type", blocker.type);
      field("reason", blocker.reason);
      field("remedy", blocker.remedy);
      field("file", blocker.place.file);
      field("function", blocker.place.function);
      field("expression", blocker.place.expression);
      begin("line");
      out_ += std::to_string(blocker.place.line);
      out_ += '}';
      separator = ",";
    }
    out_ += ']';
  }

  void field(const char* name, const std::string& text) {
    begin(name);
    out_ += json_text(text);
  }

  void begin(const char* name) {
    out_ += ",\"";
    out_ += name;
    out_ += "\":";
  }

  const Explanation& explanation_;
  const Holders holders_;
  Texts texts_;
  std::string out_;
};

constexpr std::string_view kMark = "@@";

// The template with each @@name@@ replaced. What replaces them is not looked through: a
// payload may have such names.
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

std::string html_text(std::string_view text) { return replaced(visible(text), entity); }

std::string json_text(std::string_view text) {
  const JsonTree string;
  string.root() = visible(text);
  return replaced(string.root().dump_ascii(), json_escape_of);
}

std::string explanation_html(const Explanation& explanation, std::string_view title) {
  return filled(page_template(), [&](std::string_view name) -> std::string {
    if (name == "title") return html_text(title);
    if (name == "summary") return page_summary(explanation);
    if (name == "tables") return page_tables(explanation);
    return PageData(explanation).run();
  });
}

}  // namespace waybill
