#pragma once

// A diff as a tree, which is written as it is or laid out as lines, and what fills it.

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
  explicit Side(const Envelope& one) : envelope(one), names(names_of(one)) {}

  const Envelope& envelope;
  const ValueNames names;
};

// The differences of one kind: how many there are, and those that are shown.
class DifferenceList {
 public:
  // Makes an empty list under this key. At most `most` differences are shown.
  DifferenceList(Json model, const char* key, std::size_t most);

  // Counts a difference. Gives it, an object with room for so many keys, if it is
  // shown.
  std::optional<Json> add(std::size_t keys);
  // One that is shown.
  Json entry(std::size_t index) const { return items_[index]; }

 private:
  std::size_t most_;
  std::size_t added_ = 0;
  Json count_, items_;
};

struct CodeChanges {
  // The indices, old and new, of bodies that are told as one that changed.
  std::set<std::pair<std::size_t, std::size_t>> changed;
  // Whether code that is the same comes from other files, or stands in other lines.
  bool files_differ = false;
  bool lines_differ = false;
};

// Which code bodies differ, and in what: compares them by hash, and those with other
// hashes by qualified name, in order.
CodeChanges diff_code(const Side& old_one, const Side& new_one,
                      const DiffOptions& options, DifferenceList& code,
                      DifferenceList& locations);

// Which values of the payloads differ, and where they hang. Functions whose code is
// told as changed are none of them.
void diff_payloads(const Side& old_one, const Side& new_one, const CodeChanges& code,
                   const DiffOptions& options, DifferenceList& payload);

// "differ in: line numbers only". `model` is complete but for the summary, and the
// envelopes are not equal.
std::string summary_of(Json model, bool files_differ, bool lines_differ);

std::string diff_text(Json model, bool colours);

}  // namespace waybill::envelope
