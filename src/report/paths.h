#pragma once

// Paths to the values of a payload, and their steps: docs/paths.md.
//
// A link is the step from an object to a value that it holds: an item of a list,
// an attribute in the state of an object, a global of a function. Links follow from the
// open containers alone, so a walk stores nothing for them:
//
//   while (cursor.next()) ... link_at(cursor.open(), depth)

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "format/path_steps.h"
#include "format/payload_cursor.h"
#include "format/value_view.h"
#include "report/value_text.h"
#include "waybill/envelope.h"

namespace waybill::envelope {

// The step from a holder to a part, in the form that steps::spelled() takes, except
// that the number of a cell counts only the cells that the function itself introduces:
// see StepFormatter::closure_index_of().
struct Link {
  steps::Style style = steps::Style::kNone;
  std::string_view label = {};  // Static storage.
  std::uint64_t number = 0;
  std::size_t at = 0;  // The offset of the key; for a cell, of the function.
};

// The role of the values in a container for the part that owns the container.
enum class ContainerRole : std::uint8_t {
  kValues,       // Parts of a node, as the table of shapes names them.
  kItems,        // Items of a list.
  kPairs,        // Keys and values of a dict.
  kAttributes,   // Attributes by name.
  kGlobals,      // Globals of a function, by name.
  kImports,      // Modules that a function's import statements find.
  kCells,        // Contents of the cells that a function introduces.
  kClosure,      // All cells of a function.
  kFields,       // Other fields of a function.
  kArguments,    // Positional arguments of a call.
  kKeywords,     // Keyword arguments of a call.
  kDefinitions,  // Definitions of a payload.
  kBases,        // Bases of a class.
  kState,        // Two dicts: the object's __dict__ and its slots.
};

// `own` is the container; `around`, `second` and `third` are the enclosing containers
// from the inside out, null beyond the outermost one.
ContainerRole role_of(const OpenContainer& own, const OpenContainer* around);

// Whether a container is not an object itself: a list or map that the grammar
// prescribes, or the dict of an object. Its values belong to its holder.
bool is_implicit(const OpenContainer& own, const OpenContainer* around);

// The link to the latest value of a container.
Link link_in(const OpenContainer& around, const OpenContainer* second,
             const OpenContainer* third);

// The step to an implicit container, such as ".__globals__"; empty if it has no name.
std::string_view step_to_implicit(ContainerRole role);

// The same queries on the stack of a cursor: `depth` is the number of containers around
// the value in question.
template <typename Container>
const OpenContainer* around_at(std::span<const Container> open, std::size_t depth,
                               std::size_t more = 0) {
  return depth <= more ? nullptr : &open[depth - more - 1];
}
template <typename Container>
ContainerRole role_at(std::span<const Container> open, std::size_t depth) {
  return role_of(open[depth], around_at(open, depth));
}
template <typename Container>
bool is_implicit_at(std::span<const Container> open, std::size_t depth) {
  return is_implicit(open[depth], around_at(open, depth));
}
// The root has the style kNone.
template <typename Container>
Link link_at(std::span<const Container> open, std::size_t depth) {
  if (depth == 0) return {};
  return link_in(open[depth - 1], around_at(open, depth, 1), around_at(open, depth, 2));
}
// The offset of the object that holds the value; 0 for the root.
template <typename Container>
std::size_t holder_at(std::span<const Container> open, std::size_t depth) {
  while (depth > 0 && is_implicit_at(open, depth - 1)) --depth;
  return depth == 0 ? 0 : open[depth - 1].offset;
}

struct StepText {
  std::string text;
  bool evaluates = true;  // Whether Python evaluates it to the part.
};

class StepFormatter {
 public:
  // Both must outlive this.
  StepFormatter(const Envelope& envelope, const ValueNames& names)
      : envelope_(envelope), names_(names) {}

  // `holder`: the offset of the value that the link starts from. Cost: linear in the
  // key and in the parts of the holder before its arguments.
  StepText step(const Link& link, std::size_t holder);

  // The index in __closure__ of the cell that a kCell link leads to; UINT32_MAX if
  // there is none. Cost: once per function, linear in the bytes before its fields.
  std::uint64_t closure_index_of(const Link& link);

  // The name of the function or class at `offset`, else "obj".
  StepText name_at(std::size_t offset) const;
  StepText root() const { return name_at(envelope_.payload.offset); }

  // The key of a link if it is text; empty if it is not, or is too long to be shown.
  std::string_view key_name(const Link& link) const;

 private:
  // The value at `offset`, or the target of the reference there.
  ValueView follow(std::size_t offset) const { return {envelope_, offset}; }
  std::string text_of(const ValueView& value) const;
  StepText key_text(const Link& link) const;
  std::string shown_type(const ValueView& key) const;
  bool is_method_call(std::size_t holder) const;
  bool can_be_descriptor(const Link& link, std::size_t holder) const;
  std::string_view name_of_function(const ValueView& function) const;

  const Envelope& envelope_;
  const ValueNames& names_;
  // Maps offsets of functions to the __closure__ indices of the cells they introduce.
  std::map<std::size_t, std::vector<std::uint32_t>> cells_;
};

// The path of the value at each offset. `offsets` is sorted; an offset at which no
// value begins has an empty path. A path of more than 32 steps is cut to the last ones,
// after "…". Cost: one walk over the payload, up to the last offset.
std::vector<std::string> paths_at(const Envelope& envelope, const ValueNames& names,
                                  std::span<const std::size_t> offsets);

}  // namespace waybill::envelope
