#pragma once

// A diff as a tree, which is written as it is or laid out as lines.

#include <string>

#include "text/json.h"
#include "waybill/diff.h"

namespace waybill::envelope {

void fill_diff(const Envelope& a, const Envelope& b, const DiffOptions& options,
               Json model);

// "differ in: line numbers only". `model` is complete but for the summary, and the
// envelopes are not equal.
std::string summary_of(Json model, bool files_differ, bool lines_differ);

std::string diff_text(Json model, bool colours);

}  // namespace waybill::envelope
