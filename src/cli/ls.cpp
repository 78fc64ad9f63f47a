// waybill ls FILE [PATH]: what is in an envelope, part by part. Runs no Python, and
// reads nothing of the buffers.
// Tested by tests/cli/test_ls.py.

#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "waybill/parts.h"
#include "waybill/report.h"

namespace waybill::cli {
namespace {

constexpr std::size_t kDeepest = 64;

void declare(Options& options, Arguments& arguments) {
  options.text("FILE", arguments.file, "An envelope, or - for stdin");
  options.text("PATH", arguments.path, "The part to begin with: ['a'][0].b");
  options.flag("--json", arguments.json, "Write one JSON object");
  options.count("--depth", arguments.listed_depth, "Parts inside parts to show",
                kDeepest);
  options.count("--items", arguments.listed_items, "Parts of each part to show");
  declare_known_keys(options, arguments);
}

struct Listed {
  std::string path;
  Part part;
  std::uint64_t hidden = 0;  // Parts of it that are not shown.
};

// The parts below one, each before those in it.
class Listing {
 public:
  Listing(const VerifiedEnvelope& envelope, const Arguments& arguments)
      : envelope_(envelope), arguments_(arguments) {}

  std::vector<Listed> run(std::string path, std::size_t offset) {
    add(std::move(path), offset, 0);
    return std::move(listed_);
  }

 private:
  // Depth is bounded by an option.
  void add(std::string path, std::size_t offset, std::size_t depth) {
    const std::size_t number = listed_.size();
    listed_.push_back({path, describe_part(envelope_, offset)});
    if (listed_[number].part.array) return;
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
  std::vector<Listed> listed_;
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

// With spaces behind it, or before it, so that it is as wide as its column.
std::string padded(std::string text, std::size_t width, bool is_number = false) {
  if (text.size() < width) {
    text.insert(is_number ? 0 : text.size(), width - text.size(), ' ');
  }
  return text;
}

// Columns as wide as what is in them, but for a path or type that is very long.
void print_text(const std::vector<Listed>& parts) {
  constexpr std::size_t kWidest = 48;
  constexpr std::size_t kSizeWidth = 14;
  std::size_t path_width = 1;
  std::size_t type_width = 1;
  for (const Listed& each : parts) {
    path_width = std::max(path_width, std::min(each.path.size(), kWidest));
    type_width = std::max(type_width, std::min(type_text(each.part).size(), kWidest));
  }
  for (const Listed& each : parts) {
    std::string line = padded(std::to_string(each.part.size), kSizeWidth, true) + "  " +
                       padded(type_text(each.part), type_width) + "  " +
                       padded(each.path.empty() ? "." : each.path, path_width) + "  " +
                       each.part.text;
    if (each.hidden != 0) line += "… " + std::to_string(each.hidden) + " not shown";
    line.erase(line.find_last_not_of(' ') + 1);
    std::puts(printable(line).c_str());
  }
}

nlohmann::ordered_json json_of(const Listed& each) {
  nlohmann::ordered_json json;
  json["path"] = printable(each.path);
  json["type"] = printable(each.part.type);
  json["size"] = each.part.size;
  json["count"] = each.part.count;
  if (each.hidden != 0) json["hidden"] = each.hidden;
  if (!each.part.text.empty()) json["text"] = printable(each.part.text);
  if (each.part.array) {
    json["item"] = printable(each.part.array->item);
    json["shape"] = each.part.array->shape;
    if (each.part.array->buffer) json["buffer"] = *each.part.array->buffer;
  }
  return json;
}

Exit run(const Arguments& arguments) {
  Result<KeyRing> keys = known_keys(arguments);
  if (!keys) return refuse(keys.error(), arguments.json);
  Input bytes;
  if (!read_input(arguments.file, arguments.json, bytes)) return Exit::kUnreadable;
  if (keys->size() != 0) {
    const Result<void> signed_by_one = keys->check(bytes);
    if (!signed_by_one) {
      return refuse(with_extent(signed_by_one.error(), bytes), arguments.json);
    }
  }
  const Result<VerifiedEnvelope> envelope = open_mapped(BytesView(bytes));
  if (!envelope) return refuse(envelope.error(), arguments.json);
  const std::string path = arguments.path.value_or("");
  const Result<std::size_t> offset = find_part(*envelope, path);
  if (!offset) return refuse(offset.error(), arguments.json);
  const std::vector<Listed> parts = Listing(*envelope, arguments).run(path, *offset);
  if (!arguments.json) {
    print_text(parts);
    return Exit::kFine;
  }
  nlohmann::ordered_json json;
  json["ok"] = true;
  json["parts"] = nlohmann::ordered_json::array();
  for (const Listed& each : parts) json["parts"].push_back(json_of(each));
  using Handler = nlohmann::ordered_json::error_handler_t;
  std::puts(json.dump(-1, ' ', false, Handler::replace).c_str());
  return Exit::kFine;
}

}  // namespace

const Command kList = {"ls", "List the parts of an envelope", declare, run};

}  // namespace waybill::cli
