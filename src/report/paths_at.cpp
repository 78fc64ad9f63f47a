// Tested by tests/report/paths_at_test.cpp.

#include "report/paths_at.h"

#include <algorithm>

#include "format/part_links.h"
#include "report/step_words.h"

namespace waybill::envelope {
namespace {

constexpr std::size_t kMostSteps = 32;  // Of a path that are shown: the last ones.

struct OpenPart : LinkNote {
  Link link;               // How it hangs on what is around.
  std::size_t holder = 0;  // Where the object stands that it belongs to.
};
using PathCursor = PayloadCursor<OpenPart>;

class PathWalk {
 public:
  PathWalk(const Envelope& envelope, const ValueNames& names)
      : words_(envelope, names),
        cursor_(
            wire::Reader(envelope.payload.bytes, Limits{}, envelope.payload.offset)) {}

  std::vector<std::string> run(std::span<const std::size_t> offsets) {
    std::vector<std::string> paths(offsets.size());
    std::size_t at = 0;
    while (at != offsets.size() && cursor_.next()) {
      if (cursor_.event() == CursorEvent::kClose) {
        links_.leave(cursor_);
        continue;
      }
      links_.enter(cursor_);
      if (cursor_.event() == CursorEvent::kOpen) note_open();
      const std::size_t offset = cursor_.token().offset;
      for (; at != offsets.size() && offsets[at] <= offset; ++at) {
        if (offsets[at] == offset) paths[at] = path_here();
      }
    }
    return paths;
  }

 private:
  void note_open() {
    OpenPart& own = cursor_.container().note;
    const OpenPart& around = cursor_.around().note;
    // A namespace or a cell of a function is no object of its own, and has a name.
    const bool is_node = cursor_.container().tag != 0 && !is_object(cursor_.rule());
    if (!own.is_inner || is_node) own.link = links_.link(cursor_);
    own.holder = own.is_inner ? around.holder : cursor_.container().offset;
  }

  // What is around comes first, and what leads to nothing is passed over.
  std::string path_here() {
    const auto open = cursor_.open();
    std::vector<std::string> parts;  // The last one first.
    const bool opens = cursor_.event() == CursorEvent::kOpen;
    if (!opens) {
      add(links_.link(cursor_), cursor_.around().note.holder, parts);
    } else if (const OpenPart& own = cursor_.container().note; own.is_inner) {
      if (own.link.style == Link::Style::kNone)
        parts.emplace_back(name_of_inner(own.holds));
    }
    std::size_t left = open.size();
    for (; left != 0 && parts.size() < kMostSteps; --left) {
      const std::size_t holder = left > 1 ? open[left - 2].note.holder : 0;
      add(open[left - 1].note.link, holder, parts);
    }
    std::string path = left == 0 ? words_.root().text : "…";
    for (std::size_t i = parts.size(); i-- != 0;) path += parts[i];
    return path;
  }

  void add(const Link& link, std::size_t holder, std::vector<std::string>& parts) {
    if (link.style == Link::Style::kNone) return;
    parts.push_back(words_.step(link, holder).text);
  }

  StepWords words_;
  PathCursor cursor_;
  LinkTracker links_;
};

}  // namespace

std::vector<std::string> paths_at(const Envelope& envelope, const ValueNames& names,
                                  std::span<const std::size_t> offsets) {
  return PathWalk(envelope, names).run(offsets);
}

}  // namespace waybill::envelope
