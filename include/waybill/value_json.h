#pragma once

// Plain data as JSON, for people and for programs without waybill.
//
//   auto value = waybill::read_value(bytes);
//   if (value) std::cout << *waybill::value_json(*value);

#include <cstddef>
#include <string>

#include "waybill/error.h"
#include "waybill/value.h"

namespace waybill {

struct JsonOptions {
  // Spaces for each level; negative: one line.
  int indent = 2;
  // Writes values that JSON has no type for as the nearest one, so that kinds become
  // indistinguishable. By default nothing is lost: docs/cli.md describes the notation.
  bool is_loose = false;
  // Colours for terminals.
  bool colours = false;
  // The largest text in bytes, margins and escapes included, colours excluded. At least
  // 16 bytes are counted for each value, so texts of short values are refused earlier.
  // Shared objects are written at each reference, so a small payload can have much
  // text.
  std::size_t max_bytes = std::size_t{256} << 20;
};

// The value as JSON text in UTF-8. Characters that must not reach a terminal are
// escaped. Without `is_loose`, different values give different texts, except 0.0 and
// -0.0 for readers that do not distinguish them.
//
// Errors, with offset 0: kMalformed for invalid UTF-8; kLimitExceeded for more than 512
// nested containers, for text beyond `max_bytes`, and for ints whose decimal
// digits take seconds to compute: one beyond 128 KiB, or several whose squared sizes
// have as large a sum; with `is_loose`, kRefused for maps whose keys are not JSON names
// or become equal.
[[nodiscard]] Result<std::string> value_json(const data::Value& value,
                                             const JsonOptions& options = {});

}  // namespace waybill
