#pragma once

// How the values of a payload hang on what holds them, as paths see it: the items of a
// list, the attributes in the state of an object, the globals of a function. All of it
// follows from the containers that are open, so a walk keeps nothing for it:
//
//   while (cursor.next()) ... link_at(cursor.open(), depth)
//
// report/paths.h makes text of links.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "format/path_steps.h"
#include "format/payload_cursor.h"

namespace waybill::envelope {

// How a part is reached from its holder: steps::spelled(), but that the number of a
// cell counts those that the function brings.
struct Link {
  steps::Style style = steps::Style::kNone;
  std::string_view label = {};  // Static storage.
  std::uint64_t number = 0;
  std::size_t at = 0;  // Where the key stands; of a cell, the function.
};

// What the values in a container are to the part that it belongs to.
enum class Holds : std::uint8_t {
  kValues,      // Of a node: the table of shapes tells.
  kItems,       // Of a list.
  kPairs,       // Of a dict.
  kAttributes,  // By their names.
  kGlobals,     // Of a function, likewise,
  kImports,     //   the modules that its import statements find,
  kCells,       //   the contents of the cells that it brings,
  kClosure,     //   its cells, those too that others bring,
  kFields,      //   and all of these.
  kArguments,   // Of a call.
  kKeywords,
  kDefinitions,  // Of a payload.
  kBases,        // Of a class.
  kState,        // The attributes of an object's dict, and those of its slots.
};

// `around` and what follows it: the containers around, from the inside out; null behind
// the outermost.
Holds holds_of(const OpenContainer& own, const OpenContainer* around);

// Whether a container is a part of its holder's, and no object of its own: lists that
// the grammar asks for, and the dict of an object.
bool is_inner(const OpenContainer& own, const OpenContainer* around);

// How the value that came last in a container is reached.
Link link_in(const OpenContainer& around, const OpenContainer* second,
             const OpenContainer* third);

// What leads to a container that is a part of its holder's; empty if it has no name.
std::string_view name_of_inner(Holds holds);

// The same of what stands in `depth` of the containers that are open, the last one or
// any before it.
template <typename Container>
const OpenContainer* around_at(std::span<const Container> open, std::size_t depth,
                               std::size_t more = 0) {
  return depth <= more ? nullptr : &open[depth - more - 1];
}
template <typename Container>
Holds holds_at(std::span<const Container> open, std::size_t depth) {
  return holds_of(open[depth], around_at(open, depth));
}
template <typename Container>
bool is_inner_at(std::span<const Container> open, std::size_t depth) {
  return is_inner(open[depth], around_at(open, depth));
}
// Of the root: kNone.
template <typename Container>
Link link_at(std::span<const Container> open, std::size_t depth) {
  if (depth == 0) return {};
  return link_in(open[depth - 1], around_at(open, depth, 1), around_at(open, depth, 2));
}
// Where the object stands that it belongs to; 0 of the root.
template <typename Container>
std::size_t holder_at(std::span<const Container> open, std::size_t depth) {
  while (depth > 0 && is_inner_at(open, depth - 1)) --depth;
  return depth == 0 ? 0 : open[depth - 1].offset;
}

}  // namespace waybill::envelope
