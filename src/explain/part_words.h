#pragma once

// What parts are called: the steps to them, their types, and what tells more.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "explain/code_book.h"
#include "explain/payload_walk.h"
#include "format/value_view.h"
#include "report/node_names.h"
#include "report/step_words.h"
#include "waybill/explanation.h"

namespace waybill::envelope {

class PartWords {
 public:
  // All must outlive this.
  PartWords(const Envelope& envelope, const CodeBook& code,
            const WalkedPayload& walked);

  // Fills in step, variable, evaluates, type and detail. `holder`: what the part is
  // in. Text is bounded, so that parts cannot take much more than the payload.
  void describe(const TreePart& part, const TreePart& holder, ExplainedPart& into);

  // What the attribute is called that the part is.
  std::string_view attribute_name(const TreePart& part) const {
    return steps_.key_name(part.link);
  }

  // Which code the function has that a part is; SIZE_MAX if it is none.
  std::size_t code_of(const TreePart& part) const;

  // Where the class by value stands that a part is, or that it is an object of; 0 if
  // there is none.
  std::size_t class_of(const TreePart& part) const;

 private:
  void set_type(const TreePart& part, const ValueView& value, ExplainedPart& into);
  void set_object(const TreePart& part, const ValueView& value, ExplainedPart& into);

  const Envelope& envelope_;
  const CodeBook& code_;
  ValueNames names_;
  StepWords steps_;
  NodeNames node_names_;  // As types are called.
  // Values that may be looked at to tell what arrays are: what an envelope refers to
  // again and again could be looked at without end.
  std::uint64_t budget_;
};

}  // namespace waybill::envelope
