#pragma once

// What stands in the page of an explanation. Names of a hostile payload come only
// through these.

#include <string>
#include <string_view>

#include "text/json.h"
#include "waybill/explanation.h"

namespace waybill {

// The page as cmake/embed_page.cmake puts it together: with @@names@@ for what an
// explanation brings. Static storage.
std::string_view page_template();

// Text in which control characters and bytes that are no UTF-8 are visible; lines stay,
// since a remedy may have several.
std::string visible(std::string_view text);

// The same as HTML shows it, between tags and in attributes.
std::string html_text(std::string_view text);

// JSON of ASCII that cannot end the element it stands in.
std::string script_json(envelope::Json json);

// <dl>: the total and how many there are of what.
std::string page_summary(const Explanation& explanation);

// Blockers, largest parts, imports and functions without source as tables.
std::string page_tables(const Explanation& explanation);

}  // namespace waybill
