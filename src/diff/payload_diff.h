#pragma once

// Which values of two payloads differ, and where they hang.

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "diff/code_diff.h"
#include "report/value_text.h"
#include "waybill/diff.h"

namespace waybill::envelope {

struct ValueDifference {
  enum class Kind : std::uint8_t {
    kChanged,
    kAdded,    // No `before`.
    kRemoved,  // No `after`.
    kOrder,    // The same keys in another order; no values.
  };
  Kind kind = Kind::kChanged;
  // From the object that was sent, as docs/paths.md has it.
  std::string path;
  std::string before;
  std::string after;
  // kChanged, of texts or bytes that begin alike: the first character or byte that
  // differs, around which both are shown.
  std::optional<std::size_t> index = {};
};

struct PayloadDiff {
  // As many as the options allow, in the order of the payload.
  std::vector<ValueDifference> shown;
  std::size_t count = 0;  // All of them.
  // Functions whose code `code` tells as changed are none of them.
};

// Compares the payloads. `code`, `old_names` and `new_names` are of the envelopes.
PayloadDiff diff_payloads(const Envelope& old_one, const Envelope& new_one,
                          const CodeDiff& code, const ValueNames& old_names,
                          const ValueNames& new_names, const DiffOptions& options);

}  // namespace waybill::envelope
