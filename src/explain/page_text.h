#pragma once

// What stands in the page of an explanation. Names of a hostile payload come only
// through these.

#include <string>
#include <string_view>

#include "waybill/explanation.h"

namespace waybill {

// The page as cmake/embed_page.cmake puts it together: with @@names@@ for what an
// explanation brings. Static storage.
std::string_view page_template();

// Text as HTML shows it, between tags and in attributes: control characters and bytes
// that are no UTF-8 are visible; lines stay.
std::string html_text(std::string_view text);

// The same text as a JSON string of ASCII that cannot end the element it stands in.
std::string json_text(std::string_view text);

// <dl>: the total and how many there are of what.
std::string page_summary(const Explanation& explanation);

// Blockers, largest parts, imports and functions without source as tables.
std::string page_tables(const Explanation& explanation);

}  // namespace waybill
