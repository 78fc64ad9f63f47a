#pragma once

// A diff as a tree, which is written as JSON or laid out as lines, and the functions
// that fill it.

#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "report/value_text.h"
#include "text/json.h"
#include "waybill/diff.h"

namespace waybill::envelope {

// One of the two envelopes that are compared, which must outlive this.
struct Side {
  explicit Side(const Envelope& source) : envelope(source), names(names_of(source)) {}

  const Envelope& envelope;
  const ValueNames names;
};

// The differences of one kind: their number, and those that are shown.
class DifferenceList {
 public:
  // Makes an empty list under this key. At most `max_shown` differences are shown.
  DifferenceList(Json model, const char* key, std::size_t max_shown);

  // Counts a difference. If it is shown, returns its entry, with room for `keys` keys.
  std::optional<Json> add(std::size_t keys);
  Json entry(std::size_t index) const { return items_[index]; }

 private:
  std::size_t max_shown_;
  std::size_t total_ = 0;
  Json count_, items_;
};

struct CodeChanges {
  // The indices, old and new, of bodies that are reported as one changed body.
  std::set<std::pair<std::size_t, std::size_t>> changed;
  // Whether equal code has other file names, or other line numbers.
  bool files_differ = false;
  bool lines_differ = false;
};

// Compares code bodies: first by hash; the rest are matched by qualified name, in
// order.
CodeChanges diff_code(const Side& old_side, const Side& new_side,
                      const DiffOptions& options, DifferenceList& code,
                      DifferenceList& locations);

// Compares the values of the payloads. Skips functions whose code is reported as
// changed.
void diff_payloads(const Side& old_side, const Side& new_side, const CodeChanges& code,
                   const DiffOptions& options, DifferenceList& payload);

// For example "differ in: line numbers only". `model` is complete except for the
// summary, and the envelopes are not equal.
std::string summary_of(Json model, bool files_differ, bool lines_differ);

std::string diff_text(Json model, bool colours);

}  // namespace waybill::envelope
