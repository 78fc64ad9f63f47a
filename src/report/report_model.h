#pragma once

// The report as a tree, which report_json() writes as it is and report_text() lays out.

#include <nlohmann/json.hpp>

#include "waybill/envelope.h"
#include "waybill/report.h"

namespace waybill::envelope {

using Json = nlohmann::ordered_json;

// Where a tree is made. The destructor of Json needs memory for what is nested, and
// must not fail; so no tree is made elsewhere and moved, nor by lists of initial
// values, which leak where memory is short.
struct Tree {
  Json root;

  Tree() = default;
  ~Tree();
  Tree(const Tree&) = delete;
  Tree& operator=(const Tree&) = delete;
};

// Makes `into` an object with room for its keys: one that grows copies all it holds,
// and may fail in the middle of that.
Json& begin_object(Json& into, std::size_t keys);

void fill_report(const Envelope& envelope, const ReportOptions& options, Json& model);

// The payload: {"outline": {…}, "statistics": {…}}. `names` are the qualified names of
// the code bodies.
void fill_payload(const Envelope& envelope, const std::vector<std::string>& names,
                  const ReportOptions& options, Json& model);

// {"code", "offset", "detail"}
void set_error(Json& into, const Error& error);

std::string hex(BytesView bytes);

}  // namespace waybill::envelope
