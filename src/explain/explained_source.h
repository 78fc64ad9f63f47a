#pragma once

// What travels beside code for other versions of Python.

#include <optional>

#include "waybill/envelope.h"
#include "waybill/explanation.h"

namespace waybill::envelope {

// Of the code that the payload uses; nothing if no source travels, unless it was asked
// for. Needs no more than a head that open_head() takes. Cost: a pass over payload,
// constants and debug information, if there is source.
std::optional<ExplainedSource> explained_source(const Envelope& envelope,
                                                bool is_asked_for);

}  // namespace waybill::envelope
