// Tested by tests/explain/explanation_html_test.cpp.

#include "explain/page_text.h"

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

}  // namespace

std::string html_text(std::string_view text) { return replaced(visible(text), entity); }

std::string json_text(std::string_view text) {
  const JsonTree string;
  string.root() = visible(text);
  return replaced(string.root().dump_ascii(), json_escape_of);
}

}  // namespace waybill
