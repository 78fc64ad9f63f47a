#pragma once

// How the values of a payload hang on what holds them, as paths see it: the items of a
// list, the attributes in the state of an object, the globals of a function.
//
//   LinkTracker links;
//   while (cursor.next()) {
//     if (cursor.event() == CursorEvent::kClose) {
//       links.leave(cursor);
//     } else {
//       links.enter(cursor);
//       ... links.link(cursor)
//     }
//
// The note of the cursor's containers is a LinkNote, or derives from one.
// report/step_words.h makes text of links.

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "format/payload_cursor.h"

namespace waybill::envelope {

// How a part is reached from its holder.
struct Link {
  enum class Style : std::uint8_t {
    kNone,       // It is what holds it: a list that the grammar asks for.
    kLabel,      // The label as it is: ".start".
    kDunder,     // ".__label__"
    kIndex,      // ".__label__[number]", or "[number]" where there is no label.
    kMarker,     // "<label>": Python has no expression for it.
    kPlace,      // "<label number>", likewise.
    kArgument,   // "<argument number>", or what the callable of the object calls it.
    kKeyword,    // "<argument 'key'>"
    kPair,       // "['key']"
    kAttribute,  // ".key"
    kGlobal,     // ".__globals__['key']"
    kImport,     // "<import 'key'>"
    kCell,       // ".__closure__[number].cell_contents"
  };
  Style style = Style::kNone;
  std::string_view label = {};  // Static storage.
  std::uint64_t number = 0;
  std::size_t key = 0;  // Where the key stands.
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
  kBases,  // Of a class.
  kState,  // The attributes of an object's dict, and those of its slots.
};

struct LinkNote {
  Holds holds = Holds::kValues;
  bool is_inner = false;  // A part of its holder's, and no object of its own.
  std::size_t key = 0;    // Where the last key stands.
};

// A container as links see it.
struct LinkContainer {
  std::uint8_t tag;
  bool is_map;
  bool is_key;
  std::uint64_t index, count, field;
  LinkNote& note;
};
template <typename Container>
LinkContainer seen_as_link(Container& of) {
  return {of.tag, of.is_map, of.is_key(), of.index(), of.count, of.field, of.note};
}

// How the value that came last in a container is reached, but for the numbers of cells.
Link link_in(const LinkContainer& around);

// Whether a container is a part of its holder's, and no object of its own: lists that
// the grammar asks for, and the dict of an object. Notes what it holds.
bool note_inner(Rule rule, const LinkContainer& around, const LinkContainer& own);

// What an object that starts here holds.
Holds holds_of_object(const LinkContainer& container);

// Whether a part of a node is what makes it, or what it is of: its name is the node's
// type.
bool is_type_of(const LinkContainer& around, const Part* part);

// What leads to a container that is a part of its holder's; empty if it has no name.
std::string_view name_of_inner(Holds holds);

class LinkTracker {
 public:
  // To be called for each value, and each container that opens.
  template <typename Cursor>
  void enter(Cursor& cursor) {
    const LinkContainer around = seen_as_link(cursor.around());
    if (around.is_key) around.note.key = cursor.token().offset;
    if (cursor.event() != CursorEvent::kOpen) return;
    const LinkContainer own = seen_as_link(cursor.container());
    note_cell(around, own);
    own.note.holds = holds_of_object(own);
    const bool is_root = cursor.open().size() == 1;
    own.note.is_inner = !is_root && note_inner(cursor.rule(), around, own);
    if (is_function(own)) cells_.emplace_back();
  }

  // Of the value, or the container that was entered: how it is reached from what is
  // around. Of the root: kNone.
  template <typename Cursor>
  Link link(Cursor& cursor) const {
    const bool opens = cursor.event() == CursorEvent::kOpen;
    if (cursor.open().size() == (opens ? 1U : 0U)) return {};
    // A function that opens has its row already, which is not that of what is around.
    return link_of(seen_as_link(cursor.around()),
                   opens && is_function(seen_as_link(cursor.container())) ? 1 : 0);
  }

  // To be called for each container that closes.
  template <typename Cursor>
  void leave(Cursor& cursor) {
    if (is_function(seen_as_link(cursor.container()))) cells_.pop_back();
  }

 private:
  static bool is_function(const LinkContainer& container) {
    return container.tag == static_cast<std::uint8_t>(wire::NodeTag::kFunction);
  }
  // `inner`: how many functions opened since what is around.
  Link link_of(const LinkContainer& around, std::size_t inner) const;
  void note_cell(const LinkContainer& around, const LinkContainer& own);

  // Of each function that is open, the places of the cells that it brings.
  std::vector<std::vector<std::uint32_t>> cells_;
};

}  // namespace waybill::envelope
