#pragma once

// Steps of paths as text, of a payload: docs/paths.md.

#include <cstddef>
#include <string>
#include <string_view>

#include "format/part_links.h"
#include "format/value_view.h"
#include "report/value_text.h"
#include "waybill/envelope.h"

namespace waybill::envelope {

struct StepText {
  std::string text;
  bool evaluates = true;  // Whether Python evaluates it to the part.
};

class StepWords {
 public:
  // Both must outlive this.
  StepWords(const Envelope& envelope, const ValueNames& names)
      : envelope_(envelope), names_(names) {}

  // `holder`: where the value stands that the link leads from. Cost: by the length of
  // the key, and of what makes the holder.
  StepText step(const Link& link, std::size_t holder) const;

  // What the root is called: a function or class by its name, else "obj".
  StepText root() const;

  // The name that a key is; null for one that is none, or is too long to be shown.
  std::string_view key_name(const Link& link) const;

 private:
  // The value at `offset`, or what is referred to there.
  ValueView follow(std::size_t offset) const { return {envelope_, offset}; }
  std::string text_of(const ValueView& value) const;
  StepText key_text(const Link& link) const;
  std::string shown_type(const ValueView& key) const;
  StepText argument(const Link& link, std::size_t holder) const;
  bool makes_method(std::size_t holder) const;
  bool may_be_descriptor(const Link& link, std::size_t holder) const;
  std::string name_of_function(wire::Reader behind) const;

  const Envelope& envelope_;
  const ValueNames& names_;
};

}  // namespace waybill::envelope
