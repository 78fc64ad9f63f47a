// Tested by tests/cli/test_ls.py and test_salvage.py.

#include "cli/listing.h"

#include <algorithm>
#include <cstdio>
#include <set>

#include "waybill/report.h"

namespace waybill::cli {
namespace {

constexpr std::size_t kMaxListedDepth = 64;

// Lists a part and the parts in it, each before its own parts.
class Listing {
 public:
  Listing(const VerifiedEnvelope& envelope, const Arguments& arguments)
      : envelope_(envelope), arguments_(arguments) {}

  std::vector<ListedPart> list(std::string path, std::size_t offset) {
    add(std::move(path), offset, 0);
    return std::move(listed_);
  }

 private:
  // Recursion is bounded by --depth.
  void add(std::string path, std::size_t offset, std::size_t depth) {
    const std::size_t number = listed_.size();
    listed_.push_back({path, describe_part(envelope_, offset)});
    if (listed_[number].part.array) return;
    // Lists the parts of a shared object once, since it may have any number of paths.
    if (!visited_.insert(listed_[number].part.offset).second) return;
    const std::vector<Step> steps = steps_from(envelope_, offset);
    const std::size_t shown = depth < arguments_.listed_depth
                                  ? std::min(steps.size(), arguments_.listed_items)
                                  : 0;
    listed_[number].hidden = steps.size() - shown;
    for (std::size_t i = 0; i < shown; ++i) {
      add(path + step_text(envelope_, steps[i]), steps[i].offset, depth + 1);
    }
  }

  const VerifiedEnvelope& envelope_;
  const Arguments& arguments_;
  std::vector<ListedPart> listed_;
  std::set<std::size_t> visited_;
};

std::string type_text(const Part& part) {
  if (!part.array) {
    return part.count == 0 ? part.type
                           : part.type + " of " + std::to_string(part.count);
  }
  std::string shape;
  for (const std::uint64_t extent : part.array->shape) {
    shape += (shape.empty() ? "" : ", ") + std::to_string(extent);
  }
  return part.type + " " + part.array->item + " (" + shape + ")";
}

// Pads the text to the width of its column: on the left if it is a number.
std::string padded(std::string text, std::size_t width, bool is_number = false) {
  if (text.size() < width) {
    text.insert(is_number ? 0 : text.size(), width - text.size(), ' ');
  }
  return text;
}

}  // namespace

void declare_listing(Options& options, Arguments& arguments) {
  options.add_text("PATH", arguments.path, "The path of the part to list: ['a'][0].b");
  options.add_count("--depth N", arguments.listed_depth, "Levels of parts to show",
                    kMaxListedDepth);
  options.add_count("--items N", arguments.listed_items, "Parts of each part to show");
}

Result<std::vector<ListedPart>> list_parts(const VerifiedEnvelope& envelope,
                                           const Arguments& arguments) {
  const std::string path = arguments.path.value_or("");
  const Result<std::size_t> offset = find_part(envelope, path);
  if (!offset) return tl::unexpected(offset.error());
  return Listing(envelope, arguments).list(path, *offset);
}

// A column is as wide as its texts, but very long paths and types exceed it.
void print_parts(const std::vector<ListedPart>& parts,
                 const std::vector<std::string>& states) {
  constexpr std::size_t kWidest = 48;
  constexpr std::size_t kSizeWidth = 14;
  std::size_t path_width = 1;
  std::size_t type_width = 1;
  for (const ListedPart& each : parts) {
    path_width = std::max(path_width, std::min(each.path.size(), kWidest));
    type_width = std::max(type_width, std::min(type_text(each.part).size(), kWidest));
  }
  constexpr std::size_t kStateWidth = 7;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const ListedPart& each = parts[i];
    std::string line = (states.empty() ? "" : padded(states[i], kStateWidth)) +
                       padded(std::to_string(each.part.size), kSizeWidth, true) + "  " +
                       padded(type_text(each.part), type_width) + "  " +
                       padded(each.path.empty() ? "." : each.path, path_width) + "  " +
                       each.part.text;
    if (each.hidden != 0) line += "… " + std::to_string(each.hidden) + " not shown";
    line.erase(line.find_last_not_of(' ') + 1);
    std::puts(printable(line).c_str());
  }
}

}  // namespace waybill::cli
