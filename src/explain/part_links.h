#pragma once

// What the containers of a payload hold, as paths see it: the items of a list, the
// attributes in the state of an object, the globals of a function.

#include <cstdint>

#include "explain/part_tree.h"
#include "format/payload_cursor.h"

namespace waybill::envelope {

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
  kBases,  // Of a class.
  kState,  // The attributes of an object's dict, and those of its slots.
};

struct LinkNote {
  Holds holds = Holds::kValues;
  bool is_part = false;
  std::size_t key = 0;      // Where the last key stands.
  std::uint64_t extra = 0;  // Bytes that belong to it and stand elsewhere.
  std::uint64_t cost = 1;   // See TreePart.
};
using LinkCursor = PayloadCursor<LinkNote>;

// Whether the value at hand is a part of its holder's, and no object of its own: lists
// that the grammar asks for, and the dict of an object. Then `holds`: what is in it.
bool is_inner(LinkCursor& cursor, Holds& holds);

// What an object that starts here holds.
Holds holds_of_object(const LinkCursor::Container& container);

// How the value at hand is reached, but for the numbers of cells.
Link link_here(LinkCursor& cursor);

// Whether the object at hand is what makes its holder, or what that is of: its name is
// the holder's type.
bool is_type_here(LinkCursor& cursor);

}  // namespace waybill::envelope
