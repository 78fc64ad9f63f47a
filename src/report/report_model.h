#pragma once

// The report as a tree, which report_json() writes and report_text() lays out.

#include "report/value_text.h"
#include "text/json.h"
#include "waybill/envelope.h"
#include "waybill/report.h"

namespace waybill::envelope {

void fill_report(const Envelope& envelope, const ReportOptions& options, Json model);

// Adds the payload: {"outline": {…}, "statistics": {…}}.
void fill_payload(const Envelope& envelope, const ValueNames& names,
                  const ReportOptions& options, Json model);

}  // namespace waybill::envelope
