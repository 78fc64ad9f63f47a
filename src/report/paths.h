#pragma once

// Where values of a payload are, as paths, and the steps of these: docs/paths.md.

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "format/value_view.h"
#include "report/part_links.h"
#include "report/value_text.h"
#include "waybill/envelope.h"

namespace waybill::envelope {

struct StepText {
  std::string text;
  bool evaluates = true;  // Whether Python evaluates it to the part.
};

class StepFormatter {
 public:
  // Both must outlive this.
  StepFormatter(const Envelope& envelope, const ValueNames& names)
      : envelope_(envelope), names_(names) {}

  // `holder`: where the value stands that the link leads from. Cost: by the length of
  // the key, and of what makes the holder.
  StepText step(const Link& link, std::size_t holder);

  // The place in __closure__ of the cell whose content a kCell leads to; UINT32_MAX if
  // there is none. Cost: once for each function, by the bytes before its fields.
  std::uint64_t place_of_cell(const Link& link);

  // What the value at `offset` is called: a function or class by its name, else "obj".
  StepText name_at(std::size_t offset) const;
  StepText root() const { return name_at(envelope_.payload.offset); }

  // The name that a key is; null for one that is none, or is too long to be shown.
  std::string_view key_name(const Link& link) const;

 private:
  // The value at `offset`, or what is referred to there.
  ValueView follow(std::size_t offset) const { return {envelope_, offset}; }
  std::string text_of(const ValueView& value) const;
  StepText key_text(const Link& link) const;
  std::string shown_type(const ValueView& key) const;
  bool makes_method(std::size_t holder) const;
  bool may_be_descriptor(const Link& link, std::size_t holder) const;
  std::string_view name_of_function(const ValueView& function) const;

  const Envelope& envelope_;
  const ValueNames& names_;
  // Of functions, by offset: the places of the cells that they bring.
  std::map<std::size_t, std::vector<std::uint32_t>> cells_;
};

// The path of the value at each of the offsets, which are in order; empty for an offset
// at which no value begins. Of a path of more than 32 steps the last ones, behind "…".
// Cost: one walk over the payload, up to the last offset.
std::vector<std::string> paths_at(const Envelope& envelope, const ValueNames& names,
                                  std::span<const std::size_t> offsets);

}  // namespace waybill::envelope
