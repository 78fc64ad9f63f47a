#pragma once

// Text of the page of an explanation. Names from a hostile payload reach the page only
// through these functions.

#include <string>
#include <string_view>

#include "text/json.h"
#include "waybill/explanation.h"

namespace waybill {

// The page as cmake/embed_page.cmake assembles it, with @@names@@ as placeholders for
// the contents of an explanation. Static storage.
std::string_view page_template();

// Text in which control characters and bytes that are not UTF-8 are visible. Line
// breaks stay, since a remedy may have several lines.
std::string visible(std::string_view text);

// The text of visible(), escaped for HTML text and attributes.
std::string html_text(std::string_view text);

// JSON in ASCII that cannot end the element that contains it.
std::string script_json(envelope::Json json);

// <dl>: the total, the numbers of parts, blockers and imports, and the source size.
std::string page_summary(const Explanation& explanation);

// Blockers, largest parts, imports and functions without source as tables.
std::string page_tables(const Explanation& explanation);

}  // namespace waybill
