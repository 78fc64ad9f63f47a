#pragma once

// The report as a tree, which report_json() writes as it is and report_text() lays out.

#include <string>
#include <vector>

#include "text/json_tree.h"
#include "waybill/envelope.h"
#include "waybill/report.h"

namespace waybill::envelope {

void fill_report(const Envelope& envelope, const ReportOptions& options, Json& model);

// The payload: {"outline": {…}, "statistics": {…}}. `names` are the qualified names of
// the code bodies.
void fill_payload(const Envelope& envelope, const std::vector<std::string>& names,
                  const ReportOptions& options, Json& model);

}  // namespace waybill::envelope
