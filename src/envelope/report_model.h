#pragma once

// The report as a tree, which report_json() writes as it is and report_text() lays out.

#include <nlohmann/json.hpp>

#include "waybill/envelope.h"
#include "waybill/report.h"

namespace waybill::envelope {

using Json = nlohmann::ordered_json;

Json report_model(const Envelope& envelope, const ReportOptions& options);

// The payload: {"outline": {…}, "statistics": {…}}. `names` are the qualified names of
// the code bodies.
Json payload_model(const Envelope& envelope, const std::vector<std::string>& names,
                   const ReportOptions& options);

// {"code", "offset", "detail"}
Json error_model(const Error& error);

std::string hex(BytesView bytes);

}  // namespace waybill::envelope
