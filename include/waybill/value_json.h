#pragma once

// Plain data as JSON, for people and for programs that know nothing of waybill.
//
//   auto value = waybill::read_value(bytes);
//   if (value) std::cout << *waybill::value_json(*value);

#include <cstddef>
#include <string>

#include "waybill/error.h"
#include "waybill/value.h"

namespace waybill {

struct JsonOptions {
  // Spaces for each level; negative: all in one line.
  int indent = 2;
  // Writes what JSON has no word for as what is nearest, so that kinds cannot be told
  // apart any more. As it is, nothing is lost: see docs/cli.md for the words.
  bool is_loose = false;
  // Colours for terminals.
  bool colours = false;
  // Bytes of text, margins and escapes included, colours not; it has never more, and
  // less is refused where values are short: at least 16 are counted for each. What is
  // shared is written again, so a small payload can have much.
  std::size_t max_bytes = std::size_t{256} << 20;
};

// The value as JSON text, in UTF-8. What would move the cursor of a terminal or turn
// the direction of text is escaped. Without `is_loose`, values that differ give texts
// that differ, but for 0.0 and -0.0 to readers that take them as one.
//
// Errors, with offset 0: kMalformed for text that is no UTF-8; kLimitExceeded for more
// than 512 containers inside each other, for text beyond `max_bytes`, and for ints
// whose digits take seconds: beyond 128 KiB, or many that have as large a sum of
// squares; with `is_loose`, kRefused for maps whose keys are no names in JSON, or would
// be the same.
[[nodiscard]] Result<std::string> value_json(const data::Value& value,
                                             const JsonOptions& options = {});

}  // namespace waybill
