#pragma once

// The source that travels beside code, unit by unit.

#include "text/json.h"
#include "waybill/envelope.h"
#include "waybill/report.h"

namespace waybill::envelope {

// Adds to the report of each body that the payload uses: "source", null where it has
// none; "file" and "first_line" where the debug information tells them. `code` is the
// array of reports. Nested code comes with that around it, and has none of its own.
// Where texts are damaged, "error" stands in the place of "text". All texts together
// are no more than the 16 MiB that an envelope may have: what is beyond has no "text".
void fill_sources(const Envelope& envelope, const ReportOptions& options, Json code);
inline constexpr std::size_t kSourceKeys = 1;  // Besides those of listings.

}  // namespace waybill::envelope
