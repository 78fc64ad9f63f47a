// Tested by tests/report/paths_at_test.cpp.

#include "report/paths_at.h"

#include "report/part_links.h"
#include "report/step_words.h"

namespace waybill::envelope {
namespace {

constexpr std::size_t kMostSteps = 32;  // Of a path that are shown: the last ones.

class PathWalk {
 public:
  PathWalk(const Envelope& envelope, const ValueNames& names)
      : words_(envelope, names),
        cursor_(reader_at(envelope, envelope.payload.offset)) {}

  std::vector<std::string> run(std::span<const std::size_t> offsets) {
    std::vector<std::string> paths(offsets.size());
    std::size_t at = 0;
    while (at != offsets.size() && cursor_.next()) {
      if (cursor_.event() == CursorEvent::kClose) continue;
      const std::size_t offset = cursor_.token().offset;
      for (; at != offsets.size() && offsets[at] <= offset; ++at) {
        if (offsets[at] == offset) paths[at] = path_here();
      }
    }
    return paths;
  }

 private:
  // What is around comes first, and what leads to nothing is passed over. What is in a
  // definition has a path that begins there.
  std::string path_here() {
    const auto open = cursor_.open();
    std::vector<std::string> parts;  // The last one first.
    std::size_t depth = cursor_.depth();
    bool is_begun = false;
    if (cursor_.event() == CursorEvent::kOpen && has_no_link(depth)) {
      parts.emplace_back(name_of_inner(holds_at(open, depth)));
    } else {
      is_begun = add(depth, parts);
    }
    for (; !is_begun && depth != 0 && parts.size() < kMostSteps; --depth) {
      if (!has_no_link(depth - 1)) is_begun = add(depth - 1, parts);
    }
    std::string path;
    if (!is_begun) path = depth == 0 ? words_.root().text : "…";
    for (std::size_t i = parts.size(); i-- != 0;) path += parts[i];
    return path;
  }

  // Whether a container that is open is what holds it. A namespace or a cell of a
  // function is no object of its own, and has a name.
  bool has_no_link(std::size_t depth) const {
    const auto open = cursor_.open();
    const bool is_node = open[depth].tag != 0 && !is_object(open[depth].rule);
    return !is_node && is_inner_at(open, depth);
  }

  // What leads to what stands at this depth. True if a path begins there.
  bool add(std::size_t depth, std::vector<std::string>& parts) {
    const auto open = cursor_.open();
    if (depth != 0 && holds_at(open, depth - 1) == Holds::kDefinitions) {
      const bool is_open = depth < open.size();
      parts.push_back(
          words_.name_at(is_open ? open[depth].offset : cursor_.token().offset).text);
      return true;
    }
    const Link link = link_at(open, depth);
    if (link.style == steps::Style::kNone) return false;
    parts.push_back(words_.step(link, holder_at(open, depth)).text);
    return false;
  }

  StepWords words_;
  PayloadCursor<> cursor_;
};

}  // namespace

std::vector<std::string> paths_at(const Envelope& envelope, const ValueNames& names,
                                  std::span<const std::size_t> offsets) {
  return PathWalk(envelope, names).run(offsets);
}

}  // namespace waybill::envelope
