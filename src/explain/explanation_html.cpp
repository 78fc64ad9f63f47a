// An explanation as a page that needs nothing from outside; its source is in page/.
// Tested by tests/explain/explanation_html_test.cpp and
// tests/browser/test_explanation_page.py.

#include "explain/page_text.h"
#include "waybill/explanation.h"

namespace waybill {
namespace {

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

std::string explanation_html(const Explanation& explanation, std::string_view title) {
  return filled(page_template(), [&](std::string_view name) -> std::string {
    if (name == "title") return html_text(title);
    if (name == "summary") return page_summary(explanation);
    if (name == "tables") return page_tables(explanation);
    return page_data(explanation);
  });
}

}  // namespace waybill
